//! `POST /device_authorization` (RFC 8628 §3.1).

use super::client_request::{ClientRequest, NO_STORE};
use super::token_errors::{DeviceErrorResponses, TokenFailure};
use crate::app::App;
use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use issuer::grants::{DeviceAuthorizationRequest, DeviceAuthorizationResponse};
use web::Context;

/// Begin the authorization of a device
///
/// For a device without a browser or a keyboard (RFC 8628). It displays the `user_code` and the
/// `verification_uri`, and its user decides in a browser elsewhere. Meanwhile the client asks `/token` with
/// the `device_code`, at most once per `interval`. The client authenticates as at `/token`.
#[utoipa::path(
    post, path = "/device_authorization", operation_id = "authorizeDevice", tag = "OAuth",
    request_body(content(
        (DeviceAuthorizationRequest = "application/x-www-form-urlencoded"),
        (DeviceAuthorizationRequest = "application/json"),
    )),
    security((), ("client" = [])),
    responses(
        (status = 200, description = "The codes.", body = DeviceAuthorizationResponse, headers(("Cache-Control"))),
        DeviceErrorResponses,
    )
)]
pub(crate) async fn authorize(
    State(app): State<App>,
    Context(context): Context,
    ClientRequest { client, request, .. }: ClientRequest<DeviceAuthorizationRequest>,
) -> Result<impl IntoResponse, TokenFailure> {
    let codes = app.grants.authorize_device(&client, &request, &context).await?;
    Ok((NO_STORE, Json(codes)))
}
