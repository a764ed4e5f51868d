//! Decisions on a page that named another user than the one who is signed in meanwhile.

use super::{consent_page, follow};
use tests::{App, Browser, Page, SharedWorld, Tokens, User, claims, on_every_shape, parameter};

/// Signs a user in on another tab of the browser, by the sign-in form.
async fn sign_in_on_another_tab(browser: &mut Browser, page: &Page, user: &User) {
    let fields = [
        ("email", user.email.clone()),
        ("password", user.password.clone()),
        ("csrf", page.hidden("csrf").unwrap()),
    ];
    let fields = fields.map(|(name, value)| (name.to_owned(), value));
    let signed_in = browser.post(&page.url.join("/signin").unwrap(), &fields).await;
    assert_eq!(signed_in.reply.status, 303, "{}", signed_in.reply);
}

/// Expects the page again, which names this user, and no consent of the user.
#[track_caller]
fn expect_page_for(page: &Page, user: &User) {
    assert_eq!(page.reply.status, 409, "{}", page.reply);
    page.expect_page_within_origin();
    assert!(page.asks_for("decision"), "{}", page.reply);
    let words = page.visible_text();
    assert!(
        words.contains(&user.email) && words.contains("Another account"),
        "{words}"
    );
}

async fn expect_no_grants(user: &User) {
    let grants = user.get("/me/grants").await.expect(200).text();
    assert!(!grants.contains("app-"), "{grants}");
}

/// The page for Alice, in a browser in which Bob has signed in since.
async fn page_of_another(app: &App, alice: &User, bob: &User) -> (Browser, Page) {
    let mut browser = alice.browser();
    let request = app
        .authorization()
        .set("scope", "openid posts:read")
        .set("prompt", "consent");
    let page = follow(&mut browser, &request.path()).await;
    assert!(page.visible_text().contains(&alice.email), "{}", page.reply);
    sign_in_on_another_tab(&mut browser, &page, bob).await;
    (browser, page)
}

async fn a_decision_belongs_to_the_user_whom_the_page_named(world: SharedWorld) {
    let apps = [
        world.app().register(),
        world.app().kind("web").register(),
        world.app().first_party().register(),
    ];
    for app in apps {
        for decision in ["allow", "deny"] {
            let (alice, bob) = (world.user().await, world.user().await);
            let (mut browser, page) = page_of_another(&app, &alice, &bob).await;
            let answer = browser.submit(&page, &[("decision", decision)]).await;
            expect_page_for(&answer, &bob);
            alice.get("/me").await.expect_error(401, "unauthenticated");
            expect_no_grants(&world.log_in(&bob.email, &bob.password).await).await;
            // Bob decides on the page that names him.
            let decided = browser.submit(&answer, &[("decision", decision)]).await;
            let redirect = decided.location().unwrap();
            assert_eq!(
                parameter(&redirect, "code").is_some(),
                decision == "allow",
                "{redirect}"
            );
        }
    }
}

/// Also if Bob has consented before, so that he would see no page.
async fn a_remembered_consent_of_another_user_is_not_used(world: SharedWorld) {
    let (alice, bob) = (world.user().await, world.user().await);
    let app = world.app().kind("web").register();
    app.authorize(&mut bob.browser(), &bob, "posts:read").await;
    let mut browser = alice.browser();
    let page = consent_page(&mut browser, &app, "posts:read").await;
    sign_in_on_another_tab(&mut browser, &page, &bob).await;
    expect_page_for(&browser.submit(&page, &[("decision", "allow")]).await, &bob);
}

async fn a_form_that_names_no_user_decides_nothing(world: SharedWorld) {
    let (alice, app) = world.user_and_app().await;
    let mut browser = alice.browser();
    let page = consent_page(&mut browser, &app, "posts:read").await;
    for user in ["", "0", "x"] {
        let answer = browser
            .submit(&page, &[("decision", "allow"), ("user", user)])
            .await;
        expect_page_for(&answer, &alice);
    }
    expect_no_grants(&alice).await;
}

/// The user confirmed the password on another tab. The page still names them.
async fn the_same_user_decides_after_another_sign_in(world: SharedWorld) {
    let (alice, app) = world.user_and_app().await;
    let mut browser = alice.browser();
    let request = app.authorization().set("scope", "posts:read");
    let page = follow(&mut browser, &request.path()).await;
    sign_in_on_another_tab(&mut browser, &page, &alice).await;
    let allowed = browser.submit(&page, &[("decision", "allow")]).await;
    let grant = tests::Grant::parse(allowed.location().unwrap(), request.verifier.clone());
    let tokens = Tokens::parse(app.exchange(&world.anyone(), &grant).await);
    assert_eq!(claims(&tokens.access)["sub"], alice.id.to_string());
}

/// A user who finds somebody else signed in can use another account on the way to the app.
async fn another_account_can_be_used_on_the_way(world: SharedWorld) {
    let (alice, bob, app) = (world.user().await, world.user().await, world.app().register());
    let mut browser = alice.browser();
    let request = app.authorization().set("scope", "posts:read");
    let page = follow(&mut browser, &request.path()).await;
    let not_you = page.links().into_iter().find(|link| link.path() == "/signin");
    let form = browser.open(not_you.unwrap().as_str()).await;
    let fields = [("email", bob.email.as_str()), ("password", &bob.password)];
    let signed_in = browser.submit(&form, &fields).await;
    let page = follow(&mut browser, signed_in.location().unwrap().as_str()).await;
    assert!(page.visible_text().contains(&bob.email), "{}", page.reply);
    let allowed = browser.submit(&page, &[("decision", "allow")]).await;
    let grant = tests::Grant::parse(allowed.location().unwrap(), request.verifier.clone());
    let tokens = Tokens::parse(app.exchange(&world.anyone(), &grant).await);
    assert_eq!(claims(&tokens.access)["sub"], bob.id.to_string());
}

on_every_shape!(
    another_account_can_be_used_on_the_way,
    a_decision_belongs_to_the_user_whom_the_page_named,
    a_remembered_consent_of_another_user_is_not_used,
    a_form_that_names_no_user_decides_nothing,
    the_same_user_decides_after_another_sign_in,
);
