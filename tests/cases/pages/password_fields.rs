//! The fields for passwords, as browsers and password managers see them.

use tests::{PASSWORD, SharedWorld, on_every_shape};

/// The tags of the input fields of a page.
fn fields(html: &str) -> Vec<&str> {
    let fields = html.split("<input ").skip(1);
    fields.map(|rest| rest.split('>').next().unwrap()).collect()
}

async fn password_managers_recognize_the_fields(world: SharedWorld) {
    let mut stranger = world.browser();
    let token = world.reset_token(&world.sign_up().await.email, 1).await;
    let mut browser = world.user().await.browser();
    let unconfirmed = world.sign_up().await;
    let mail = world
        .mail(&unconfirmed.email, "Confirm your e-mail address", 1)
        .await;
    let ann = world.user().await;
    let mut of_ann = ann.browser();
    let form = of_ann.open("/account/email").await;
    let new = world.fresh_email();
    of_ann.submit(&form, &[("email", &new)]).await;
    let change = world.mail(&new, "Confirm your new e-mail address", 1).await;
    let change = stranger.open(change.link().as_str()).await;
    // The owner of a mistyped address does not learn that of the account.
    assert!(!change.reply.text().contains(&ann.email), "{}", change.reply);
    let named = format!("autocomplete=\"username\" value=\"{new}\"");
    assert!(change.reply.text().contains(&named), "{}", change.reply);
    let pages = [
        ("current-password", "username", change),
        (
            "current-password",
            "username webauthn",
            stranger.open("/signin").await,
        ),
        ("new-password", "username", stranger.open("/signup").await),
        (
            "new-password",
            "username",
            stranger.open(&format!("/reset?token={token}")).await,
        ),
        ("new-password", "username", browser.open("/password").await),
        (
            "current-password",
            "username",
            stranger.open(mail.link().as_str()).await,
        ),
    ];
    for (kind, account, page) in pages {
        let (path, html) = (page.url.path(), page.reply.text());
        let (passwords, others): (Vec<_>, Vec<_>) = fields(&html)
            .into_iter()
            .partition(|field| field.contains("type=\"password\""));
        assert!(!passwords.is_empty(), "{path}: {html}");
        for field in passwords {
            assert!(
                field.contains(&format!("autocomplete=\"{kind}\"")),
                "{path}: {field}"
            );
            // A browser would cut a longer password without a word, and the user could not sign in with the
            // whole of it.
            assert!(!field.contains("maxlength"), "{path}: {field}");
        }
        let names_account = others
            .iter()
            .any(|field| field.contains(&format!("autocomplete=\"{account}\"")));
        assert!(names_account, "{path}: {html}");
    }
}

async fn a_password_that_is_too_long_is_refused(world: SharedWorld) {
    let mut browser = world.browser();
    let form = browser.open("/signup").await;
    let email = world.fresh_email();
    let too_long = PASSWORD.repeat(5);
    assert!(too_long.len() > 128);
    let refused = browser
        .submit(&form, &[("email", &email), ("password", &too_long)])
        .await;
    assert_eq!(refused.reply.status, 422, "{}", refused.reply);
    assert!(
        refused.visible_text().contains("at most 128 characters"),
        "{}",
        refused.reply
    );
}

on_every_shape!(
    password_managers_recognize_the_fields,
    a_password_that_is_too_long_is_refused,
);
