//! The errors of the registration endpoint. Those of the metadata have the form of RFC 7591 §3.2.2, the
//! others that of the API.

use super::super::client_request::NO_STORE;
use super::super::token_errors::{Body, add_body};
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use foundation::context::RequestContext;
use issuer::clients::MetadataError;
use issuer::registrations::Error as RegistrationError;
use std::collections::BTreeMap;
use utoipa::openapi::{ContentBuilder, Header, RefOr, ResponseBuilder};
use utoipa::{IntoResponses, PartialSchema as _};
use web::{Code, Error, bearer};

/// The error responses to metadata in the OpenAPI document.
pub(super) struct MetadataErrors;

/// Returns the response to a registration, or a change of one, that failed.
pub(super) fn respond(error: RegistrationError, context: &RequestContext) -> Response {
    let error = match error {
        RegistrationError::Metadata(error) => error,
        other => return error_response(other).into_response(),
    };
    let body = Body {
        error: code(&error),
        error_description: &error.to_string(),
        correlation_id: &context.trace_id,
    };
    (StatusCode::BAD_REQUEST, NO_STORE, Json(body)).into_response()
}

/// Returns the response of the API's form for an error.
pub(super) fn error_response(error: RegistrationError) -> Error {
    match error {
        RegistrationError::InvalidToken => bearer::invalid_token(format!("Nothing was done: {error}.")),
        RegistrationError::Disabled => Error::new(
            Code::Forbidden,
            "An administrator has disabled this client. Its registration cannot be read or changed.",
        ),
        RegistrationError::Limited { retry_after, .. } => Error::new(
            Code::RateLimited,
            format!("The client was not registered: {error}."),
        )
        .retry_after(retry_after),
        RegistrationError::StoreUnavailable(error) => error.into(),
        RegistrationError::Database(error) => error.into(),
        RegistrationError::Metadata(error) => {
            Error::new(Code::ValidationFailed, error.to_string()).status(StatusCode::BAD_REQUEST)
        }
    }
}

/// Returns the error code of RFC 7591 §3.2.2.
const fn code(error: &MetadataError) -> &'static str {
    match error {
        MetadataError::InvalidRedirectUri(_) => "invalid_redirect_uri",
        MetadataError::Invalid(_) => "invalid_client_metadata",
        MetadataError::UnapprovedStatement => "unapproved_software_statement",
    }
}

impl IntoResponses for MetadataErrors {
    fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        let content = ContentBuilder::new().schema(Some(Body::schema())).build();
        let mut response = ResponseBuilder::new()
            .description("The metadata are not acceptable (RFC 7591 §3.2.2).")
            .header("Cache-Control", Header::default())
            .content("application/json", content)
            .build();
        let examples = [
            MetadataError::InvalidRedirectUri("a client has 1 to 20 redirect URIs".to_owned()),
            MetadataError::Invalid("application_type must be web or native".to_owned()),
            MetadataError::UnapprovedStatement,
        ];
        for error in examples {
            let body = Body {
                error: code(&error),
                error_description: &error.to_string(),
                correlation_id: "4bf92f3577b34da6a3ce929d0e0e4736",
            };
            add_body(&body, &mut response);
        }
        [("400".to_owned(), response.into())].into()
    }
}
