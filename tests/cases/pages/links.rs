//! The pages behind the links in mails.

use tests::{PASSWORD, Page, SharedWorld, on_every_shape};

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

async fn a_reload_needs_no_token_in_the_address(world: SharedWorld) {
    let user = world.sign_up().await;
    let reset = world.reset_token(&user.email, 1).await;
    let verify = world
        .mail(&user.email, "Confirm your e-mail address", 1)
        .await
        .token();
    let mut browser = world.browser();
    for (page, token, way_on) in [("/verify", &verify, "/account"), ("/reset", &reset, "/forgot")] {
        browser
            .open(&format!("{page}?token={token}"))
            .await
            .reply
            .expect(200);
        let form = browser.open(page).await;
        assert_eq!(form.hidden("token").as_ref(), Some(token), "{}", form.reply);
        let stranger = world.browser().open(page).await;
        expect_way_on(&stranger, 400, way_on);
        let fields = match page {
            "/reset" => [("new_password", "a new good password")],
            _ => [("password", PASSWORD)],
        };
        browser.submit(&form, &fields).await.reply.expect(200);
        expect_way_on(&browser.open(page).await, 400, way_on);
    }
}

on_every_shape!(
    a_link_that_does_not_work_leads_to_a_new_one,
    a_reload_needs_no_token_in_the_address,
);
