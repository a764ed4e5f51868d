//! What all operations have in common: headers, errors, closed bodies, a word on security.

use crate::error::body::{Body, Problem};
use crate::error::{Code, FieldError};
use crate::openapi::error_responses;
use crate::openapi::headers;
use crate::openapi::headers::CORRELATION_ID;
use std::collections::BTreeMap;
use utoipa::openapi::path::{Operation, Parameter, PathItem};
use utoipa::openapi::schema::{AdditionalProperties, AnyOfBuilder, Components, Schema, SchemaType, Type};
use utoipa::openapi::{Content, OpenApi, Ref, RefOr, Response};
use utoipa::{PartialSchema as _, ToSchema};

/// What any operation may answer.
const ANYWHERE: [Code; 2] = [Code::InternalError, Code::DependencyUnavailable];
/// The operations that no limit counts.
const UNLIMITED: [&str; 5] = [
    "livez",
    "readyz",
    "readKeys",
    "readIssuerMetadata",
    "readResourceMetadata",
];

/// Completes every operation of a document, and adds the components that they refer to.
pub(crate) fn add(document: &mut OpenApi) {
    let components = document.components.get_or_insert_default();
    components.schemas.insert("Error".to_owned(), Body::schema());
    components.schemas.insert("Problem".to_owned(), Problem::schema());
    components
        .schemas
        .insert(FieldError::name().into_owned(), FieldError::schema());
    for item in document.paths.paths.values_mut() {
        for (is_safe, operation) in operations(item) {
            operation.security.get_or_insert_default();
            close_body(operation, components);
            operation.parameters.iter_mut().flatten().for_each(never_null);
            complete_responses(operation, is_safe, components);
        }
    }
}

/// The operations of a path, and whether each changes nothing.
fn operations(item: &mut PathItem) -> impl Iterator<Item = (bool, &mut Operation)> {
    let all = [
        (true, &mut item.get),
        (false, &mut item.post),
        (false, &mut item.put),
        (false, &mut item.patch),
        (false, &mut item.delete),
    ];
    all.into_iter()
        .filter_map(|(is_safe, operation)| Some((is_safe, operation.as_mut()?)))
}

/// A body of JSON has the members that are named and no others, unless its schema says otherwise: so do
/// the parsers. One that may be absent is an `Option` to the code too.
fn close_body(operation: &mut Operation, components: &mut Components) {
    let Some(RefOr::T(body)) = &mut operation.request_body else {
        return;
    };
    for content in body.content.values_mut() {
        let RefOr::T(content) = content else { continue };
        content.schema = content.schema.take().and_then(without_null);
        if let Some(RefOr::Ref(reference)) = &content.schema
            && let Some(name) = reference.ref_location.rsplit('/').next()
            && let Some(RefOr::T(Schema::Object(object))) = components.schemas.get_mut(name)
            && object.additional_properties.is_none()
        {
            object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
        }
    }
}

/// A parameter that may be absent is an `Option` to the code, but none is ever null.
fn never_null(parameter: &mut RefOr<Parameter>) {
    if let RefOr::T(parameter) = parameter {
        parameter.schema = parameter.schema.take().and_then(without_null);
    }
}

fn without_null(schema: RefOr<Schema>) -> Option<RefOr<Schema>> {
    match schema {
        RefOr::T(Schema::OneOf(either)) => either.items.into_iter().find(|item| !is_null(item)),
        RefOr::T(Schema::Object(mut object)) => {
            if let SchemaType::Array(types) = &mut object.schema_type {
                types.retain(|kind| *kind != Type::Null);
            }
            Some(object.into())
        }
        other => Some(other),
    }
}

fn is_null(schema: &RefOr<Schema>) -> bool {
    matches!(schema, RefOr::T(Schema::Object(object)) if object.schema_type == SchemaType::Type(Type::Null))
}

fn complete_responses(operation: &mut Operation, is_safe: bool, components: &mut Components) {
    let given = std::mem::take(&mut operation.responses.responses);
    let (mut own, mut refused) = (BTreeMap::new(), BTreeMap::<_, Vec<_>>::new());
    let id = operation.operation_id.as_deref();
    let limited: &[Code] = match id.is_some_and(|id| UNLIMITED.contains(&id)) {
        true => &[],
        false => &[Code::RateLimited],
    };
    let common = error_responses(&ANYWHERE)
        .into_iter()
        .chain(error_responses(limited));
    for (key, response) in given.into_iter().chain(common) {
        let RefOr::T(mut response) = response else {
            continue;
        };
        describe_headers(&mut response, components);
        match key.split_once(' ') {
            // What changes nothing is no target of forgery.
            Some((_, "csrf_mismatch")) if is_safe => {}
            Some((status, code)) => {
                let refusals = refused.entry(status.to_owned()).or_default();
                refusals.push((code.to_owned(), response));
            }
            None => {
                own.insert(key, response);
            }
        }
    }
    for (status, refusals) in refused {
        let names: Vec<_> = refusals.iter().map(|(code, _)| code.as_str()).collect();
        let name = format!("{status}.{}", names.join("."));
        let joined = refusals.into_iter().map(|(_, response)| response).reduce(join);
        match (own.remove(&status), joined) {
            (Some(own_response), Some(joined)) => {
                own.insert(status, join(own_response, joined));
            }
            (None, Some(joined)) => {
                let reference = Ref::new(format!("#/components/responses/{name}"));
                components.responses.insert(name, joined.into());
                operation.responses.responses.insert(status, reference.into());
            }
            (_, None) => {}
        }
    }
    let own = own
        .into_iter()
        .map(|(status, response)| (status, response.into()));
    operation.responses.responses.extend(own);
}

/// Refers to what is said of headers in one place, and adds the header of every response.
fn describe_headers(response: &mut Response, components: &mut Components) {
    let named = response.headers.keys().cloned();
    let names: Vec<_> = named.chain([CORRELATION_ID.to_owned()]).collect();
    for name in names {
        if let Some(header) = headers::component(&name) {
            response.headers.insert(name.clone(), headers::reference(&name));
            components.headers.insert(name, header);
        }
    }
}

/// One response of two that have the same status.
fn join(mut left: Response, right: Response) -> Response {
    left.description = format!("{}\n\n{}", left.description, right.description);
    left.headers.extend(right.headers);
    for (media_type, content) in right.content {
        match (left.content.get_mut(&media_type), content) {
            (Some(RefOr::T(left)), RefOr::T(right)) => join_content(left, right),
            (_, content) => {
                left.content.insert(media_type, content);
            }
        }
    }
    left
}

fn join_content(left: &mut Content, right: Content) {
    if left.schema != right.schema {
        let schemas = [left.schema.take(), right.schema].into_iter().flatten();
        let either = schemas.fold(AnyOfBuilder::new(), |either, schema| either.item(schema));
        left.schema = Some(Schema::AnyOf(either.build()).into());
    }
    left.examples.extend(right.examples);
}
