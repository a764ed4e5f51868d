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
    // Nobody enters a password for it.
    expect_way_on(&browser.open("/reset?token=unknown").await, 400, "/forgot");
    expect_way_on(&browser.open("/verify?token=unknown").await, 400, "/account");
    let form = browser.open("/signin").await;
    let csrf = browser.cookie("csrf").unwrap().to_owned();
    for (page, way_on) in [("/reset", "/forgot"), ("/verify", "/account")] {
        let fields = [
            ("csrf", &*csrf),
            ("token", "unknown"),
            ("new_password", "a new good password"),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let posted = browser.post(&form.url.join(page).unwrap(), &fields).await;
        expect_way_on(&posted, 422, way_on);
    }
}

on_every_shape!(a_link_that_does_not_work_leads_to_a_new_one);
