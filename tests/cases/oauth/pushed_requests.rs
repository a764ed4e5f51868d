//! Pushed authorization requests (RFC 9126): `POST /par`, and `/authorize` with its `request_uri`.

use serde_json::json;
use std::time::Duration;
use storage::fetch_one;
use tests::{
    App, Authorization, Browser, Call, Grant, Page, Reply, Shape, SharedWorld, Signer, Tokens, User, World,
    basic, claims, eventually, on_every_shape, parameter, run_concurrently, status_counts,
};

const PREFIX: &str = "urn:ietf:params:oauth:request_uri:";
const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const MINUTE: Duration = Duration::from_secs(60);

/// The path of an authorization request that refers to a pushed one.
pub(super) fn reference(client_id: &str, request_uri: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs([("client_id", client_id), ("request_uri", request_uri)]);
    format!("/authorize?{}", query.finish())
}

/// The parameters of a request, without those of the client's authentication.
pub(super) fn fields(request: &Authorization) -> Vec<(&str, &str)> {
    let parameters = request.parameters().iter();
    parameters
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect()
}

/// Prepares a pushed request with the authentication of the app.
pub(super) fn push(world: &World, app: &App, request: &Authorization) -> Call {
    let request = request.clone().without("client_id");
    app.client_call(&world.anyone(), "/par", &fields(&request))
}

/// Pushes a request. Returns the path of the authorization request that refers to it.
async fn pushed(world: &World, app: &App, request: &Authorization) -> String {
    let reply = push(world, app, request).await.expect(201);
    reference(&app.id, &request_uri(&reply))
}

pub(super) fn request_uri(reply: &Reply) -> String {
    let body = reply.json();
    let uri = body["request_uri"].as_str().filter(|uri| uri.starts_with(PREFIX));
    uri.unwrap_or_else(|| panic!("no request_uri: {reply}"))
        .to_owned()
}

/// Expects a page that says that the `request_uri` is not valid.
fn expect_invalid(page: &Page) {
    assert_eq!(page.reply.status, 400, "{}", page.reply);
    page.expect_page_within_origin();
    assert!(
        page.visible_text().contains("invalid_request_uri"),
        "{}",
        page.reply
    );
}

/// Completes the flow, and exchanges the code.
async fn complete(
    browser: &mut Browser,
    user: &User,
    app: &App,
    request: &Authorization,
    path: &str,
) -> Tokens {
    let redirect = browser.complete_flow(path, user, "allow").await;
    let redirect = redirect.unwrap_or_else(|page| panic!("{}", page.reply));
    assert_eq!(parameter(&redirect, "state").as_deref(), Some("some state"));
    let grant = Grant::parse(redirect, request.verifier.clone());
    Tokens::parse(app.exchange(&user.anonymous(), &grant).await)
}

async fn a_pushed_request_is_used_in_place_of_the_query(world: SharedWorld) {
    let user = world.user().await;
    for kind in ["spa", "native", "web"] {
        let app = world.app().kind(kind).register();
        let request = app
            .authorization()
            .set("scope", "openid posts:read")
            .set("nonce", "n-1");
        let reply = push(&world, &app, &request).await.expect(201);
        assert_eq!(reply.header("cache-control"), "no-store");
        assert_eq!(reply.json()["expires_in"], 60);
        let uri = request_uri(&reply);
        assert!(
            uri.len() >= PREFIX.len() + 22,
            "a reference has at least 128 bits: {uri}"
        );
        // Parameters beside the reference are ignored (RFC 9126 §4 with RFC 9101 §5).
        let path = reference(&app.id, &uri)
            + "&state=forged&state=twice&scope=admin&redirect_uri=https://evil.test/";
        let tokens = complete(&mut user.browser(), &user, &app, &request, &path).await;
        assert_eq!(claims(&tokens.access)["scope"], "openid posts:read");
        let id_token = tokens.reply.json()["id_token"].as_str().unwrap().to_owned();
        assert_eq!(claims(&id_token)["nonce"], "n-1");
    }
}

async fn clients_authenticate_as_at_the_token_endpoint(world: SharedWorld) {
    let anyone = world.anyone();
    let web = world.app().kind("web").register();
    let (request, secret) = (web.authorization(), web.secret.as_deref().unwrap());
    let in_body = |client: &[(&str, &str)]| {
        anyone
            .post("/par")
            .form(&[&fields(&request.clone().without("client_id")), client].concat())
    };
    in_body(&[("client_id", &web.id), ("client_secret", secret)])
        .await
        .expect(201);
    // HTTP Basic names the client, with or without client_id in the body.
    push(&world, &web, &request).await.expect(201);
    let with_basic = |id: &str, secret: &str| anyone.with("authorization", &basic(id, secret));
    let call = with_basic(&web.id, secret).post("/par").form(&fields(&request));
    call.await.expect(201);
    // As JSON, as at the token endpoint.
    let mut object = json!({ "client_secret": secret });
    for (name, value) in fields(&request) {
        object[name] = json!(value);
    }
    anyone.post("/par").json(&object).await.expect(201);

    let spa = world.app().register();
    for refused in [
        in_body(&[("client_id", &web.id)]),
        in_body(&[("client_id", &web.id), ("client_secret", "wrong")]),
        in_body(&[("client_id", "nobody")]),
        in_body(&[("client_id", &spa.id), ("client_secret", secret)]),
        in_body(&[]),
        with_basic(&web.id, "wrong").post("/par").form(&fields(&request)),
    ] {
        refused.await.expect_token_error(401, "invalid_client");
    }
    let another = with_basic(&web.id, secret)
        .post("/par")
        .form(&fields(&spa.authorization()));
    another.await.expect_token_error(400, "invalid_request");
    let service = world.app().kind("service").scope("posts:read").register();
    let call = push(&world, &service, &service.authorization());
    call.await.expect_token_error(400, "unauthorized_client");
    for method in ["GET", "PUT"] {
        anyone.call(method, "/par").await.expect(405);
    }
}

async fn signed_assertions_authenticate(world: World) {
    let (key, file) = (Signer::unknown("key"), world.data_dir().join("keys.json"));
    std::fs::write(&file, json!({ "keys": [key.jwk()] }).to_string()).unwrap();
    let app = world.app().kind("web").jwks(file.to_str().unwrap()).register();
    let request = app.authorization();
    // RFC 9126 §2: the endpoint itself is an audience too.
    for (audience, status) in [("", 201), ("/token", 201), ("/par", 201), ("/other", 401)] {
        let claims = json!({
            "iss": app.id, "sub": app.id, "aud": format!("{}{audience}", world.base()),
            "jti": foundation::random::id(), "exp": world.now().seconds() + 60,
        });
        let header = json!({ "alg": "RS256", "kid": key.kid }).to_string();
        let assertion = key.sign(&header, &claims.to_string());
        let client = [
            ("client_assertion_type", ASSERTION_TYPE),
            ("client_assertion", assertion.as_str()),
        ];
        let form = [fields(&request).as_slice(), &client].concat();
        let reply = world.anyone().post("/par").form(&form).await.expect(status);
        world.register_secret(&assertion);
        if status == 201 {
            let page = world
                .browser()
                .open(&reference(&app.id, &request_uri(&reply)))
                .await;
            assert_eq!(page.reply.status, 303, "{}", page.reply);
        }
    }
    world.expect_no_secrets_in(&world.dump(), "the database");
}

async fn only_hashes_of_references_are_stored_and_no_secret(world: World) {
    let app = world.app().kind("web").register();
    let secret = app.secret.as_deref().unwrap();
    let request = app.authorization().set("state", "a state to look for");
    let form = [fields(&request).as_slice(), &[("client_secret", secret)]].concat();
    let reply = world.anyone().post("/par").form(&form).await.expect(201);
    let dump = world.dump();
    assert!(dump.contains("a+state+to+look+for"), "the request is not stored");
    assert!(!dump.contains(secret), "the secret of the client is stored");
    let uri = request_uri(&reply);
    let random = uri.strip_prefix(PREFIX).unwrap();
    assert!(!dump.contains(random), "the request_uri is stored");
    assert!(!world.log().contains(random), "the request_uri is in the log");
}

/// The rules are those of the authorization endpoint. The errors come as those of the token endpoint (RFC
/// 9126 §2.3).
async fn an_invalid_request_is_refused_when_it_is_pushed(world: SharedWorld) {
    let app = world.app().scope("posts:read").register();
    let request = app.authorization();
    let refused = [
        (
            request.clone().set("request_uri", "https://app.test/request"),
            "invalid_request",
        ),
        (
            request.clone().set("request_uri", &format!("{PREFIX}x")),
            "invalid_request",
        ),
        (
            request.clone().set("request", "e30.e30."),
            "request_not_supported",
        ),
        (request.clone().without("response_type"), "invalid_request"),
        (
            request.clone().set("response_type", "token"),
            "unsupported_response_type",
        ),
        (
            request.clone().set("response_type", "code id_token"),
            "unsupported_response_type",
        ),
        (
            request.clone().set("response_mode", "fragment"),
            "invalid_request",
        ),
        (request.clone().without("redirect_uri"), "invalid_request"),
        (
            request.clone().set("redirect_uri", "https://evil.test/"),
            "invalid_request",
        ),
        (request.clone().without("code_challenge"), "invalid_request"),
        (
            request.clone().set("code_challenge_method", "plain"),
            "invalid_request",
        ),
        (request.clone().set("scope", "posts:write"), "invalid_scope"),
        (request.clone().set("scope", "nonsense"), "invalid_scope"),
        (request.clone().set("prompt", "none login"), "invalid_request"),
        (request.clone().set("max_age", "x"), "invalid_request"),
        (request.clone().set("id_token_hint", "x"), "invalid_request"),
        (
            request.clone().set("resource", "https://api.example"),
            "invalid_target",
        ),
        (request.clone().append("state", "again"), "invalid_request"),
        (request.clone().set("state", "\0"), "invalid_request"),
        (
            request.clone().set("state", &"s".repeat(9_000)),
            "invalid_request",
        ),
    ];
    for (request, error) in refused {
        let reply = push(&world, &app, &request).await;
        let body = reply.expect_token_error(400, error).json();
        assert!(
            body["error_description"]
                .as_str()
                .is_some_and(|text| !text.is_empty()),
            "{body}"
        );
    }
    let oversized = request.clone().set("state", &"s".repeat(70_000));
    push(&world, &app, &oversized).await.expect(413);
    world.cli(&["clients", "disable", &app.id, "--json"], "");
    eventually("a disabled client pushes a request", async || {
        push(&world, &app, &request).await.status == 401
    })
    .await;
}

async fn a_request_uri_is_for_its_client_only(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let other = world.app().register();
    let request = app.authorization();
    let reply = push(&world, &app, &request).await.expect(201);
    let uri = &request_uri(&reply);
    let random = uri.strip_prefix(PREFIX).unwrap();
    let mut browser = user.browser();
    for path in [
        reference(&other.id, uri),
        reference("nobody", uri),
        reference(&app.id, PREFIX),
        reference(&app.id, &format!("{PREFIX}{}", "x".repeat(43))),
        reference(&app.id, &format!("{uri}x")),
        reference(
            &app.id,
            &uri.to_uppercase()
                .replace("URN:IETF:PARAMS:OAUTH:REQUEST_URI:", PREFIX),
        ),
    ] {
        let page = browser.open(&path).await;
        expect_invalid(&page);
    }
    for path in [
        format!("{}&request_uri={uri}", reference(&app.id, uri)),
        format!("{}&client_id={}", reference(&app.id, uri), app.id),
        reference("a\0b", uri),
        reference(&app.id, &format!("{PREFIX}\0")),
        format!("/authorize?request_uri={uri}"),
        format!("/authorize?client_id={}&request_uri={random}", app.id),
    ] {
        let page = browser.open(&path).await;
        assert_eq!(page.reply.status, 400, "{}", page.reply);
        page.expect_page_within_origin();
    }
    // None of these used it up.
    complete(&mut browser, &user, &app, &request, &reference(&app.id, uri)).await;
    // A URI that a client has made is refused as before.
    let own = app.authorization().set("request_uri", "https://app.test/request");
    own.expect_error_redirect(&world, "request_uri_not_supported")
        .await;
}

/// The request is used up when a code is issued for it, so that a browser may load a page again until then
/// (RFC 9126 §4).
async fn pages_can_be_reloaded_until_the_code_is_issued(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let request = app.authorization();
    let path = pushed(&world, &app, &request).await;
    let mut browser = world.browser();
    for _ in 0..2 {
        let sign_in = browser.open(&path).await.location().unwrap();
        for _ in 0..2 {
            let page = browser.open(sign_in.as_str()).await;
            assert!(page.asks_for("password"), "{}", page.reply);
        }
    }
    complete(&mut browser, &user, &app, &request, &path).await;
    expect_invalid(&browser.open(&path).await);
}

async fn a_request_uri_gets_one_code(world: SharedWorld) {
    const BROWSERS: usize = 8;
    let (user, app) = world.user_and_app().await;
    let request = app.authorization().set("prompt", "consent");
    for _ in 0..5 {
        let path = pushed(&world, &app, &request).await;
        let mut pages = Vec::new();
        for _ in 0..BROWSERS {
            let mut browser = user.browser();
            let consent = browser.open(&path).await.location().unwrap();
            let page = browser.open(consent.as_str()).await;
            pages.push((browser, page));
        }
        let replies = run_concurrently(BROWSERS, |n| {
            let (browser, page) = &pages[n];
            browser.submit_call(page, &[("decision", "allow")]).into_future()
        })
        .await;
        assert_eq!(status_counts(&replies), [(303, 1), (400, BROWSERS - 1)].into());
        let won = replies.iter().find(|reply| reply.status == 303).unwrap();
        assert!(won.header("location").contains("code="), "{won}");
        expect_invalid(&user.browser().open(&path).await);
    }
}

/// Without pages, the code is issued by `/authorize` itself.
async fn a_silent_request_gets_one_code(world: SharedWorld) {
    const CALLS: usize = 8;
    let (user, app) = (world.user().await, world.app().first_party().register());
    let path = pushed(&world, &app, &app.authorization().set("prompt", "none")).await;
    let browser = user.browser();
    let replies = run_concurrently(CALLS, |_| browser.open_call(&path).into_future()).await;
    assert_eq!(status_counts(&replies), [(303, 1), (400, CALLS - 1)].into());
    let won = replies.iter().find(|reply| reply.status == 303).unwrap();
    assert!(won.header("location").contains("code="), "{won}");
    // An error response leaves the request as it was.
    let path = pushed(&world, &app, &app.authorization().set("prompt", "none")).await;
    let signed_out = world.browser().open(&path).await.location().unwrap();
    assert_eq!(parameter(&signed_out, "error").as_deref(), Some("login_required"));
    let signed_in = user.browser().open(&path).await.location().unwrap();
    assert!(parameter(&signed_in, "code").is_some(), "{signed_in}");
}

async fn a_request_uri_begins_flows_for_a_minute(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = world.user_and_app().await;
    let request = app.authorization();
    let path = pushed(&world, &app, &request).await;
    let mut browser = user.browser();
    world.advance(MINUTE - Duration::from_secs(1));
    let begun = browser.open(&path).await.location().unwrap();
    world.advance(Duration::from_secs(2));
    expect_invalid(&user.browser().open(&path).await);
    // The user has more time to decide.
    world.advance(10 * MINUTE);
    complete(&mut browser, &user, &app, &request, begun.as_str()).await;
}

async fn expired_requests_are_deleted(shape: Shape) {
    let mut world = World::builder(shape).clock().start().await;
    let app = world.app().register();
    pushed(&world, &app, &app.authorization()).await;
    let db = world.db().await;
    let count = async || {
        fetch_one!(db.reader(), (i64,), "SELECT COUNT(*) FROM pushed_requests")
            .unwrap()
            .0
    };
    assert_eq!(count().await, 1);
    world.stop().await;
    world.advance(2 * MINUTE);
    world.restart().await;
    eventually("an expired request remains", async || count().await == 0).await;
}

async fn the_reference_may_be_posted(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let request = app.authorization();
    let reply = push(&world, &app, &request).await.expect(201);
    let form = [
        ("client_id", app.id.as_str()),
        ("request_uri", &request_uri(&reply)),
    ];
    let posted = world.anyone().post("/authorize").form(&form).await.expect(303);
    let path = posted.header("location").to_owned();
    complete(&mut user.browser(), &user, &app, &request, &path).await;
}

async fn a_client_may_have_to_push(world: SharedWorld) {
    let user = world.user().await;
    let app = world.app().option(&["--require-par"]).register();
    let shown = world.cli(&["clients", "show", &app.id, "--json"], "");
    assert_eq!(shown["require_pushed_authorization_requests"], true, "{shown}");
    let request = app.authorization();
    request.expect_error_redirect(&world, "invalid_request").await;
    let posted = world
        .anyone()
        .post("/authorize")
        .form(request.parameters())
        .await
        .expect(303);
    assert!(
        posted.header("location").contains("error=invalid_request"),
        "{posted}"
    );
    let path = pushed(&world, &app, &request).await;
    complete(&mut user.browser(), &user, &app, &request, &path).await;
    // No code is issued for a reference that is not one.
    let forged = request.clone().set("request_uri", &format!("{PREFIX}x"));
    forged.expect_error_page(&world).await;

    let update = |value| {
        let options = ["--require-par", value];
        world.cli(
            &[["clients", "update", &app.id, "--json"].as_slice(), &options].concat(),
            "",
        )
    };
    assert_eq!(update("false")["require_pushed_authorization_requests"], false);
    eventually("the request must still be pushed", async || {
        let page = world.browser().open(&request.path()).await;
        page.location().unwrap().path() == "/signin"
    })
    .await;
    request.allow(&mut user.browser(), &user).await;
    // A flow that began before ends as it began; a new one does not begin.
    let mut browser = user.browser();
    let begun = browser.open(&request.path()).await.location().unwrap();
    update("true");
    eventually("the request need not be pushed", async || {
        let page = world.browser().open(&request.path()).await;
        page.location().unwrap().path() != "/signin"
    })
    .await;
    complete(&mut browser, &user, &app, &request, begun.as_str()).await;
}

async fn administrators_require_pushed_requests(world: World) {
    let admin = world.user_with_role("admin").await;
    let body = json!({
        "id": "pushing", "name": "An app", "type": "spa", "scope": "posts:read", "redirect_uris": [tests::CALLBACK],
        "require_pushed_authorization_requests": true,
    });
    let created = admin.post("/admin/clients").json(&body).await.expect(201).json();
    assert_eq!(created["require_pushed_authorization_requests"], true);
    let app = App {
        id: "pushing".to_owned(),
        secret: None,
        redirect_uri: tests::CALLBACK.to_owned(),
    };
    app.authorization()
        .expect_error_redirect(&world, "invalid_request")
        .await;
    let change = json!({ "require_pushed_authorization_requests": false });
    let changed = admin
        .patch("/admin/clients/pushing")
        .json(&change)
        .await
        .expect(200)
        .json();
    assert_eq!(changed["require_pushed_authorization_requests"], false);
    let wrong = json!({ "require_pushed_authorization_requests": "yes" });
    let refused = admin.patch("/admin/clients/pushing").json(&wrong).await;
    refused.expect_validation_errors(&["/require_pushed_authorization_requests"]);
}

async fn an_installation_may_require_pushed_requests(shape: Shape) {
    let world = World::builder(shape)
        .flag("--pushed-authorization-requests", "required")
        .start()
        .await;
    let (user, app) = world.user_and_app().await;
    let metadata = world
        .anyone()
        .get("/.well-known/oauth-authorization-server")
        .await
        .json();
    assert_eq!(metadata["require_pushed_authorization_requests"], true);
    let request = app.authorization();
    request.expect_error_redirect(&world, "invalid_request").await;
    let path = pushed(&world, &app, &request).await;
    complete(&mut user.browser(), &user, &app, &request, &path).await;
}

/// A request that refers to a pushed one gets the error of a server without pushed requests.
async fn an_installation_may_switch_pushed_requests_off(shape: Shape) {
    let world = World::builder(shape)
        .flag("--pushed-authorization-requests", "off")
        .start()
        .await;
    let app = world.app().register();
    let metadata = world
        .anyone()
        .get("/.well-known/oauth-authorization-server")
        .await
        .json();
    assert_eq!(metadata.get("pushed_authorization_request_endpoint"), None);
    push(&world, &app, &app.authorization())
        .await
        .expect_error(404, "not_found");
    let request = app.authorization().set("request_uri", &format!("{PREFIX}a"));
    request
        .expect_error_redirect(&world, "request_uri_not_supported")
        .await;
}

async fn the_metadata_name_the_endpoint(world: SharedWorld) {
    for path in [
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
    ] {
        let metadata = world.anyone().get(path).await.expect(200).json();
        let endpoint = format!("{}/par", world.base());
        assert_eq!(metadata["pushed_authorization_request_endpoint"], json!(endpoint));
        assert_eq!(metadata["require_pushed_authorization_requests"], false);
        // It is about URIs that clients make.
        assert_eq!(metadata["request_uri_parameter_supported"], false);
    }
}

on_every_shape!(
    a_pushed_request_is_used_in_place_of_the_query,
    clients_authenticate_as_at_the_token_endpoint,
    signed_assertions_authenticate,
    only_hashes_of_references_are_stored_and_no_secret,
    an_invalid_request_is_refused_when_it_is_pushed,
    a_request_uri_is_for_its_client_only,
    pages_can_be_reloaded_until_the_code_is_issued,
    a_request_uri_gets_one_code,
    a_silent_request_gets_one_code,
    a_request_uri_begins_flows_for_a_minute,
    expired_requests_are_deleted,
    the_reference_may_be_posted,
    a_client_may_have_to_push,
    administrators_require_pushed_requests,
    an_installation_may_require_pushed_requests,
    an_installation_may_switch_pushed_requests_off,
    the_metadata_name_the_endpoint,
);
