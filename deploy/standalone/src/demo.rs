//! The demo pages: the front page, the demo app, and the redirect URI of the demo client.

use crate::first_start::{ADMINISTRATOR, PasswordPlace, has_initial_password};
use askama::Template;
use auth_server::demo_clients::{DEMO_APP_CALLBACK, DEMO_APP_ID, DEMO_PATH};
use auth_server::pages::{Brand, allow_requests, present, render, text};
use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use identity::clients;
use runtime::startup::Runtime;
use std::sync::Arc;

/// The scripts of the demo app, each with its file name.
const SCRIPTS: [(&str, &str); 15] = [
    ("api.js", include_str!("../../demo/api.js")),
    ("calls.js", include_str!("../../demo/calls.js")),
    ("comments.js", include_str!("../../demo/comments.js")),
    ("differences.js", include_str!("../../demo/differences.js")),
    ("dom.js", include_str!("../../demo/dom.js")),
    ("editor.js", include_str!("../../demo/editor.js")),
    ("main.js", include_str!("../../demo/main.js")),
    ("merge.js", include_str!("../../demo/merge.js")),
    ("payments.js", include_str!("../../demo/payments.js")),
    ("post.js", include_str!("../../demo/post.js")),
    ("posts.js", include_str!("../../demo/posts.js")),
    ("session.js", include_str!("../../demo/session.js")),
    ("settings.js", include_str!("../../demo/settings.js")),
    ("words.js", include_str!("../../demo/words.js")),
    (
        "latchkey-auth.js",
        include_str!("../../latchkey-auth/latchkey-auth.js"),
    ),
];

#[derive(Clone, Template)]
#[template(path = "home.html")]
struct Home {
    /// The name of the service.
    service: String,
    /// Whether users can create accounts.
    allows_sign_ups: bool,
    /// The URL of the operator's help for users.
    help: Option<String>,
    /// Whether the page names the documentation in the source code, which strangers do not have.
    names_source: bool,
    /// The place of the administrator's initial password, if this process created the administrator, who has
    /// not replaced it.
    password_place: Option<PasswordPlace>,
    /// Whether there is a demo app that users can sign in to.
    has_demo_app: bool,
}

/// The page of the demo app, which its scripts fill.
#[derive(Template)]
#[template(path = "demo_app.html")]
struct DemoApp {
    /// The URL of the issuer.
    issuer: String,
}

/// The state of the routes: the page of the demo app, if there is one.
type AppPage = Option<Arc<DemoApp>>;

/// The parameters of an authorization response (RFC 6749 §4.1.2).
#[derive(Default, Template)]
#[template(path = "demo.html")]
struct Callback {
    code: String,
    state: String,
    error: String,
    error_description: String,
}

/// Returns the routes of the demo pages: the front page, which links to the sign-up page if there is one, those
/// of the demo client if the installation is on loopback, and the demo app if it is registered. If
/// `password_place` is given, the front page also shows the administrator's first steps, until the password is
/// replaced.
#[allow(
    clippy::disallowed_methods,
    reason = "the demo pages are not part of the documented interface"
)]
pub(crate) fn routes(
    runtime: &Runtime,
    has_demo_app: bool,
    password_place: Option<PasswordPlace>,
    brand: Arc<Brand>,
) -> Router {
    let home = Home {
        service: brand.name().to_owned(),
        allows_sign_ups: runtime.identity.allows_sign_ups,
        help: brand.help().map(str::to_owned),
        names_source: !runtime.is_production,
        password_place,
        has_demo_app,
    };
    let db = runtime.identity.db.clone();
    let show = async move || {
        // An operator may have disabled the app since. While the database does not answer, nobody can sign in.
        let app = match home.has_demo_app {
            true => clients::find(&db, DEMO_APP_ID).await.ok().flatten(),
            false => None,
        };
        let has_demo_app = app.is_some_and(|app| app.disabled_at.is_none());
        let password_place = match home.password_place {
            Some(place) if has_initial_password(&db).await => Some(place),
            _ => None,
        };
        let home = Home {
            has_demo_app,
            password_place,
            ..home
        };
        let title = text::of("home").with("service", &home.service);
        render(&title.plain(), &home)
    };
    let routes = Router::new().route("/", get(show));
    let routes = match runtime.is_production {
        true => routes,
        false => routes
            .route(DEMO_PATH, get(app_or_response))
            .route(DEMO_APP_CALLBACK, get(app))
            .route("/demo/latchkey-auth-errors.html", get(errors))
            .route("/demo/{file}", get(script)),
    };
    let app_page: AppPage = has_demo_app.then(|| {
        Arc::new(DemoApp {
            issuer: runtime.urls.issuer.clone(),
        })
    });
    routes
        .layer(from_fn_with_state(brand, present))
        .with_state(app_page)
}

/// `GET /demo`: the demo app, or the response to an authorization request of the demo client.
async fn app_or_response(app_page: State<AppPage>, RawQuery(query): RawQuery) -> Response {
    let mut callback = Callback::default();
    for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        match name.as_ref() {
            "code" => callback.code = value.into_owned(),
            "state" => callback.state = value.into_owned(),
            "error" => callback.error = value.into_owned(),
            "error_description" => callback.error_description = value.into_owned(),
            _ => {}
        }
    }
    match callback.code.is_empty() && callback.error.is_empty() {
        true => app(app_page).await,
        false => render(&text::of("demo").plain(), &callback),
    }
}

/// `GET /demo/callback`: the demo app, which reads the response to its authorization request itself.
async fn app(State(page): State<AppPage>) -> Response {
    match page {
        Some(page) => allow_requests(render(&text::of("demo-app").plain(), &*page)),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// `GET /demo/{file}`.
async fn script(Path(file): Path<String>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    match SCRIPTS.into_iter().find(|(name, _)| *name == file) {
        Some((_, script)) => (headers, script).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// `GET /demo/latchkey-auth-errors.html`, to which the errors of `latchkey-auth.js` link.
async fn errors() -> impl IntoResponse {
    let page = Html(include_str!("../../latchkey-auth/latchkey-auth-errors.html"));
    ([(header::CACHE_CONTROL, "no-cache")], page)
}
