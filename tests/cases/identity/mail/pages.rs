//! Password resets and confirmations on the pages, without scripts.

use super::{CONFIRM, CONFIRM_NEW, NEW_PASSWORD, RESET, change_token, me, request_change, reset_token};
use serde_json::json;
use tests::{PASSWORD, Page, SharedWorld, on_every_shape};

fn expect_page(page: &Page, status: u16) {
    assert_eq!(page.reply.status, status, "{}", page.reply);
    let header = |name| page.reply.header(name);
    assert!(
        header("content-security-policy").contains("default-src 'none'"),
        "{}",
        page.reply
    );
    assert_eq!(header("cache-control"), "no-store");
    assert_eq!(header("referrer-policy"), "same-origin");
    assert_eq!(header("x-frame-options"), "DENY");
    page.expect_page_within_origin();
}

async fn a_browser_resets_a_forgotten_password(world: SharedWorld) {
    let ann = world.sign_up().await;
    let mut browser = world.browser();
    let sign_in = browser.open("/signin").await;
    let forgot = sign_in
        .links()
        .into_iter()
        .find(|link| link.path() == "/forgot")
        .unwrap();
    let form = browser.open(forgot.as_str()).await;
    expect_page(&form, 200);
    let sent = browser.submit(&form, &[("email", &ann.email)]).await;
    expect_page(&sent, 200);
    for path in ["/forgot", "/signin"] {
        let mut links = sent.links().into_iter();
        assert!(links.any(|link| link.path() == path), "{path}: {}", sent.reply);
    }
    // The page mails the link again, without another entry of the address.
    let again = browser
        .submit(&sent, &[("email", &sent.hidden("email").unwrap())])
        .await;
    expect_page(&again, 200);
    let link = world.mail(&ann.email, RESET, 2).await.link();
    for _ in 0..3 {
        // Opening the link does not use it up, because mail programs open links too.
        expect_page(&browser.open(link.as_str()).await, 200);
    }
    let form = browser.open(link.as_str()).await;
    let weak = browser.submit(&form, &[("new_password", "short")]).await;
    expect_page(&weak, 422);
    let done = browser.submit(&weak, &[("new_password", NEW_PASSWORD)]).await;
    expect_page(&done, 200);
    assert_eq!(browser.cookie("sid"), None, "a reset does not sign in");
    let next = done
        .links()
        .into_iter()
        .find(|link| link.path() == "/signin")
        .unwrap();
    let form = browser.open(next.as_str()).await;
    let fields = [("email", ann.email.as_str()), ("password", NEW_PASSWORD)];
    let signed_in = browser.submit(&form, &fields).await;
    assert_eq!(signed_in.reply.status, 303, "{}", signed_in.reply);
    // Nobody enters a password for a used link.
    expect_page(&browser.open(link.as_str()).await, 400);
}

async fn the_page_does_not_reveal_accounts(world: SharedWorld) {
    let (email, mut browser) = (world.fresh_email(), world.browser());
    let form = browser.open("/forgot").await;
    let unknown = browser.submit(&form, &[("email", &email)]).await;
    let sign_up = json!({ "email": email, "password": PASSWORD });
    world.anyone().post("/users").json(&sign_up).await.expect(201);
    let known = browser.submit(&form, &[("email", &email)]).await;
    assert!(known.visible_text().contains(&email), "{}", known.reply);
    assert_eq!(known.reply.comparable_parts(), unknown.reply.comparable_parts());
    let none = browser.submit(&form, &[("email", "ann")]).await;
    expect_page(&none, 422);
}

async fn a_browser_confirms_an_address(world: SharedWorld) {
    let ann = world.sign_up().await;
    let link = world.mail(&ann.email, CONFIRM, 1).await.link();
    let mut browser = ann.browser();
    let form = browser.open(link.as_str()).await;
    expect_page(&form, 200);
    assert_eq!(
        me(&ann).await["email_verified"],
        false,
        "opening the page changes nothing"
    );
    let token = form.hidden("token").unwrap();
    expect_page(&browser.submit(&form, &[("token", &token)]).await, 200);
    assert_eq!(me(&ann).await["email_verified"], true);
    expect_page(&browser.submit(&form, &[("token", &token)]).await, 422);
    let taken = world.sign_up().await.email;
    let token = change_token(&world, &ann, &taken, 1).await;
    expect_page(&browser.submit(&form, &[("token", &token)]).await, 409);
    let new = world.fresh_email();
    request_change(&ann, &new, PASSWORD).await.expect(202);
    let link = world.mail(&new, CONFIRM_NEW, 1).await.link();
    let form = browser.open(link.as_str()).await;
    let token = form.hidden("token").unwrap();
    expect_page(&browser.submit(&form, &[("token", &token)]).await, 200);
    world.log_in(&new, PASSWORD).await;
}

async fn cross_origin_forms_and_broken_links_change_nothing(world: SharedWorld) {
    let ann = world.sign_up().await;
    let token = reset_token(&world, &ann.email, 1).await;
    let mut browser = world.browser();
    for path in ["/reset", "/verify", "/reset?token=", "/verify?tok=x"] {
        expect_page(&browser.open(path).await, 400);
    }
    let forged = [("token", token.as_str()), ("new_password", NEW_PASSWORD)];
    let refused = world.anyone().post("/reset").form(&forged).await;
    assert_eq!(refused.status, 403, "{refused}");
    let reflected = browser.open("/reset?token=%22%3E%3Cb%3Ex").await;
    assert!(!reflected.reply.text().contains("<b>"), "{}", reflected.reply);
    world.anyone().login(&ann.email, PASSWORD).await.expect(200);
}

on_every_shape!(
    a_browser_resets_a_forgotten_password,
    the_page_does_not_reveal_accounts,
    a_browser_confirms_an_address,
    cross_origin_forms_and_broken_links_change_nothing,
);
