//! `/signout` (OpenID Connect RP-Initiated Logout 1.0).

use super::super::authorization_endpoint::expect_nothing_of;
use super::{id_token, sign_in};
use jsonwebtoken::decode_header;
use serde_json::json;
use std::time::Duration;
use tests::{
    App, Browser, Page, Reply, Shape, SharedWorld, Signer, User, World, base64url, claims, eventually,
    on_every_shape,
};

const AFTER: &str = "https://app.test/bye?from=latchkey";

fn app(world: &World) -> App {
    world
        .app()
        .option(&["--post-logout-redirect-uri", AFTER])
        .register()
}

fn path(parameters: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    format!("/signout?{}", query.extend_pairs(parameters).finish())
}

async fn expect_signed_in(user: &User, is_signed_in: bool) {
    let status = user.get("/me").await.status;
    assert_eq!(status, if is_signed_in { 200 } else { 401 });
}

#[track_caller]
fn expect_return(page: &Page, uri: &str) {
    assert_eq!(page.reply.status, 303, "{}", page.reply);
    assert_eq!(page.reply.header("location"), uri);
}

async fn a_client_with_an_id_token_signs_the_user_out_at_once(world: SharedWorld) {
    let (user, app) = (world.user().await, app(&world));
    let mut browser = user.browser();
    let hint = id_token(&sign_in(&app, &mut browser, &user, "openid").await);
    let request = path(&[
        ("id_token_hint", &hint),
        ("post_logout_redirect_uri", AFTER),
        ("state", "a b&c"),
    ]);
    let page = browser.open(&request).await;
    expect_return(&page, "https://app.test/bye?from=latchkey&state=a+b%26c");
    assert_eq!(browser.cookie("sid"), None);
    expect_signed_in(&user, false).await;
    // The same request again: there is nothing to end, and the browser returns too.
    let page = browser.open(&request).await;
    expect_return(&page, "https://app.test/bye?from=latchkey&state=a+b%26c");
}

async fn an_expired_id_token_is_enough(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = (world.user().await, app(&world));
    let mut browser = user.browser();
    let hint = id_token(&sign_in(&app, &mut browser, &user, "openid").await);
    world.advance(Duration::from_secs(1800));
    let page = browser
        .open(&path(&[("id_token_hint", &hint), ("client_id", &app.id)]))
        .await;
    assert!(
        page.visible_text().contains("You are signed out"),
        "{}",
        page.reply
    );
    expect_signed_in(&user, false).await;
}

async fn without_an_id_token_of_the_session_the_user_confirms(world: SharedWorld) {
    let (user, other) = (world.user().await, world.user().await);
    let app = app(&world);
    let of_other = id_token(&app.tokens(&other, "openid").await);
    // Of the user, but of a session that still exists beside the one that would end.
    let of_elsewhere = id_token(&app.tokens(&user, "openid").await);
    for parameters in [
        vec![],
        vec![
            ("client_id", app.id.as_str()),
            ("post_logout_redirect_uri", AFTER),
            ("state", "x"),
        ],
        vec![
            ("id_token_hint", of_other.as_str()),
            ("post_logout_redirect_uri", AFTER),
            ("state", "x"),
        ],
        vec![
            ("id_token_hint", of_elsewhere.as_str()),
            ("post_logout_redirect_uri", AFTER),
            ("state", "x"),
        ],
        vec![("id_token_hint", "nonsense")],
        vec![("state", "x")],
    ] {
        let user = world.log_in(&user.email, &user.password).await;
        let mut browser = user.browser();
        let page = browser.open(&path(&parameters)).await;
        assert!(page.visible_text().contains(&user.email), "{}", page.reply);
        expect_signed_in(&user, true).await;
        let done = browser
            .submit(&page, &[("csrf", &page.hidden("csrf").unwrap())])
            .await;
        match parameters.len() {
            3 => expect_return(&done, "https://app.test/bye?from=latchkey&state=x"),
            _ => assert!(
                done.visible_text().contains("You are signed out"),
                "{}",
                done.reply
            ),
        }
        assert_eq!(browser.cookie("sid"), None);
        expect_signed_in(&user, false).await;
    }
}

async fn the_confirmation_cannot_be_forged(world: SharedWorld) {
    let user = world.user().await;
    let mut browser = user.browser();
    let page = browser.open("/signout").await;
    let forged = browser.submit(&page, &[("csrf", "another-token")]).await;
    assert_eq!(forged.reply.status, 403, "{}", forged.reply);
    expect_signed_in(&user, true).await;
}

/// Tokens with the claims of an ID token which the issuer did not sign: without a signature, and with that of
/// another key.
fn forged(id_token: &str) -> Vec<String> {
    let kid = decode_header(id_token).unwrap().kid.unwrap();
    let payload = id_token.split('.').nth(1).unwrap();
    let unsigned = [
        json!({ "alg": "none" }),
        json!({ "alg": "none", "typ": "JWT", "kid": kid }),
    ];
    let unsigned = unsigned.map(|header| format!("{}.{payload}.", base64url(header.to_string())));
    let signer = Signer::unknown("unknown");
    let claims = claims(id_token).to_string();
    let signed = [&signer.kid, &kid].map(|kid| {
        let header = json!({ "alg": "RS256", "typ": "JWT", "kid": kid });
        signer.sign(&header.to_string(), &claims)
    });
    [unsigned, signed].concat()
}

async fn the_browser_returns_to_registered_uris_only(world: SharedWorld) {
    let (user, app) = (world.user().await, app(&world));
    let other_app = world.app().register();
    let mut browser = user.browser();
    let hint = id_token(&sign_in(&app, &mut browser, &user, "openid").await);
    let added = format!("{AFTER}&extra=1");
    let invalid = [
        // Not registered; that of a login; of another client; without a client; of an unknown client.
        vec![
            ("id_token_hint", hint.as_str()),
            ("post_logout_redirect_uri", "https://evil.test/"),
        ],
        vec![
            ("id_token_hint", hint.as_str()),
            ("post_logout_redirect_uri", app.redirect_uri.as_str()),
        ],
        vec![
            ("client_id", other_app.id.as_str()),
            ("post_logout_redirect_uri", AFTER),
        ],
        vec![
            ("id_token_hint", hint.as_str()),
            ("client_id", other_app.id.as_str()),
        ],
        vec![
            ("id_token_hint", hint.as_str()),
            ("post_logout_redirect_uri", &added),
        ],
        vec![("post_logout_redirect_uri", AFTER)],
        vec![("client_id", "nobody"), ("post_logout_redirect_uri", AFTER)],
        vec![("client_id", app.id.as_str()), ("client_id", app.id.as_str())],
    ];
    for parameters in invalid {
        let page = browser.open(&path(&parameters)).await;
        assert_eq!(page.reply.status, 400, "{parameters:?}: {}", page.reply);
        page.expect_page_within_origin();
        expect_signed_in(&user, true).await;
    }
    world.cli(&["clients", "disable", "--json", &app.id], "");
    let request = path(&[("client_id", &app.id), ("post_logout_redirect_uri", AFTER)]);
    eventually("the disabled client is accepted", async || {
        user.browser().open(&request).await.reply.status == 400
    })
    .await;
}

async fn post_from_another_site(world: &World, fields: &[(&str, &str)]) -> Reply {
    let posted = world.anyone().post("/signout").form(fields);
    let posted = posted
        .header("origin", "https://app.test")
        .header("sec-fetch-site", "cross-site");
    posted.await.expect(303)
}

/// The page is in the language of the request, and what the user confirms is the posted request.
async fn a_posted_request_is_confirmed_in_its_language(world: SharedWorld) {
    let (user, app) = (world.user().await, app(&world));
    let fields = [
        ("client_id", app.id.as_str()),
        ("post_logout_redirect_uri", AFTER),
        ("state", "a secret state"),
        ("ui_locales", "fr de-CH"),
    ];
    let posted = post_from_another_site(&world, &fields).await;
    let next = posted.header("location");
    expect_nothing_of(&fields, next);
    let mut browser = user.browser();
    browser.set_cookie("language", &posted.cookie("language"));
    let page = browser.open(next).await;
    assert!(page.visible_text().contains("Abmelden?"), "{}", page.reply);
    let csrf = page.hidden("csrf").unwrap();
    let done = browser.submit(&page, &[("csrf", &csrf)]).await;
    expect_nothing_of(&[("csrf", csrf.as_str())], done.reply.header("location"));
    expect_return(&done, "https://app.test/bye?from=latchkey&state=a+secret+state");
    expect_signed_in(&user, false).await;
}

/// The user is asked, and the browser returns nowhere, whatever else the request says.
async fn an_id_token_that_cannot_be_read_leads_to_the_page_that_asks(world: SharedWorld) {
    let (user, app) = (world.user().await, app(&world));
    let mut browser = user.browser();
    let hint = id_token(&sign_in(&app, &mut browser, &user, "openid").await);
    let mut unreadable = forged(&hint);
    unreadable.extend([format!("{hint}A"), "nonsense".to_owned()]);
    for hint in &unreadable {
        for client_id in [None, Some(app.id.as_str())] {
            let user = world.log_in(&user.email, &user.password).await;
            let mut browser = user.browser();
            let mut request = vec![
                ("id_token_hint", hint.as_str()),
                ("post_logout_redirect_uri", AFTER),
            ];
            request.extend(client_id.map(|id| ("client_id", id)));
            let page = browser.open(&path(&request)).await;
            page.expect_page_within_origin();
            assert!(page.visible_text().contains(&user.email), "{}", page.reply);
            expect_signed_in(&user, true).await;
            let csrf = page.hidden("csrf").unwrap();
            let done = browser.submit(&page, &[("csrf", &csrf)]).await;
            done.expect_page_within_origin();
            assert!(
                done.visible_text().contains("You are signed out"),
                "{}",
                done.reply
            );
            expect_signed_in(&user, false).await;
            // Without a session there is nothing to ask.
            let page = browser.open(&path(&request)).await;
            assert_eq!(page.reply.status, 200, "{}", page.reply);
            page.expect_page_within_origin();
        }
    }
}

/// A browser sends no `SameSite=Lax` cookie with a form from another site.
async fn a_form_of_another_site_continues_by_get(world: SharedWorld) {
    let (user, app) = (world.user().await, app(&world));
    let mut browser = user.browser();
    let hint = id_token(&sign_in(&app, &mut browser, &user, "openid").await);
    let fields = [
        ("id_token_hint", hint.as_str()),
        ("post_logout_redirect_uri", AFTER),
    ];
    let posted = post_from_another_site(&world, &fields).await;
    let next = posted.header("location");
    expect_nothing_of(&fields, next);
    expect_signed_in(&user, true).await;
    expect_return(&browser.open(next).await, AFTER);
    expect_signed_in(&user, false).await;
    // Without a client; too long for a URL.
    let long = "x".repeat(8 * 1024);
    for fields in [
        [("post_logout_redirect_uri", AFTER)].as_slice(),
        &[("state", long.as_str())],
        &[fields[0], fields[1], ("state", long.as_str())],
    ] {
        let refused = world.anyone().post("/signout").form(fields).await;
        assert_eq!(refused.status, 400, "{refused}");
    }
}

async fn signing_out_ends_what_a_logout_ends(world: SharedWorld) {
    let user = world.user().await;
    let own = world
        .app()
        .first_party()
        .option(&["--post-logout-redirect-uri", AFTER])
        .register();
    let third_party = world.app().register();
    let mut browser: Browser = user.browser();
    let of_own = sign_in(&own, &mut browser, &user, "openid profile:read").await;
    let of_third_party = sign_in(&third_party, &mut browser, &user, "openid profile:read").await;
    let hint = id_token(&of_own);
    browser.open(&path(&[("id_token_hint", &hint)])).await;
    of_own.expect_revoked(&world, &own).await;
    world.expect_accepted(&of_third_party.access).await;
}

async fn registered_uris_are_safe(world: SharedWorld) {
    for uri in [
        "http://app.test/bye",
        "javascript:alert(1)",
        "https://app.test/*",
        "https://app.test/bye#x",
    ] {
        let output = world.run(
            &[
                "clients",
                "create",
                "--id",
                "unsafe",
                "--name",
                "Unsafe",
                "--type",
                "web",
                "--scope",
                "openid",
                "--redirect-uri",
                "https://app.test/cb",
                "--post-logout-redirect-uri",
                uri,
            ],
            "",
        );
        assert!(!output.status.success(), "{uri}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(
            message.contains("redirect URI") && message.contains(uri),
            "{message}"
        );
    }
}

on_every_shape!(
    a_client_with_an_id_token_signs_the_user_out_at_once,
    an_expired_id_token_is_enough,
    without_an_id_token_of_the_session_the_user_confirms,
    the_confirmation_cannot_be_forged,
    the_browser_returns_to_registered_uris_only,
    an_id_token_that_cannot_be_read_leads_to_the_page_that_asks,
    a_form_of_another_site_continues_by_get,
    a_posted_request_is_confirmed_in_its_language,
    signing_out_ends_what_a_logout_ends,
    registered_uris_are_safe,
);
