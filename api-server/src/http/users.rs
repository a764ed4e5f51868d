//! `/users`.

use crate::extract::{PathId, Principal, Public};
use crate::users::sign_up;
use crate::versions::Prefix;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::{Extension, Json};
use shared::db::Db;
use shared::events::Context;
use shared::http::{Error, JsonBody};
use shared::identity::Identity;
use shared::identity::email::Email;
use shared::identity::users::{self, User};

/// `POST /users`: 201 with the record, 409 if the e-mail is taken.
pub(crate) async fn create(
    _: Public,
    State(identity): State<Identity>,
    Extension(context): Extension<Context>,
    prefix: Prefix,
    body: JsonBody,
) -> Result<impl IntoResponse, Error> {
    let mut fields = body.fields()?;
    let email = fields.required("email", Email::parse);
    let password = fields.required("password", |text| identity.passwords.choose(text));
    let (email, password) = fields.finish(email.zip(password))?;
    let user = sign_up(&identity, email, password, &context).await?;
    let location = [(header::LOCATION, prefix.path(&format!("/users/{}", user.id)))];
    Ok((StatusCode::CREATED, location, Json(user)))
}

/// `GET /users/{id}`: one's own record, any for an administrator; every other is 404.
pub(crate) async fn read(caller: Principal, id: PathId, State(db): State<Db>) -> Result<Json<User>, Error> {
    let self_id = caller.user()?.id;
    let is_admin = caller.scope.contains("admin");
    if !is_admin {
        caller.require("profile:read")?;
    }
    let id = id.found()?.get();
    if id != self_id && !is_admin {
        return Err(Error::not_found());
    }
    let user = users::find(&db, id).await?;
    user.map(Json).ok_or_else(Error::not_found)
}
