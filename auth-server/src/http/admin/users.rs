//! `/admin/users`.

mod body;

use super::{Administrator, secret_response};
use crate::http::documentation::{AdministratorErrors, SessionErrors};
use crate::paths;
use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use body::{PasswordSetting, UserChanges, UserCreation};
use foundation::ids::Id;
use foundation::list_query::PageRequest;
use identity::Identity;
use identity::accounts::administration::{self, AccountWithPassword, find_to_change};
use identity::users::account::{self, Account};
use identity::users::list::{self, ListQuery};
use std::sync::Arc;
use web::openapi::error_responses::code;
use web::{Authorized, Envelope, Error, JsonBody, PathId, Policy, list_response};

/// List the users
///
/// Returns the accounts by id, 20 per page, without deleted ones. Unknown and invalid query parameters are
/// ignored. A browser that opens the address gets a page in place of JSON, or is sent to the sign-in page.
#[utoipa::path(
    get, path = paths::ADMIN_USERS, operation_id = "listAccounts", tag = "Administration", params(ListQuery, PageRequest),
    security(("session" = []), ("oauth2" = ["admin"])),
    responses(
        (status = 200, description = "A page of accounts.", headers(("Link")),
         content((Envelope<Account> = "application/json"), (String = "text/html"))),
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
    Ok(list_response(page, &query.page, &policy.url(paths::ADMIN_USERS)))
}

/// Create a user
///
/// Without a password, an initial one is generated. It is shown only once, as `initial_password` of the
/// response, and the user must replace it at the first sign-in.
#[utoipa::path(
    post, path = paths::ADMIN_USERS, operation_id = "createAccount", tag = "Administration", request_body = UserCreation,
    security(("session" = [], "csrf" = []), ("oauth2" = ["admin"])),
    responses(
        (status = 201, description = "The account.", body = AccountWithPassword<'_>,
         headers(("Location"), ("Cache-Control"))),
        Administrator, JsonBody, code::EmailTaken,
    )
)]
pub(crate) async fn create(
    State(identity): State<Identity>,
    Authorized(Administrator(context), body): Authorized<Administrator, JsonBody>,
) -> Result<Response, Error> {
    let creation = body::read_creation(&body, &identity.passwords)?;
    let (new, generated) = creation.into_user(&identity.passwords).await?;
    let account = administration::create(&identity.db, &new, &context).await?;
    let location = [(header::LOCATION, format!("/admin/users/{}", account.user.id))];
    let body = AccountWithPassword::new(&account, generated.as_ref());
    Ok((location, secret_response(StatusCode::CREATED, &body)).into_response())
}

/// Read a user
///
/// Returns the account, also if it is disabled. A browser that opens the address gets a page in place of
/// JSON, or is sent to the sign-in page.
#[utoipa::path(
    get, path = paths::ADMIN_USER, operation_id = "readAccount", tag = "Administration",
    params(("id" = inline(Id), Path, description = "The id of the user.")),
    security(("session" = []), ("oauth2" = ["admin"])),
    responses(
        (status = 200, description = "The account.",
         content((Account = "application/json"), (String = "text/html"))),
        (status = 303, description = "A browser without a session is sent to the sign-in page.", headers(("Location"))),
        Administrator, SessionErrors, AdministratorErrors, PathId,
    )
)]
pub(crate) async fn read(
    _: Administrator,
    id: PathId,
    State(identity): State<Identity>,
) -> Result<Json<Account>, Error> {
    let account = account::find(&identity.db, id.or_not_found()?.get()).await?;
    account.map(Json).ok_or_else(Error::not_found)
}

/// Change a user
///
/// Members that the body leaves out stay unchanged. A change of the role ends every session and token of the
/// user. Fails with 403 for the caller's own account, and for the last administrator.
#[utoipa::path(
    patch, path = paths::ADMIN_USER, operation_id = "updateAccount", tag = "Administration",
    request_body = UserChanges, params(("id" = inline(Id), Path, description = "The id of the user.")),
    security(("session" = [], "csrf" = []), ("oauth2" = ["admin"])),
    responses((status = 200, description = "The changed account.", body = Account), Administrator, PathId, JsonBody)
)]
pub(crate) async fn change(
    id: PathId,
    State(identity): State<Identity>,
    Authorized(Administrator(context), body): Authorized<Administrator, JsonBody>,
) -> Result<Json<Account>, Error> {
    let (db, revocations) = (&identity.db, &identity.revocations);
    let account = find_to_change(db, id.or_not_found()?.get(), &context).await?;
    let UserChanges { role } = body::read_changes(&body)?;
    let role = role.unwrap_or(account.user.role);
    let changed = administration::set_role(db, revocations, &account, role, &context).await?;
    Ok(Json(changed))
}

/// Set the password of a user
///
/// Ends every session and token of the user, who gets a notice by mail, and removes all passkeys. Without a
/// password, an initial one is generated. It is shown only once, as `initial_password` of the response, and
/// the user must replace it at the next sign-in. Fails with 403 for the caller's own account.
#[utoipa::path(
    put, path = "/admin/users/{id}/password", operation_id = "setAccountPassword", tag = "Administration",
    request_body(content = Option<PasswordSetting>, description = "By default a password is generated."),
    params(("id" = inline(Id), Path, description = "The id of the user.")),
    security(("session" = [], "csrf" = []), ("oauth2" = ["admin"])),
    responses(
        (status = 200, description = "The changed account.", body = AccountWithPassword<'_>, headers(("Cache-Control"))),
        Administrator, PathId, JsonBody,
    )
)]
pub(crate) async fn set_password(
    id: PathId,
    State(identity): State<Identity>,
    Authorized(Administrator(context), body): Authorized<Administrator, Option<JsonBody>>,
) -> Result<Response, Error> {
    let (db, revocations, mails) = (&identity.db, &identity.revocations, &identity.mails);
    let user = find_to_change(db, id.or_not_found()?.get(), &context).await?.user;
    let password = body::read_password(&body.unwrap_or_default(), &identity.passwords, &user.email)?;
    let (password, generated) = password.hash(&identity.passwords).await?;
    let account = administration::set_password(db, revocations, mails, user.id, &password, &context).await?;
    let body = AccountWithPassword::new(&account, generated.as_ref());
    Ok(secret_response(StatusCode::OK, &body))
}

/// Disable a user
///
/// Ends every session and token of the user, who can then not sign in. No effect on a disabled user. Fails
/// with 403 for the caller's own account, and for the last administrator.
#[utoipa::path(
    post, path = "/admin/users/{id}/disablements", operation_id = "disableAccount", tag = "Administration",
    params(("id" = inline(Id), Path, description = "The id of the user.")),
    security(("session" = [], "csrf" = []), ("oauth2" = ["admin"])),
    responses((status = 200, description = "The account.", body = Account), Administrator, PathId)
)]
pub(crate) async fn disable(
    Administrator(context): Administrator,
    id: PathId,
    State(identity): State<Identity>,
) -> Result<Json<Account>, Error> {
    let id = id.or_not_found()?.get();
    find_to_change(&identity.db, id, &context).await?;
    let account = administration::disable(&identity.db, &identity.revocations, id, &context).await?;
    Ok(Json(account))
}

/// Enable a user
///
/// The user can sign in again. The tokens that ended when the user was disabled stay revoked. No effect on an
/// enabled user.
#[utoipa::path(
    post, path = "/admin/users/{id}/enablements", operation_id = "enableAccount", tag = "Administration",
    params(("id" = inline(Id), Path, description = "The id of the user.")),
    security(("session" = [], "csrf" = []), ("oauth2" = ["admin"])),
    responses((status = 200, description = "The account.", body = Account), Administrator, PathId)
)]
pub(crate) async fn enable(
    Administrator(context): Administrator,
    id: PathId,
    State(identity): State<Identity>,
) -> Result<Json<Account>, Error> {
    let account = administration::enable(&identity.db, id.or_not_found()?.get(), &context).await?;
    Ok(Json(account))
}

/// Unlock a user
///
/// Deletes the failed sign-ins of the user from all networks, which ends the lockouts.
#[utoipa::path(
    delete, path = "/admin/users/{id}/lockouts", operation_id = "unlockAccount", tag = "Administration",
    params(("id" = inline(Id), Path, description = "The id of the user.")),
    security(("session" = [], "csrf" = []), ("oauth2" = ["admin"])),
    responses((status = 204, description = "The user has no failed sign-ins."), Administrator, PathId)
)]
pub(crate) async fn unlock(
    Administrator(context): Administrator,
    id: PathId,
    State(identity): State<Identity>,
) -> Result<StatusCode, Error> {
    administration::unlock(&identity.db, id.or_not_found()?.get(), &context).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Turn the two-step sign-in of a user off and remove the passkeys
///
/// Ends every session and token of the user, who gets a notice by mail. Fails with 404 if the user has
/// neither, and with 403 for the caller's own account.
#[utoipa::path(
    delete, path = "/admin/users/{id}/mfa", operation_id = "resetAccountMfa", tag = "Administration",
    params(("id" = inline(Id), Path, description = "The id of the user.")),
    security(("session" = [], "csrf" = []), ("oauth2" = ["admin"])),
    responses((status = 204, description = "Two-step sign-in is off, and there is no passkey."), Administrator, PathId)
)]
pub(crate) async fn reset_mfa(
    Administrator(context): Administrator,
    id: PathId,
    State(identity): State<Identity>,
) -> Result<StatusCode, Error> {
    let (db, revocations, mails) = (&identity.db, &identity.revocations, &identity.mails);
    let account = find_to_change(db, id.or_not_found()?.get(), &context).await?;
    administration::reset_mfa(db, revocations, mails, &account, &context).await?;
    Ok(StatusCode::NO_CONTENT)
}
