//! `/signup`.

use super::expect_words;
use serde_json::json;
use std::time::Duration;
use tests::{App, CALLBACK, PASSWORD, Page, Shape, SharedWorld, Tokens, World, on_every_shape};

const FLAG: &str = "--sign-up";

/// The link to the sign-up page.
fn link(page: &Page) -> Option<url::Url> {
    page.links().into_iter().find(|link| link.path() == "/signup")
}

async fn a_stranger_signs_up_inside_a_flow(world: SharedWorld) {
    let app = world.app().register();
    let request = app.authorization();
    let mut browser = world.browser();
    let to_sign_in = browser.open(&request.path()).await.location().unwrap();
    let sign_in = browser.open(to_sign_in.as_str()).await;
    let form = browser.open(link(&sign_in).unwrap().as_str()).await;
    for page in [&sign_in, &form] {
        expect_words(page, 200, "Afterwards you continue to Some App");
    }
    let email = world.fresh_email();
    let created = browser
        .submit(&form, &[("email", &email), ("password", PASSWORD)])
        .await;
    assert_eq!(created.reply.status, 303, "{}", created.reply);
    let consent = browser.open(created.location().unwrap().as_str()).await;
    assert!(consent.asks_for("decision"), "{}", consent.reply);
    let allowed = browser.submit(&consent, &[("decision", "allow")]).await;
    let redirect = allowed.location().unwrap();
    assert!(redirect.as_str().starts_with(CALLBACK), "{redirect}");
    let grant = tests::Grant::parse(redirect, request.verifier.clone());
    let tokens = Tokens::parse(app.exchange(&world.anyone(), &grant).await);
    world.expect_accepted(&tokens.access).await;
    world.confirm_email(&email).await;
    let user = world.log_in(&email, PASSWORD).await;
    let me = user.get("/me").await.expect(200).json();
    assert_eq!(
        (&me["role"], &me["email_verified"]),
        (&json!("user"), &json!(true))
    );
}

async fn a_stranger_signs_up_outside_a_flow(world: SharedWorld) {
    let mut browser = world.browser();
    let sign_in = browser.open("/signin").await;
    let form = browser.open(link(&sign_in).unwrap().as_str()).await;
    form.expect_page_within_origin();
    let email = world.fresh_email();
    let created = browser
        .submit(&form, &[("email", &email), ("password", PASSWORD)])
        .await;
    let signed_in = browser.open(created.location().unwrap().as_str()).await;
    let next = browser.open(signed_in.location().unwrap().as_str()).await;
    assert!(
        next.url.path() == "/account" && next.visible_text().contains(&email),
        "{}",
        next.reply
    );
}

async fn unacceptable_input_is_shown_again_with_the_reason(world: SharedWorld) {
    let ann = world.sign_up().await;
    let mut browser = world.browser();
    let mut form = browser.open("/signup").await;
    let long = "long ".repeat(30);
    let email = world.fresh_email();
    for (email, password, status, reason) in [
        ("ann", PASSWORD, 422, "This is not a valid e-mail address."),
        (&email, "short", 422, "at least 8 characters"),
        (&email, &long, 422, "at most 128 characters"),
        (&email, "password1", 422, "Choose another password"),
        // In capitals, because the end of the run looks for passwords in the database, which has the address.
        (
            &email,
            &format!("{}1", email.to_uppercase()),
            422,
            "Too like your e-mail address",
        ),
        (
            &ann.email,
            "another good password",
            409,
            "An account with this address already exists.",
        ),
    ] {
        form = browser
            .submit(&form, &[("email", email), ("password", password)])
            .await;
        assert_eq!(form.reply.status, status, "{email} {password}: {}", form.reply);
        form.expect_page_within_origin();
        assert!(form.visible_text().contains(reason), "{reason}: {}", form.reply);
        assert!(
            form.reply.text().contains(&format!("value=\"{email}\"")),
            "{}",
            form.reply
        );
    }
    // The last reason asks for a sign-in or a new password.
    let links: Vec<_> = form.links().iter().map(|link| link.path().to_owned()).collect();
    for path in ["/signin", "/forgot"] {
        assert!(links.iter().any(|link| link == path), "{path}: {}", form.reply);
    }
    let created = browser
        .submit(&form, &[("email", &email), ("password", PASSWORD)])
        .await;
    assert_eq!(created.reply.status, 303, "{}", created.reply);
}

/// The account of the former session does not lend its session to the new one.
async fn signing_up_ends_the_former_session_of_the_browser(world: SharedWorld) {
    let ann = world.sign_up().await;
    let mut browser = ann.browser();
    let form = browser.open("/signup").await;
    let again = browser
        .submit(&form, &[("email", &world.fresh_email()), ("password", "short")])
        .await;
    for page in [&form, &again] {
        let words = page.visible_text();
        let present = format!("You are signed in as {} . Continue with this account", ann.email);
        assert!(words.contains(&present), "{words}");
        let mut links = page.links().into_iter();
        assert!(links.any(|link| link.path() == "/account"), "{}", page.reply);
    }
    let created = browser
        .submit(&again, &[("email", &world.fresh_email()), ("password", PASSWORD)])
        .await;
    assert_eq!(created.reply.status, 303, "{}", created.reply);
    assert_ne!(browser.cookie("sid"), Some(ann.sid.as_str()));
    ann.get("/me").await.expect_error(401, "unauthenticated");
}

/// Only the consent page shows the name that an app chose itself.
async fn an_app_that_registered_itself_is_not_named(shape: Shape) {
    let world = World::builder(shape).flag("--client-registration", "open");
    let world = world.start().await;
    let metadata = json!({
        "client_name": "Your bank", "redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none",
    });
    let registered = world.anyone().post("/register").json(&metadata).await;
    let app = App {
        id: registered.expect(201).json()["client_id"]
            .as_str()
            .unwrap()
            .to_owned(),
        secret: None,
        redirect_uri: CALLBACK.to_owned(),
    };
    let mut browser = world.browser();
    let to_sign_in = browser.open(&app.authorization().path()).await.location();
    let sign_in = browser.open(to_sign_in.unwrap().as_str()).await;
    let sign_up = browser.open(link(&sign_in).unwrap().as_str()).await;
    for page in [&sign_in, &sign_up] {
        assert!(!page.visible_text().contains("Your bank"), "{}", page.reply);
    }
}

/// Otherwise the page would double the limit of a network.
async fn the_page_shares_the_limit_of_a_network_with_the_api(shape: Shape) {
    let world = World::builder(shape).flag("--rate-limits", "on").clock();
    let world = world.start().await;
    let sign_up = |email: &str| {
        let body = json!({ "email": email, "password": PASSWORD });
        world.anyone().post("/users").json(&body)
    };
    let mut browser = world.browser();
    let mut form = browser.open("/signup").await;
    for _ in 0..100 {
        sign_up(&world.fresh_email()).await.expect(201);
    }
    let email = world.fresh_email();
    let fields = [("email", email.as_str()), ("password", PASSWORD)];
    form = browser.submit(&form, &fields).await;
    assert_eq!(form.reply.status, 429, "{}", form.reply);
    assert_eq!(form.reply.header("retry-after"), "900");
    assert_eq!(browser.cookie("sid"), None);
    world.advance(Duration::from_secs(15 * 60));
    let created = browser.submit(&form, &fields).await;
    assert_eq!(created.reply.status, 303, "{}", created.reply);
}

async fn an_operator_turns_sign_up_off(shape: Shape) {
    let world = World::builder(shape).flag(FLAG, "off").start().await;
    let anyone = world.anyone();
    anyone.get("/signup").await.expect_error(404, "not_found");
    let sign_in = world.browser().open("/signin").await;
    assert_eq!(link(&sign_in), None);
    let body = json!({ "email": world.fresh_email(), "password": PASSWORD });
    let refused = anyone
        .post("/users")
        .json(&body)
        .await
        .expect_error(403, "forbidden");
    assert!(refused.text().contains("ask an administrator"), "{refused}");
    let admin = world.user_with_role("admin").await;
    admin.post("/admin/users").json(&body).await.expect(201);
}

on_every_shape!(
    a_stranger_signs_up_inside_a_flow,
    a_stranger_signs_up_outside_a_flow,
    unacceptable_input_is_shown_again_with_the_reason,
    signing_up_ends_the_former_session_of_the_browser,
    an_app_that_registered_itself_is_not_named,
    the_page_shares_the_limit_of_a_network_with_the_api,
    an_operator_turns_sign_up_off,
);
