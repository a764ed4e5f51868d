//! `/users`.

use crate::error::ApiError;
use crate::extract::PublicWrite;
use crate::principal::Principal;
use crate::versions::Prefix;
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use foundation::email::Email;
use foundation::ids::Id;
use identity::Identity;
use identity::passwords::{Password, new_password_schema};
use identity::sign_up::sign_up;
use identity::users::{self, User};
use storage::db::Db;
use utoipa::ToSchema;
use web::openapi::error_responses::code;
use web::{Authorized, Context, Error, JsonBody, PathId};

/// A new account.
#[derive(ToSchema)]
#[schema(example = json!({"email": "ann@example.org", "password": "correct horse"}))]
struct SignUp {
    email: Email,
    #[schema(schema_with = new_password_schema)]
    password: Password,
}

/// Create an account
///
/// The account has the role `user`. The call does not sign in. It is forbidden if only administrators create
/// accounts.
#[utoipa::path(
    post, path = "/users", operation_id = "createUser", tag = "Users", request_body = SignUp,
    security((), ("csrf" = [])),
    responses(
        (status = 201, description = "The account.", body = User, headers(("Location"))),
        PublicWrite, JsonBody, code::EmailTaken, code::Forbidden,
    )
)]
pub(crate) async fn create(
    State(identity): State<Identity>,
    Context(context): Context,
    prefix: Prefix,
    Authorized(_caller, body): Authorized<PublicWrite, JsonBody>,
) -> Result<impl IntoResponse, ApiError> {
    let SignUp { email, password } = read_sign_up(&body, &identity)?;
    let user = sign_up(&identity, email, password, &context).await?;
    let location = [(header::LOCATION, prefix.path(&format!("/users/{}", user.id)))];
    Ok((StatusCode::CREATED, location, Json(user)))
}

/// Read an account
///
/// Returns the caller's own account; administrators may read every account. Other accounts are not found.
#[utoipa::path(
    get, path = "/users/{id}", operation_id = "readUser", tag = "Users",
    params(("id" = inline(Id), Path, description = "The id of the user.")),
    security(("session" = []), ("oauth2" = ["profile:read"]), ("oauth2" = ["admin"])),
    responses(
        (status = 200, description = "The account.", body = User),
        Principal, PathId, code::InsufficientScope, code::Forbidden,
    )
)]
pub(crate) async fn read(
    caller: Principal,
    id: PathId,
    State(db): State<Db>,
) -> Result<Json<User>, ApiError> {
    let self_id = caller.user()?.id;
    let is_admin = caller.scope.contains("admin");
    if !is_admin {
        caller.require("profile:read")?;
    }
    let id = id.or_not_found()?.get();
    if id != self_id && !is_admin {
        return Err(Error::not_found().into());
    }
    let user = users::find(&db, id).await?;
    user.map(Json).ok_or_else(|| Error::not_found().into())
}

fn read_sign_up(body: &JsonBody, identity: &Identity) -> Result<SignUp, Error> {
    let mut fields = body.fields()?;
    let email = fields.required("email", Email::parse);
    let address = email.as_ref().map_or("", Email::as_str);
    let password = fields.required("password", |text| identity.passwords.parse_new_for(text, address));
    let whole = email.zip(password);
    fields.finish(whole.map(|(email, password)| SignUp { email, password }))
}
