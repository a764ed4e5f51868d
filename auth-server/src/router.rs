//! The routes of the issuer.

use crate::app::App;
use crate::http::account::passkeys::password_removal;
use crate::http::account::{deletion, email, passkeys, two_step};
use crate::http::admin::{
    clients, consents, event_stream, figures, keys, registration_tokens, security_events, sessions,
    token_preview, users,
};
use crate::http::signin::second_step;
use crate::http::{
    account, admin_pages, authorize, consent, device, device_authorization, discovery, documentation, forgot,
    introspect, par, password, redirects, register, reset, revoke, signin, signout, signup, token,
    token_errors, user_info, verify,
};
use crate::pages::{self, assets};
use crate::paths;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::get;
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use web::challenges::RouteCredentials;
use web::security_events::record_security_events;
use web::{Context, Cors, Error, calls, cors, openapi, rate_limits};

/// Builds the issuer's routes. The path of each is part of its handler's `utoipa::path` attribute.
pub(crate) fn router(app: App) -> OpenApiRouter {
    let events = app.identity.events.clone();
    let policy = Arc::clone(&app.policy);
    let issuer = app.grants.issuer.clone();
    let (device_pages, device_calls) = match &app.grants.device_authorization {
        Some(_) => (
            OpenApiRouter::new()
                .routes(routes!(device::show, device::submit))
                .routes(routes!(device::confirm)),
            OpenApiRouter::new().routes(routes!(device_authorization::authorize)),
        ),
        None => (OpenApiRouter::new(), OpenApiRouter::new()),
    };
    let sign_up_pages = match app.identity.allows_sign_ups {
        true => OpenApiRouter::new().routes(routes!(signup::show, signup::submit)),
        false => OpenApiRouter::new(),
    };
    let (passkey_pages, passkey_documents) = match app.relying_party {
        Some(_) => (
            OpenApiRouter::new()
                .routes(routes!(signin::passkey::submit))
                .routes(routes!(passkeys::show, passkeys::add))
                .routes(routes!(passkeys::rename))
                .routes(routes!(passkeys::remove))
                .routes(routes!(password_removal::submit)),
            OpenApiRouter::new().routes(routes!(passkeys::endpoints::show)),
        ),
        None => (OpenApiRouter::new(), OpenApiRouter::new()),
    };
    let brand = Arc::clone(&app.brand);
    let page_routes = OpenApiRouter::new()
        .routes(routes!(authorize::authorize, authorize::authorize_by_form))
        .routes(routes!(signin::show, signin::submit))
        .routes(routes!(second_step::show, second_step::submit))
        .routes(routes!(consent::show, consent::submit))
        .routes(routes!(account::show))
        .routes(routes!(account::end_session))
        .routes(routes!(account::end_other_sessions))
        .routes(routes!(account::disconnect_app))
        .routes(routes!(account::request_confirmation))
        .routes(routes!(email::show, email::submit))
        .routes(routes!(account::export))
        .routes(routes!(deletion::show, deletion::submit))
        .routes(routes!(two_step::show))
        .routes(routes!(two_step::enroll))
        .routes(routes!(two_step::confirm))
        .routes(routes!(two_step::renew_recovery_codes))
        .routes(routes!(two_step::turn_off))
        .routes(routes!(signout::show, signout::show_by_form))
        .routes(routes!(signout::confirm))
        .routes(routes!(password::show, password::submit))
        .routes(routes!(password::verdict::judge))
        .routes(routes!(password::find_page))
        .routes(routes!(forgot::show, forgot::submit))
        .routes(routes!(reset::show, reset::submit))
        .routes(routes!(verify::show, verify::submit))
        .routes(routes!(admin_pages::keys::rotate))
        .routes(routes!(admin_pages::keys::retire))
        .routes(routes!(admin_pages::users::change))
        .routes(routes!(admin_pages::clients::change))
        .routes(routes!(
            admin_pages::new_client::show,
            admin_pages::new_client::submit
        ))
        .merge(device_pages)
        .merge(passkey_pages)
        .merge(sign_up_pages)
        .layer(from_fn_with_state(policy, redirects::to_base_host));
    let page_routes = refuse_other_methods(page_routes);
    let calls_with_pages = OpenApiRouter::new()
        .routes(routes!(figures::read))
        .routes(routes!(keys::list))
        .routes(routes!(security_events::list))
        .routes(routes!(users::list, users::create))
        .routes(routes!(users::read, users::change))
        .routes(routes!(clients::list, clients::create))
        .routes(routes!(clients::read, clients::change))
        .routes(routes!(sessions::list))
        .routes(routes!(consents::list))
        .routes(routes!(token_preview::read))
        .route_layer(from_fn_with_state(
            pages_of_calls(&app),
            admin_pages::page_or_call,
        ));
    let calls = OpenApiRouter::new()
        .routes(routes!(token::token))
        .routes(routes!(par::push))
        .routes(routes!(revoke::revoke))
        .routes(routes!(revoke::revoke_in_cookie))
        .routes(routes!(introspect::introspect))
        .routes(routes!(user_info::read, user_info::read_by_post))
        .merge(calls_with_pages)
        .routes(routes!(keys::verifiers))
        .routes(routes!(security_events::group_refusals))
        .routes(routes!(event_stream::follow))
        .routes(routes!(keys::rotate))
        .routes(routes!(keys::retire))
        .routes(routes!(clients::rotate))
        .routes(routes!(clients::disable_client))
        .routes(routes!(clients::enable_client))
        .routes(routes!(users::set_password))
        .routes(routes!(users::disable))
        .routes(routes!(users::enable))
        .routes(routes!(users::unlock))
        .routes(routes!(users::reset_mfa))
        .routes(routes!(sessions::sign_user_out))
        .routes(routes!(sessions::end))
        .routes(routes!(consents::revoke))
        .merge(device_calls)
        .routes(routes!(registration_tokens::list, registration_tokens::create))
        .routes(routes!(registration_tokens::revoke));
    // Clients register themselves before the issuer knows their origin.
    let registrations = OpenApiRouter::new()
        .routes(routes!(register::register))
        .routes(routes!(register::read, register::replace, register::delete));
    let calls = handled(calls, &app, app.cors.clone());
    let registrations = handled(registrations, &app, Cors::AnyOrigin);
    let documents = OpenApiRouter::new()
        .routes(routes!(discovery::jwks))
        .routes(routes!(discovery::metadata))
        .routes(routes!(discovery::openid_configuration))
        .merge(passkey_documents)
        .route_layer(from_fn_with_state(Cors::AnyOrigin, cors::add_headers));
    let unknown_paths = OpenApiRouter::new()
        .fallback(unknown_path)
        .layer(from_fn_with_state(Arc::clone(&app.brand), pages::present))
        .layer(from_fn_with_state(app.cors.clone(), cors::add_headers));
    let mut router = rate_limits::limit_by_address(page_routes, app.rate_limiter.clone())
        .layer(from_fn_with_state(brand, pages::present))
        .layer(from_fn_with_state(events, record_security_events))
        .merge(calls)
        .merge(registrations)
        .merge(documents)
        .merge(unknown_paths)
        .merge(undocumented(&app).into())
        .with_state(app);
    documentation::complete_forms(router.get_openapi_mut());
    openapi::set_server(router.get_openapi_mut(), &issuer);
    router
}

/// Answers requests for these paths with methods that they do not support. The layers that the routes have so
/// far do not concern them: a redirect to the host of the base URL would take the place of the error, for
/// which a browser gets a page.
fn refuse_other_methods(routes: OpenApiRouter<App>) -> OpenApiRouter<App> {
    let (routes, document) = routes.split_for_parts();
    let routes = routes.method_not_allowed_fallback(unsupported_method);
    OpenApiRouter::with_openapi(document).merge(routes.into())
}

async fn unsupported_method() -> StatusCode {
    StatusCode::METHOD_NOT_ALLOWED
}

/// Answers a request for a path that no route has. A browser gets a page.
async fn unknown_path() -> Error {
    Error::not_found()
}

/// Adds the middleware of the routes that programs call.
fn handled(routes: OpenApiRouter<App>, app: &App, cors: Cors) -> OpenApiRouter<App> {
    let credentials = RouteCredentials::of(routes.get_openapi());
    let state = (app.clone(), cors, credentials);
    rate_limits::document(routes).route_layer(from_fn_with_state(state, handle_call))
}

async fn handle_call(
    State((app, cors, credentials)): State<(App, Cors, RouteCredentials)>,
    Context(context): Context,
    request: Request,
    next: Next,
) -> Response {
    let events = &app.identity.events;
    let has_authorization = request.headers().contains_key(header::AUTHORIZATION);
    let response = calls::handle(&cors, &app.rate_limiter, events, &credentials, request, next).await;
    token_errors::complete(response, has_authorization, &context)
}

/// Returns the pages at paths that calls have too.
#[allow(
    clippy::disallowed_methods,
    reason = "the operations at these paths describe the pages"
)]
fn pages_of_calls(app: &App) -> Router {
    Router::new()
        .route(paths::ADMIN, get(admin_pages::dashboard::show))
        .route(paths::ADMIN_KEYS, get(admin_pages::keys::show))
        .route(paths::ADMIN_EVENTS, get(admin_pages::events::show))
        .route(paths::ADMIN_CLIENTS, get(admin_pages::clients::show_all))
        .route(paths::ADMIN_CLIENT, get(admin_pages::clients::show))
        .route(paths::ADMIN_USERS, get(admin_pages::users::show_all))
        .route(paths::ADMIN_USER, get(admin_pages::users::show))
        .route(paths::ADMIN_SESSIONS, get(admin_pages::sessions::show))
        .route(paths::ADMIN_CONSENTS, get(admin_pages::consents::show))
        .route(paths::ADMIN_TOKEN_PREVIEW, get(admin_pages::token_preview::show))
        .layer(from_fn_with_state(
            Arc::clone(&app.policy),
            redirects::to_base_host,
        ))
        .layer(from_fn_with_state(Arc::clone(&app.brand), pages::present))
        .with_state(app.clone())
}

/// Returns the assets of the pages, and during development the page that shows the components of all pages.
#[allow(
    clippy::disallowed_methods,
    reason = "the assets and the design of the pages are no part of the API"
)]
fn undocumented(app: &App) -> Router<App> {
    let routes = Router::new()
        .route("/assets/latchkey.css", get(assets::stylesheet))
        .route("/assets/pages.js", get(assets::script))
        .route("/assets/passkeys.js", get(assets::passkeys_script))
        .route("/assets/events.js", get(assets::events_script))
        .route("/assets/icon.svg", get(assets::icon))
        .route("/assets/logo", get(assets::logo));
    if app.is_production {
        return routes;
    }
    let design = Router::new().route("/_design", get(pages::design));
    routes.merge(design.layer(from_fn_with_state(Arc::clone(&app.brand), pages::present)))
}
