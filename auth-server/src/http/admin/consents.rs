//! `/admin/consents`.

mod query;

use super::{Administrator, ListRequest, PAGE_SIZE, Page};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use foundation::ids::TextId;
use identity::Identity;
use identity::grants::consents;
use identity::grants::consents::Consent;
use query::ConsentsQuery;
use web::{Error, PathId};

/// List the consents
///
/// Returns the apps to which users have given access, by user and app, 20 per page. Unknown and invalid query
/// parameters are ignored.
#[utoipa::path(
    get, path = "/admin/consents", operation_id = "listConsents", tag = "Administration", params(ConsentsQuery),
    security(("session" = []), ("oauth2" = ["admin"])),
    responses((status = 200, description = "A page of consents.", body = Page<Consent>), Administrator)
)]
pub(crate) async fn list(
    _: Administrator,
    State(identity): State<Identity>,
    request: ListRequest<ConsentsQuery>,
) -> Result<Json<Page<Consent>>, Error> {
    let query = &request.query;
    let items = consents::page(&identity.db, &query.filter(), query.after(), PAGE_SIZE).await?;
    Ok(request.page(items, query::cursor))
}

/// Revoke a consent
///
/// Revokes the tokens of the app for this user at once. The app must ask for consent again.
#[utoipa::path(
    delete, path = "/admin/consents/{id}", operation_id = "revokeConsent", tag = "Administration",
    params(("id" = String, Path, description = "The id of the consent.")),
    security(("session" = [], "csrf" = []), ("oauth2" = ["admin"])),
    responses((status = 204, description = "The consent is revoked."), Administrator, PathId)
)]
pub(crate) async fn revoke(
    Administrator(context): Administrator,
    id: PathId<TextId>,
    State(identity): State<Identity>,
) -> Result<StatusCode, Error> {
    let (db, revocations, id) = (&identity.db, &identity.revocations, id.or_not_found()?);
    match consents::revoke_by_id(db, revocations, id.as_ref(), &context).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Error::not_found()),
    }
}
