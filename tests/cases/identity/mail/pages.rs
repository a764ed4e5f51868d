//! The same by the pages, without script: forms, and what the links lead to.

use super::{CONFIRM, CONFIRM_NEW, NEW_PASSWORD, RESET, ask_change, change_token, log_in, me, reset_token};
use tests::{PASSWORD, Page, World, on_every_shape};

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
    page.expect_dead_end();
}

async fn a_forgotten_password_is_replaced_in_a_browser(world: World) {
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
    let link = world.letter(&ann.email, RESET, 1).await.link();
    for _ in 0..3 {
        // Looking at it uses nothing up: mail programs look too.
        expect_page(&browser.open(link.as_str()).await, 200);
    }
    let form = browser.open(link.as_str()).await;
    let weak = browser.submit(&form, &[("new_password", "short")]).await;
    expect_page(&weak, 422);
    let done = browser.submit(&weak, &[("new_password", NEW_PASSWORD)]).await;
    expect_page(&done, 200);
    assert_eq!(browser.cookie("sid"), None, "a reset is no sign-in");
    let next = done
        .links()
        .into_iter()
        .find(|link| link.path() == "/signin")
        .unwrap();
    let form = browser.open(next.as_str()).await;
    let fields = [("email", ann.email.as_str()), ("password", NEW_PASSWORD)];
    let signed_in = browser.submit(&form, &fields).await;
    assert_eq!(signed_in.reply.status, 303, "{}", signed_in.reply);
    let again = browser.open(link.as_str()).await;
    let refused = browser
        .submit(&again, &[("new_password", "yet another password")])
        .await;
    expect_page(&refused, 422);
}

async fn the_page_tells_nobody_who_has_an_account(world: World) {
    let (ann, mut browser) = (world.sign_up().await, world.browser());
    let form = browser.open("/forgot").await;
    let known = browser.submit(&form, &[("email", &ann.email)]).await;
    let unknown = browser.submit(&form, &[("email", &world.fresh_email())]).await;
    assert_eq!(known.reply.anonymised(), unknown.reply.anonymised());
    let none = browser.submit(&form, &[("email", "ann")]).await;
    expect_page(&none, 422);
}

async fn an_address_is_confirmed_in_a_browser(world: World) {
    let ann = world.sign_up().await;
    let link = world.letter(&ann.email, CONFIRM, 1).await.link();
    let mut browser = world.browser();
    let form = browser.open(link.as_str()).await;
    expect_page(&form, 200);
    assert_eq!(me(&ann).await["email_verified"], false, "looking changes nothing");
    let token = form.hidden("token").unwrap();
    expect_page(&browser.submit(&form, &[("token", &token)]).await, 200);
    assert_eq!(me(&ann).await["email_verified"], true);
    expect_page(&browser.submit(&form, &[("token", &token)]).await, 422);
    let taken = world.sign_up().await.email;
    let token = change_token(&world, &ann, &taken, 1).await;
    expect_page(&browser.submit(&form, &[("token", &token)]).await, 409);
    let new = world.fresh_email();
    ask_change(&ann, &new, PASSWORD).await.expect(202);
    let link = world.letter(&new, CONFIRM_NEW, 1).await.link();
    let form = browser.open(link.as_str()).await;
    let token = form.hidden("token").unwrap();
    expect_page(&browser.submit(&form, &[("token", &token)]).await, 200);
    world.log_in(&new, PASSWORD).await;
}

async fn forms_from_elsewhere_and_broken_links_do_nothing(world: World) {
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
    log_in(&world.anyone(), &ann.email, PASSWORD).await.expect(200);
}

on_every_shape!(
    a_forgotten_password_is_replaced_in_a_browser,
    the_page_tells_nobody_who_has_an_account,
    an_address_is_confirmed_in_a_browser,
    forms_from_elsewhere_and_broken_links_do_nothing,
);
