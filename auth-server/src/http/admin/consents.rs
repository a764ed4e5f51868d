//! `/admin/consents`.

use super::Administrator;
use crate::http::documentation::{AdministratorErrors, SessionErrors};
use crate::paths;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use foundation::ids::TextId;
use foundation::list_query::PageRequest;
use identity::Identity;
use identity::accounts::administration;
use identity::consents::list::{self, Consent, ListQuery, Position};
use std::sync::Arc;
use web::{Envelope, Error, PathId, Policy, list_response};

/// List the consents
///
/// Returns the apps to which users have given access, by user and app, 20 per page. Unknown and invalid query
/// parameters are ignored. A browser that opens the address gets a page in place of JSON, or is sent to the
/// sign-in page.
#[utoipa::path(
    get, path = paths::ADMIN_CONSENTS, operation_id = "listConsents", tag = "Administration",
    params(ListQuery, PageRequest<Position>),
    security(("session" = []), ("oauth2" = ["admin"])),
    responses(
        (status = 200, description = "A page of consents.", headers(("Link")),
         content((Envelope<Consent, Position> = "application/json"), (String = "text/html"))),
        (status = 303, description = "A browser without a session is sent to the sign-in page.", headers(("Location"))),
        Administrator, SessionErrors, AdministratorErrors,
    )
)]
pub(crate) async fn list(
    _: Administrator,
    State(identity): State<Identity>,
    State(policy): State<Arc<Policy>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Error> {
    let query = ListQuery::parse(query.as_deref().unwrap_or_default());
    let page = list::page(&identity.db, &query).await?;
    let url = policy.url(paths::ADMIN_CONSENTS);
    Ok(list_response(page, &query.page, &url))
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
    let id = id.or_not_found()?;
    let (db, revocations) = (&identity.db, &identity.revocations);
    administration::revoke_consent(db, revocations, &identity.events, id.as_ref(), &context).await?;
    Ok(StatusCode::NO_CONTENT)
}
