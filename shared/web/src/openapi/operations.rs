//! Iteration over the operations of a document.

use axum::http::Method;
use utoipa::openapi::Paths;
use utoipa::openapi::path::Operation;

/// Returns the GET, POST, PUT, PATCH and DELETE operations of an OpenAPI document, each with its path and its
/// method.
pub(crate) fn operations(paths: &Paths) -> impl Iterator<Item = (&str, Method, &Operation)> {
    paths.paths.iter().flat_map(|(path, item)| {
        let operations = [
            (Method::GET, &item.get),
            (Method::POST, &item.post),
            (Method::PUT, &item.put),
            (Method::PATCH, &item.patch),
            (Method::DELETE, &item.delete),
        ];
        let present = operations.into_iter();
        present.filter_map(move |(method, operation)| Some((path.as_str(), method, operation.as_ref()?)))
    })
}

/// Returns the GET, POST, PUT, PATCH and DELETE operations of an OpenAPI document, each paired with `true` if
/// its method is safe (RFC 9110 §9.2.1).
pub(crate) fn operations_mut(paths: &mut Paths) -> impl Iterator<Item = (bool, &mut Operation)> {
    let items = paths.paths.values_mut();
    items
        .flat_map(|item| {
            [
                (true, &mut item.get),
                (false, &mut item.post),
                (false, &mut item.put),
                (false, &mut item.patch),
                (false, &mut item.delete),
            ]
        })
        .filter_map(|(is_safe, operation)| Some((is_safe, operation.as_mut()?)))
}
