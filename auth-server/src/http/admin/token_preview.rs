//! `GET /admin/token-preview`.

use super::Administrator;
use crate::http::documentation::{AdministratorErrors, SessionErrors};
use crate::http::extract::PageQuery;
use crate::http::forms::TokenPreviewQuery;
use crate::paths;
use axum::Json;
use axum::extract::State;
use issuer::grants::{Grants, TokenPreview};
use std::sync::Arc;
use web::Error;

/// Preview the tokens of an app
///
/// Returns the claims that the app would get if the user signed in now and gave it access, or the reason why
/// it would get no tokens. Nothing is signed or issued. A browser that opens the address gets a page in place
/// of JSON, or is sent to the sign-in page.
#[utoipa::path(
    get, path = paths::ADMIN_TOKEN_PREVIEW, operation_id = "previewTokens", tag = "Administration", params(TokenPreviewQuery),
    security(("session" = []), ("oauth2" = ["admin"])),
    responses(
        (status = 200, description = "The claims, or the reason why there are none.",
         content((TokenPreview = "application/json"), (String = "text/html"))),
        (status = 303, description = "A browser without a session is sent to the sign-in page.", headers(("Location"))),
        Administrator, SessionErrors, AdministratorErrors,
    )
)]
pub(crate) async fn read(
    Administrator(context): Administrator,
    PageQuery(query): PageQuery<TokenPreviewQuery>,
    State(grants): State<Arc<Grants>>,
) -> Result<Json<TokenPreview>, Error> {
    let preview = grants.previewer().preview(query.request(), context.now).await?;
    Ok(Json(preview))
}
