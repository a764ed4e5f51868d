//! The sign-in and consent pages: HTML forms bound to the browser that began the flow.

mod changed_users;
mod finished_flows;
mod lost_flows;
mod races;

use tests::{App, Browser, Page, SharedWorld, User, World, on_every_shape, on_one_process, parameter};

/// Opens the authorization request and follows redirects to the first page.
async fn first_page(browser: &mut Browser, app: &App, scope: &str) -> Page {
    follow(browser, &app.authorization().set("scope", scope).path()).await
}

/// Opens an address and follows redirects, except to another origin.
pub(super) async fn follow(browser: &mut Browser, address: &str) -> Page {
    let mut page = browser.open(address).await;
    while let Some(next) = page.location().filter(|next| next.origin() == page.url.origin()) {
        assert_eq!(page.reply.status, 303, "{}", page.reply);
        page = browser.open(next.as_str()).await;
    }
    page
}

/// Opens the consent page of a signed-in user.
async fn consent_page(browser: &mut Browser, app: &App, scope: &str) -> Page {
    let page = first_page(browser, app, scope).await;
    assert!(page.asks_for("decision"), "no consent page: {}", page.reply);
    page
}

async fn the_consent_page_names_the_app_its_scopes_and_its_redirect_target(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let words = consent_page(&mut user.browser(), &app, "posts:read posts:write")
        .await
        .visible_text();
    for expected in ["Some App", "posts:read", "posts:write", "app.test"] {
        assert!(words.contains(expected), "{expected} is not on the page: {words}");
    }
    assert!(!words.contains("profile:read"), "{words}");
}

async fn public_third_party_apps_always_ask_for_consent(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let mut browser = user.browser();
    for _ in 0..2 {
        let page = consent_page(&mut browser, &app, "posts:read").await;
        let page = browser.submit(&page, &[("decision", "allow")]).await;
        assert_eq!(page.reply.status, 303, "{}", page.reply);
        assert!(parameter(&page.location().unwrap(), "code").is_some());
    }
}

async fn confidential_apps_ask_once_per_set_of_scopes(world: SharedWorld) {
    let (user, app) = (world.user().await, world.app().kind("web").register());
    app.authorize(&mut user.browser(), &user, "posts:read profile:read")
        .await;
    let mut browser = user.browser();
    let remembered = first_page(&mut browser, &app, "posts:read").await;
    assert!(
        parameter(&remembered.location().unwrap(), "code").is_some(),
        "{}",
        remembered.reply
    );
    consent_page(&mut browser, &app, "posts:read posts:write").await;
    // Neither another user nor another app has this consent.
    let (other_user, other_app) = (world.user().await, world.app().kind("web").register());
    for (user, app) in [(&other_user, &app), (&user, &other_app)] {
        consent_page(&mut user.browser(), app, "posts:read").await;
        let silent = app
            .authorization()
            .set("scope", "posts:read")
            .set("prompt", "none");
        let redirect = user.browser().open(&silent.path()).await.location().unwrap();
        silent.expect_error_response(&world, &redirect, "consent_required");
    }
}

async fn a_request_for_more_names_the_new_scopes(world: SharedWorld) {
    let (user, app) = (world.user().await, world.app().kind("web").register());
    app.authorize(&mut user.browser(), &user, "posts:read profile:read")
        .await;
    let wider = "posts:read posts:write";
    let words = consent_page(&mut user.browser(), &app, wider)
        .await
        .visible_text();
    let (new, granted) = words.split_once("You have allowed it before").unwrap();
    assert!(
        new.contains("also be able to") && new.contains("posts:write"),
        "{words}"
    );
    assert!(!new.contains("posts:read"), "{words}");
    assert!(
        granted.contains("posts:read") && !granted.contains("posts:write"),
        "{words}"
    );
    assert!(!words.contains("profile:read"), "{words}");
}

async fn first_party_apps_skip_the_consent_page(world: SharedWorld) {
    let (user, app) = (world.user().await, world.app().first_party().register());
    let mut browser = user.browser();
    for scope in ["posts:read", "posts:read posts:write"] {
        let page = first_page(&mut browser, &app, scope).await;
        let redirect = page.location().unwrap_or_else(|| panic!("{}", page.reply));
        assert!(parameter(&redirect, "code").is_some(), "{redirect}");
    }
    let silent = app.authorization().set("prompt", "none");
    let redirect = browser.open(&silent.path()).await.location().unwrap();
    assert!(parameter(&redirect, "code").is_some(), "{redirect}");
    let asking = app.authorization().set("prompt", "consent");
    let page = follow(&mut browser, &asking.path()).await;
    assert!(page.asks_for("decision"), "no consent page: {}", page.reply);
    // The user finds the app among the connected ones, and can disconnect it.
    let tokens = app.tokens(&user, "posts:read").await;
    user.delete(&format!("/me/grants/{}", app.id)).await.expect(204);
    tokens.expect_revoked(&world, &app).await;
}

async fn denying_consent_returns_an_error_instead_of_a_code(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let request = app.authorization();
    let redirect = user
        .browser()
        .complete_flow(&request.path(), &user, "deny")
        .await
        .unwrap();
    request.expect_error_response(&world, &redirect, "access_denied");
    consent_page(&mut user.browser(), &app, "posts:read").await;
}

async fn finished_flows_cannot_be_resumed(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let mut browser = user.browser();
    let page = consent_page(&mut browser, &app, "posts:read").await;
    browser.submit(&page, &[("decision", "deny")]).await;
    let again = browser.submit(&page, &[("decision", "allow")]).await;
    assert_eq!(again.reply.status, 400, "{}", again.reply);
    again.expect_page_within_origin();
    let reopened = browser.open(page.url.as_str()).await;
    assert_eq!(reopened.reply.status, 400, "{}", reopened.reply);
}

async fn flows_are_bound_to_the_browser_that_began_them(world: SharedWorld) {
    let (user, victim) = (world.user().await, world.user().await);
    let app = world.app().register();
    let page = consent_page(&mut user.browser(), &app, "posts:read").await;
    let mut other = victim.browser();
    consent_page(&mut other, &app, "posts:read").await;
    let elsewhere = other.open(page.url.as_str()).await;
    assert_eq!(elsewhere.reply.status, 400, "{}", elsewhere.reply);
    elsewhere.expect_page_within_origin();
    let signed_out = world.browser().open(page.url.as_str()).await;
    assert_eq!(signed_out.reply.status, 400, "{}", signed_out.reply);
}

async fn forged_decisions_are_rejected(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let mut browser = user.browser();
    let page = consent_page(&mut browser, &app, "posts:read").await;
    let (flow, csrf) = (page.hidden("flow").unwrap(), page.hidden("csrf").unwrap());
    let action = page.url.join("/consent").unwrap();
    let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    for forged in [None, Some(""), Some("00000000-0000-4000-8000-000000000000")] {
        let mut fields = vec![field("flow", &flow), field("decision", "allow")];
        fields.extend(forged.map(|csrf| field("csrf", csrf)));
        let answer = browser.post(&action, &fields).await;
        assert_eq!(answer.reply.status, 403, "{}", answer.reply);
    }
    let fields = [("flow", flow.as_str()), ("decision", "allow"), ("csrf", &csrf)];
    let cookies = format!("sid={}; csrf={csrf}", user.sid);
    let evil = world
        .anyone()
        .cookies(&cookies)
        .post("/consent")
        .header("origin", "https://evil.test");
    evil.form(&fields).await.expect(403);
}

async fn a_wrong_password_shows_the_sign_in_page_again(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let mut browser = world.browser();
    let page = first_page(&mut browser, &app, "posts:read").await;
    assert!(page.asks_for("password"), "{}", page.reply);
    let wrong = browser
        .submit(&page, &[("email", &user.email), ("password", "not the password")])
        .await;
    assert!(
        wrong.asks_for("password"),
        "the form is shown again: {}",
        wrong.reply
    );
    assert_eq!(browser.cookie("sid"), None);
    let unknown = browser
        .submit(&wrong, &[("email", "nobody@example.org"), ("password", "not it")])
        .await;
    let shown = |page: &Page, email: &str| page.visible_text().replace(email, "…");
    assert_eq!(shown(&wrong, &user.email), shown(&unknown, "nobody@example.org"));
    let right = [("email", user.email.as_str()), ("password", &user.password)];
    let signed_in = browser.submit(&wrong, &right).await;
    assert_eq!(signed_in.reply.status, 303, "{}", signed_in.reply);
    assert!(browser.cookie("sid").is_some());
}

async fn request_values_are_escaped_in_pages(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let script = "\"'><script>alert(1)</script>";
    let request = app
        .authorization()
        .set("state", script)
        .set("scope", "posts:read");
    let mut browser = user.browser();
    let mut page = browser.open(&request.path()).await;
    while let Some(next) = page.location() {
        page = browser.open(next.as_str()).await;
    }
    let unknown = request.set("client_id", script).expect_error_page(&world).await;
    let mut fresh = world.browser();
    let sign_in = first_page(&mut fresh, &app, "posts:read").await;
    let refused = fresh
        .submit(&sign_in, &[("email", script), ("password", "not the password")])
        .await;
    for page in [page, unknown, refused] {
        assert!(!page.reply.text().contains("<script>alert"), "{}", page.reply);
    }
}

async fn pages_cannot_be_framed_cached_or_scripted_by_others(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let sign_in = first_page(&mut world.browser(), &app, "posts:read").await;
    let consent = consent_page(&mut user.browser(), &app, "posts:read").await;
    let error = app
        .authorization()
        .set("client_id", "nobody")
        .expect_error_page(&world)
        .await;
    for page in [sign_in, consent, error] {
        let policy = page.reply.header("content-security-policy").to_owned();
        assert!(
            policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe-inline"),
            "{policy}"
        );
        assert!(
            !policy.contains("form-action"),
            "browsers apply form-action to the redirect that follows: {policy}"
        );
        assert_eq!(page.reply.header("referrer-policy"), "same-origin");
        assert_eq!(page.reply.header("cache-control"), "no-store");
        assert_eq!(page.reply.header("x-content-type-options"), "nosniff");
        let html = page.reply.text();
        assert!(!html.contains("style=\""), "{html}");
        // All scripts are the issuer's own, and the policy allows no other.
        assert!(policy.ends_with("; script-src 'self'"), "{policy}");
        let scripts: Vec<&str> = html.split("<script").skip(1).collect();
        let own = [
            " src=\"/assets/pages.js?v=",
            " type=\"module\" src=\"/assets/passkeys.js?v=",
        ];
        let is_own = |(script, own): (&&str, &&str)| script.starts_with(*own);
        assert!((1..=own.len()).contains(&scripts.len()), "{html}");
        assert!(scripts.iter().zip(&own).all(is_own), "{html}");
    }
}

async fn pages_under_another_host_name_redirect_to_the_issuer_origin(world: SharedWorld) {
    let app = world.app().register();
    let path = app.authorization().path();
    let by_address = world.anyone().at(&world.base().replace("localhost", "127.0.0.1"));
    let reply = by_address.get(&path).await;
    assert!((300..400).contains(&reply.status), "{reply}");
    assert!(
        reply
            .header("location")
            .starts_with(&format!("{}/authorize?", world.base())),
        "{reply}"
    );
}

async fn consent_requires_the_initial_password_to_be_changed(world: World) {
    let app = world.app().register();
    let password = std::fs::read_to_string(world.data_dir().join("admin-password")).unwrap();
    let admin: User = world.log_in("admin@localhost", password.trim()).await;
    let (mut browser, request) = (admin.browser(), app.authorization());
    let flow = browser.complete_flow(&request.path(), &admin, "allow").await;
    let page = flow.expect_err("the app received a response");
    assert!(page.asks_for("new_password"), "{}", page.reply);
    // Another user can sign in, and the flow continues.
    let mut links = page.links().into_iter();
    let sign_in = links.find(|link| link.path() == "/signin").unwrap();
    let user = world.user().await;
    let flow = browser.complete_flow(sign_in.as_str(), &user, "allow").await;
    assert!(parameter(&flow.unwrap(), "code").is_some());
}

on_every_shape!(
    the_consent_page_names_the_app_its_scopes_and_its_redirect_target,
    public_third_party_apps_always_ask_for_consent,
    confidential_apps_ask_once_per_set_of_scopes,
    a_request_for_more_names_the_new_scopes,
    first_party_apps_skip_the_consent_page,
    denying_consent_returns_an_error_instead_of_a_code,
    finished_flows_cannot_be_resumed,
    flows_are_bound_to_the_browser_that_began_them,
    forged_decisions_are_rejected,
    a_wrong_password_shows_the_sign_in_page_again,
    request_values_are_escaped_in_pages,
    pages_cannot_be_framed_cached_or_scripted_by_others,
    pages_under_another_host_name_redirect_to_the_issuer_origin,
);

on_one_process!(consent_requires_the_initial_password_to_be_changed);
