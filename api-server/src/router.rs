//! Every route of the API.

use crate::app::App;
use crate::http::{
    account, challenge, comments, connected_apps, email_verifications, metadata, mfa, passkeys,
    password_resets, payments, posts, protected, session, sessions, users,
};
use crate::versions::{self, VERSIONS};
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use web::challenges::RouteCredentials;
use web::{Cors, calls, cors, csrf, dpop, openapi, rate_limits};

/// Returns the routes, each with the path that its handler declares. The routes of the API are served under
/// the version's prefix and without it. The routes of the whole process (`/livez`, `/readyz`) are not
/// included.
pub(crate) fn router(app: App) -> OpenApiRouter {
    let versioned = OpenApiRouter::new()
        .routes(routes!(posts::list, posts::create))
        .routes(routes!(posts::read, posts::update, posts::delete))
        .routes(routes!(comments::list, comments::create))
        .routes(routes!(comments::read, comments::delete))
        .routes(routes!(payments::list, payments::create))
        .routes(routes!(payments::read))
        .routes(routes!(payments::capture))
        .routes(routes!(payments::cancel))
        .routes(routes!(payments::refund))
        .routes(routes!(users::create))
        .routes(routes!(users::read))
        .routes(routes!(session::login))
        .routes(routes!(session::logout))
        .routes(routes!(csrf::issue))
        .routes(routes!(session::me, account::delete))
        .routes(routes!(session::change_password, session::remove_password))
        .routes(routes!(account::export))
        .routes(routes!(mfa::begin, mfa::disable))
        .routes(routes!(mfa::confirm))
        .routes(routes!(mfa::renew_recovery_codes))
        .routes(routes!(passkeys::list))
        .routes(routes!(passkeys::remove))
        .routes(routes!(passkeys::rename))
        .routes(routes!(sessions::list, sessions::end_others))
        .routes(routes!(sessions::end))
        .routes(routes!(connected_apps::list))
        .routes(routes!(connected_apps::disconnect))
        .routes(routes!(password_resets::request))
        .routes(routes!(password_resets::confirm))
        .routes(routes!(email_verifications::request))
        .routes(routes!(email_verifications::confirm))
        .routes(routes!(protected::read));
    let mut documents = OpenApiRouter::new()
        .routes(routes!(metadata::read))
        .route_layer(from_fn_with_state(Cors::AnyOrigin, cors::add_headers));
    openapi::set_server(documents.get_openapi_mut(), &app.policy.url(""));
    let versioned = versions::serve(VERSIONS[0], versioned);
    let credentials = RouteCredentials::of(versioned.get_openapi());
    rate_limits::document(versioned)
        .route_layer(from_fn_with_state((app.clone(), credentials), handle_call))
        .merge(documents)
        .with_state(app)
}

/// Middleware of all versioned routes.
async fn handle_call(
    State((app, credentials)): State<(App, RouteCredentials)>,
    request: Request,
    next: Next,
) -> Response {
    let events = &app.identity.events;
    let response = calls::handle(&app.cors, &app.rate_limiter, events, &credentials, request, next).await;
    dpop::offer_scheme(&app.proofs, challenge::add_metadata_url(&app.policy, response))
}
