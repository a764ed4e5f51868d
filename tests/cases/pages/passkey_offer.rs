//! The offer of a passkey to a user who signs in with a password on the way to an app.

use super::{expect_redirect, expect_words};
use serde_json::json;
use tests::{
    Browser, CALLBACK, PASSWORD, Page, Passkey, PasskeyOptions, SharedWorld, User, World, on_every_shape,
};

const OFFER: &str = "Next time, sign in faster, without your password.";

/// The consent page of a user who signs in with the password for an app.
async fn consent(world: &World, user: &User) -> (Browser, Page) {
    let app = world.app().register();
    let mut browser = world.browser();
    let page = browser.open(&app.authorization().path()).await;
    let page = browser.open(page.location().unwrap().as_str()).await;
    let fields = [("email", user.email.as_str()), ("password", PASSWORD)];
    let signed_in = browser.submit(&page, &fields).await;
    expect_redirect(&signed_in, "/consent");
    let consent = browser.open(signed_in.location().unwrap().as_str()).await;
    (browser, consent)
}

/// The target of the page's link to this path.
fn link(page: &Page, path: &str) -> String {
    let links = page.links();
    let link = links.iter().find(|link| link.path() == path);
    link.unwrap_or_else(|| panic!("no link to {path}: {}", page.reply))
        .to_string()
}

async fn a_user_adds_a_passkey_on_the_way_to_an_app(world: SharedWorld) {
    let user = world.user().await;
    let (mut browser, consent) = consent(&world, &user).await;
    expect_words(&consent, 200, OFFER);
    let page = browser.open(&link(&consent, "/account/passkeys")).await;
    expect_words(&page, 200, "Continue without a passkey");
    expect_words(&browser.open(&link(&page, "/consent")).await, 200, OFFER);

    let passkey = Passkey::es256(&PasskeyOptions::of_page(&page), world.base());
    let credential = passkey.registration(&PasskeyOptions::of_page(&page));
    let fields = [("credential", credential.as_str()), ("name", "")];
    let refused = browser.submit(&page, &fields).await;
    expect_words(&refused, 422, "Continue without a passkey");
    let credential = passkey.registration(&PasskeyOptions::of_page(&refused));
    let fields = [("credential", credential.as_str()), ("name", "Phone")];
    let added = browser.submit(&refused, &fields).await;
    expect_redirect(&added, "/consent");
    let consent = browser.open(added.location().unwrap().as_str()).await;
    expect_words(&consent, 200, "The passkey is added.");
    assert!(!consent.visible_text().contains(OFFER), "{}", consent.reply);
    let allowed = browser.submit(&consent, &[("decision", "allow")]).await;
    let to = allowed.location().unwrap();
    assert!(to.as_str().starts_with(CALLBACK), "{to}");
    assert!(to.query_pairs().any(|(name, _)| name == "code"), "{to}");
}

async fn a_passkey_is_offered_right_after_a_sign_in_with_the_password_alone(world: SharedWorld) {
    let owner = world.user().await;
    world.add_passkey(&mut owner.browser()).await;
    let (_, page) = consent(&world, &owner).await;
    assert!(!page.visible_text().contains(OFFER), "{}", page.reply);

    let user = world.user().await;
    let (mut browser, page) = consent(&world, &user).await;
    let offered = link(&page, "/account/passkeys");
    world.age_sign_ins_of(&user).await;
    let later = browser.open(page.url.as_str()).await;
    expect_words(&later, 200, "Some App");
    assert!(!later.visible_text().contains(OFFER), "{}", later.reply);
    expect_redirect(&browser.open(&offered).await, "/consent");
}

async fn a_user_who_connected_a_device_is_offered_a_passkey(world: SharedWorld) {
    let app = world.app().kind("native").option(&["--device"]).register();
    let (user, owner) = (world.user().await, world.user().await);
    world.add_passkey(&mut owner.browser()).await;
    for (user, decision, is_offered) in [
        (&user, "deny", false),
        (&user, "allow", true),
        (&owner, "allow", false),
    ] {
        let device = app.device(&world.anyone(), "posts:read").await;
        let mut browser = user.browser();
        let page = browser.enter_user_code(&device.user_code).await;
        let done = browser.submit(&page, &[("decision", decision)]).await;
        assert_eq!(done.reply.status, 200, "{}", done.reply);
        assert_eq!(done.visible_text().contains(OFFER), is_offered, "{}", done.reply);
        if is_offered {
            let page = browser.open(&link(&done, "/account/passkeys")).await;
            expect_words(&page, 200, "Add a passkey");
        }
    }
}

/// The page was opened within ten minutes after the sign-in, and its form is submitted later.
async fn a_passkey_that_comes_too_late_leads_on_to_the_app(world: SharedWorld) {
    let user = world.user().await;
    let (mut browser, consent) = consent(&world, &user).await;
    let page = browser.open(&link(&consent, "/account/passkeys")).await;
    let passkey = Passkey::es256(&PasskeyOptions::of_page(&page), world.base());
    let credential = passkey.registration(&PasskeyOptions::of_page(&page));
    world.age_sign_ins_of(&user).await;
    let fields = [("credential", credential.as_str()), ("name", "Phone")];
    let late = browser.submit(&page, &fields).await;
    expect_redirect(&late, "/consent");
    let consent = browser.open(late.location().unwrap().as_str()).await;
    expect_words(&consent, 200, "Some App");
    let passkeys = user.get("/me/passkeys").await.expect(200).json();
    assert_eq!(passkeys["items"], json!([]), "{passkeys}");
}

/// Only the form of an authorization flow leads away from the account.
async fn another_text_in_place_of_a_flow_leads_to_the_account(world: SharedWorld) {
    let mut browser = world.user().await.browser();
    for flow in ["", "//evil.example", "device:", "/admin/keys"] {
        let flow: String = form_urlencoded::byte_serialize(flow.as_bytes()).collect();
        let page = browser.open(&format!("/account/passkeys?flow={flow}")).await;
        expect_words(&page, 200, "Back to your account");
    }
}

on_every_shape!(
    a_user_adds_a_passkey_on_the_way_to_an_app,
    a_passkey_is_offered_right_after_a_sign_in_with_the_password_alone,
    a_user_who_connected_a_device_is_offered_a_passkey,
    a_passkey_that_comes_too_late_leads_on_to_the_app,
    another_text_in_place_of_a_flow_leads_to_the_account,
);
