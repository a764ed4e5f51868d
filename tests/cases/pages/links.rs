//! The pages behind the links in mails.

use tests::{Page, SharedWorld, on_every_shape};

fn expect_way_on(page: &Page, status: u16, path: &str) {
    assert_eq!(page.reply.status, status, "{}", page.reply);
    assert!(
        page.visible_text().contains("This link does not work"),
        "{}",
        page.reply
    );
    assert!(
        page.links().iter().any(|link| link.path() == path),
        "{path}: {}",
        page.reply
    );
}

async fn a_link_that_does_not_work_leads_to_a_new_one(world: SharedWorld) {
    let mut browser = world.browser();
    expect_way_on(&browser.open("/reset?token=").await, 400, "/forgot");
    expect_way_on(&browser.open("/verify?token=").await, 400, "/account");
    let form = browser.open("/reset?token=unknown").await;
    assert!(
        form.visible_text().contains("At least 8 characters"),
        "{}",
        form.reply
    );
    let reset = browser
        .submit(&form, &[("new_password", "a new good password")])
        .await;
    expect_way_on(&reset, 422, "/forgot");
    // Nobody enters a password for it.
    expect_way_on(&browser.open("/verify?token=unknown").await, 400, "/account");
    let csrf = browser.cookie("csrf").unwrap().to_owned();
    let fields = [
        ("csrf".to_owned(), csrf),
        ("token".to_owned(), "unknown".to_owned()),
    ];
    let verify = form.url.join("/verify").unwrap();
    expect_way_on(&browser.post(&verify, &fields).await, 422, "/account");
}

on_every_shape!(a_link_that_does_not_work_leads_to_a_new_one);
