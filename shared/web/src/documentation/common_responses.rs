//! The parts that all operations share: common headers and errors, closed request bodies and explicit
//! `security`.

use crate::error::body::{ErrorBody, ProblemDetails};
use crate::error::{Code, FieldError};
use crate::openapi::error_responses::{ErrorKey, error_responses};
use crate::openapi::headers::{self, CORRELATION_ID};
use crate::openapi::operations::operations_mut;
use std::collections::BTreeMap;
use utoipa::openapi::path::{Operation, Parameter};
use utoipa::openapi::schema::{AdditionalProperties, AnyOfBuilder, Components, Schema, SchemaType, Type};
use utoipa::openapi::{Content, ContentBuilder, OpenApi, Ref, RefOr, Response};
use utoipa::{PartialSchema as _, ToSchema};

/// The media type of pages.
const HTML: &str = "text/html";
/// The errors with which any operation may answer.
const COMMON_ERRORS: [Code; 3] = [
    Code::InternalError,
    Code::DependencyUnavailable,
    Code::StorageFull,
];

/// Completes every operation of the document, and adds the components that the operations refer to.
pub(super) fn complete_operations(document: &mut OpenApi) {
    let components = document.components.get_or_insert_default();
    components.schemas.insert("Error".to_owned(), ErrorBody::schema());
    components
        .schemas
        .insert("Problem".to_owned(), ProblemDetails::schema());
    components
        .schemas
        .insert(FieldError::name().into_owned(), FieldError::schema());
    for (is_safe, operation) in operations_mut(&mut document.paths) {
        // An empty list documents that anyone may call the operation.
        operation.security.get_or_insert_default();
        close_body(operation, components);
        operation.parameters.iter_mut().flatten().for_each(remove_null);
        add_responses(operation, is_safe, components);
    }
}

/// Sets `additionalProperties: false` in the schema of a JSON body, because the parsers reject unknown
/// members. Keeps the value that a schema already has. Also removes the `null` alternative that utoipa
/// derives from `Option` for an optional body.
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

/// Removes the `null` alternative that utoipa derives from `Option` for an optional parameter.
fn remove_null(parameter: &mut RefOr<Parameter>) {
    if let RefOr::T(parameter) = parameter {
        parameter.schema = parameter.schema.take().and_then(without_null);
    }
}

/// Returns a schema without its `null` alternative; `None` if nothing remains. Of several other alternatives,
/// only the first is kept: utoipa generates only one for an `Option`.
fn without_null(schema: RefOr<Schema>) -> Option<RefOr<Schema>> {
    match schema {
        RefOr::T(Schema::OneOf(one_of)) => one_of.items.into_iter().find(|item| !is_null(item)),
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

/// Replaces the responses of an operation by one response per status code, with the headers and errors that
/// every operation has.
fn add_responses(operation: &mut Operation, is_safe: bool, components: &mut Components) {
    let mut responses = OperationResponses::default();
    let declared = std::mem::take(&mut operation.responses.responses);
    for (key, response) in declared.into_iter().chain(error_responses(&COMMON_ERRORS)) {
        let error = ErrorKey::parse(&key);
        let mut response = match (error, response) {
            (Some(error), _) => error.response(),
            (None, RefOr::T(own)) => own,
            (None, RefOr::Ref(_)) => continue,
        };
        describe_headers(&mut response, components);
        match error {
            Some(error) => responses.errors.insert(error, response),
            None => responses.own.insert(key, response),
        };
    }
    if is_safe {
        // Safe methods are not checked for forgery.
        responses.remove(Code::CsrfMismatch);
    }
    if responses
        .own
        .values()
        .any(|response| response.content.contains_key(HTML))
    {
        responses.add_pages();
    }
    operation.responses.responses = responses.into_documented(components);
}

/// The responses of one operation: its own by status code, and its errors by status and error code.
#[derive(Default)]
struct OperationResponses {
    own: BTreeMap<String, Response>,
    errors: BTreeMap<ErrorKey, Response>,
    /// Whether a browser gets a page for each error.
    have_pages: bool,
}

impl OperationResponses {
    fn remove(&mut self, code: Code) {
        self.errors.retain(|key, _| key.code != code);
    }

    /// Documents that a browser gets a page for each error.
    fn add_pages(&mut self) {
        self.have_pages = true;
        for response in self.errors.values_mut() {
            let example = format!("<!doctype html>… {} …", response.description);
            let page = ContentBuilder::new()
                .schema(Some(String::schema()))
                .example(Some(example.into()))
                .build();
            response.content.insert(HTML.to_owned(), page.into());
        }
    }

    /// Merges the errors of each status code into the operation's own response of that status. If it has
    /// none, merges them into a component that operations with the same errors share.
    fn into_documented(self, components: &mut Components) -> BTreeMap<String, RefOr<Response>> {
        let mut by_status = BTreeMap::<u16, Vec<(ErrorKey, Response)>>::new();
        for (key, response) in self.errors {
            by_status
                .entry(key.status.as_u16())
                .or_default()
                .push((key, response));
        }
        let mut own = self.own;
        let mut documented = BTreeMap::new();
        for (status, errors) in by_status {
            let status = status.to_string();
            let names: Vec<_> = errors.iter().map(|(key, _)| key.code.name()).collect();
            let page = if self.have_pages { ".page" } else { "" };
            let component = format!("{status}.{}{page}", names.join("."));
            let own_response = own.remove(&status);
            let is_shared = own_response.is_none();
            let merged = own_response
                .into_iter()
                .chain(errors.into_iter().map(|(_, response)| response))
                .reduce(merge);
            let Some(merged) = merged else { continue };
            if is_shared {
                let reference = Ref::new(format!("#/components/responses/{component}"));
                components.responses.insert(component, merged.into());
                documented.insert(status, reference.into());
            } else {
                documented.insert(status, merged.into());
            }
        }
        documented.extend(
            own.into_iter()
                .map(|(status, response)| (status, response.into())),
        );
        documented
    }
}

/// Adds the header with the correlation id to a response, replaces the response's headers by references, and
/// adds the components to which these refer. Keeps a header that the module [`headers`] does not describe.
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

/// Merges two responses of the same status code.
fn merge(mut left: Response, right: Response) -> Response {
    left.description = format!("{}\n\n{}", left.description, right.description);
    left.headers.extend(right.headers);
    for (media_type, content) in right.content {
        match (left.content.get_mut(&media_type), content) {
            (Some(RefOr::T(left)), RefOr::T(right)) => merge_content(left, right),
            (_, content) => {
                left.content.insert(media_type, content);
            }
        }
    }
    left
}

fn merge_content(left: &mut Content, right: Content) {
    if left.schema != right.schema {
        let schemas = [left.schema.take(), right.schema].into_iter().flatten();
        let any_of = schemas.fold(AnyOfBuilder::new(), |any_of, schema| any_of.item(schema));
        left.schema = Some(Schema::AnyOf(any_of.build()).into());
    }
    left.examples.extend(right.examples);
}
