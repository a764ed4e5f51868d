//! `GET /admin`.

use super::Administrator;
use crate::http::documentation::{AdministratorErrors, SessionErrors};
use crate::paths;
use audit::figures::WindowQuery;
use axum::Json;
use axum::extract::{RawQuery, State};
use identity::Identity;
use issuer::figures::{self, Figures};
use web::Error;

/// Read the figures
///
/// Returns what all processes counted in the last hour, day or week, by periods of a minute, ten minutes or
/// an hour. A minute is counted when it has ended. Unknown and invalid query parameters are ignored. A
/// browser that opens the address gets a page in place of JSON, or is sent to the sign-in page.
#[utoipa::path(
    get, path = paths::ADMIN, operation_id = "readFigures", tag = "Administration", params(WindowQuery),
    security(("session" = []), ("oauth2" = ["admin"])),
    responses(
        (status = 200, description = "The figures.", content((Figures = "application/json"), (String = "text/html"))),
        (status = 303, description = "A browser without a session is sent to the sign-in page.", headers(("Location"))),
        Administrator, SessionErrors, AdministratorErrors,
    )
)]
pub(crate) async fn read(
    Administrator(context): Administrator,
    State(identity): State<Identity>,
    RawQuery(query): RawQuery,
) -> Result<Json<Figures>, Error> {
    let query = WindowQuery::parse(query.as_deref().unwrap_or_default());
    let figures = figures::read(&identity.db, query.window, context.now).await?;
    Ok(Json(figures))
}
