//! The first proof of a mailbox. Anybody may enter an address for an account, so the link alone confirms no
//! address: the session or the password of the account shows that whoever reads the mail also has the
//! account. A reset proves the mailbox otherwise, and takes the account from whoever had it before.

use super::{
    CONFIRM, CONFIRM_NEW, NEW_PASSWORD, RESET, change_token, events, expect_signed_out, me, reset,
    reset_token,
};
use serde_json::json;
use tests::{
    App, Authenticator, Browser, Grant, PASSWORD, Page, SharedWorld, Tokens, User, World, on_every_shape,
};

const DEVICE: [&str; 1] = ["--device"];

/// A stranger who signed up with somebody else's address, turned two-step sign-in on, and has two sessions,
/// tokens of three apps and a code for further ones.
struct Stranger {
    here: User,
    elsewhere: User,
    app: App,
    own_app: App,
    device_app: App,
    tokens: Tokens,
    own_tokens: Tokens,
    device_tokens: Tokens,
    code: Grant,
    recovery_codes: Vec<String>,
    /// The token of a link that moves the account to an address of the stranger.
    change: String,
}

impl Stranger {
    async fn new(world: &World) -> Self {
        let user = world.sign_up().await;
        let authenticator = Authenticator::enable(world, &user).await;
        let mut codes = authenticator.recovery_codes.clone();
        let here = world.log_in_with(&authenticator.sign_in(world, &user)).await;
        let elsewhere = sign_in(world, &user, PASSWORD, &codes.remove(0)).await;
        let app = world.app().register();
        let own_app = world.app().first_party().register();
        let device_app = world.app().kind("native").option(&DEVICE).register();
        let device = device_app.device(&world.anyone(), "posts:read").await;
        device.decide(&here, "allow").await;
        let (to, otp) = (world.fresh_email(), codes.remove(0));
        let body = json!({ "email": to, "current_password": PASSWORD, "otp": otp });
        here.post("/email-verifications").json(&body).await.expect(202);
        Self {
            tokens: app.tokens(&here, "posts:read").await,
            own_tokens: own_app.tokens(&here, "posts:read").await,
            device_tokens: Tokens::parse(device.poll(&world.anyone()).await),
            code: app.authorize(&mut here.browser(), &here, "posts:read").await,
            change: world.mail(&to, CONFIRM_NEW, 1).await.token(),
            recovery_codes: codes,
            here,
            elsewhere,
            app,
            own_app,
            device_app,
        }
    }

    /// Expects that nothing of the stranger gives access to the account any more, whose password is
    /// `password` now.
    async fn expect_locked_out(&self, world: &World, password: &str) {
        let email = &self.here.email;
        expect_signed_out(&[&self.here, &self.elsewhere]).await;
        self.tokens.expect_revoked(world, &self.app).await;
        self.own_tokens.expect_revoked(world, &self.own_app).await;
        self.device_tokens.expect_revoked(world, &self.device_app).await;
        let exchanged = self.app.exchange(&world.anyone(), &self.code).await;
        exchanged.expect_token_error(400, "invalid_grant");
        let body = json!({ "email": email, "password": PASSWORD, "otp": self.recovery_codes[0] });
        world.anyone().post("/login").json(&body).await.expect(401);
        for with in [PASSWORD, password] {
            let refused = world.anyone().confirm_email_with(&self.change, with).await;
            refused.expect_error(422, "reset_token_invalid");
        }
        // The owner signs in without a code.
        let owner = world.log_in(email, password).await;
        let account = me(&owner).await;
        assert_eq!(
            (&account["mfa_enabled"], &account["email_verified"]),
            (&json!(false), &json!(true))
        );
        let grants = owner.get("/me/grants").await.expect(200).json();
        assert_eq!(grants["items"], json!([]));
        let sessions = owner.get("/me/sessions").await.expect(200).json();
        assert_eq!(sessions["items"].as_array().unwrap().len(), 1, "{sessions}");
    }
}

async fn sign_in(world: &World, user: &User, password: &str, otp: &str) -> User {
    let body = json!({ "email": user.email, "password": password, "otp": otp });
    world.log_in_with(&body).await
}

/// Opens the nth link with this subject that was mailed to an address.
async fn open(world: &World, browser: &mut Browser, to: &str, (subject, nth): (&str, usize)) -> Page {
    let link = world.mail(to, subject, nth).await.link();
    let page = browser.open(link.as_str()).await;
    assert_eq!(page.reply.status, 200, "{}", page.reply);
    page.expect_page_within_origin();
    assert!(page.visible_text().contains(to), "{}", page.reply);
    page
}

async fn the_owner_of_a_mailbox_takes_an_account_from_a_stranger(world: SharedWorld) {
    let stranger = Stranger::new(&world).await;
    let (address, mut owner) = (stranger.here.email.as_str(), world.browser());
    // Two-step sign-in ended the link of the sign-up.
    let link = stranger.here.post("/email-verifications").json(&json!({}));
    link.await.expect(202);
    let page = open(&world, &mut owner, address, (CONFIRM, 2)).await;
    let guessed = owner.submit(&page, &[("password", "what could it be")]).await;
    assert_eq!(guessed.reply.status, 422, "{}", guessed.reply);
    assert_eq!(me(&stranger.here).await["email_verified"], false);
    // The page leads to a reset, also after the wrong password.
    let sent = owner.submit(&guessed, &[("email", address)]).await;
    assert_eq!(sent.reply.status, 200, "{}", sent.reply);
    let link = world.mail(address, RESET, 1).await.link();
    let form = owner.open(link.as_str()).await;
    let done = owner.submit(&form, &[("new_password", NEW_PASSWORD)]).await;
    assert_eq!(done.reply.status, 200, "{}", done.reply);
    stranger.expect_locked_out(&world, NEW_PASSWORD).await;
    let again = owner.open(page.url.as_str()).await;
    assert_eq!(again.reply.status, 400, "{}", again.reply);
}

async fn a_reset_by_the_api_is_the_first_proof_too(world: SharedWorld) {
    let stranger = Stranger::new(&world).await;
    let token = reset_token(&world, &stranger.here.email, 1).await;
    let done = reset(&world.anyone(), &token, NEW_PASSWORD).await.expect(204);
    stranger.expect_locked_out(&world, NEW_PASSWORD).await;
    let recorded = events(&world, &done).await;
    let turned_off = recorded.iter().any(|event| event.0 == "authn_mfa_disabled");
    assert!(turned_off, "{recorded:?}");
}

async fn a_link_alone_confirms_no_address(world: SharedWorld) {
    let (ann, app) = (world.sign_up().await, world.app().register());
    let bob = world.sign_up().await;
    let token = world.mail(&ann.email, CONFIRM, 1).await.token();
    let access = app.tokens(&ann, "profile:read").await.access;
    // Neither another user's session nor an app's token is a session of the account.
    for caller in [&world.anyone(), &bob, &world.anyone().bearer(&access)] {
        let refused = caller.confirm_email(&token).await;
        let refused = refused.expect_validation_errors(&["/password"]);
        let text = refused.text();
        assert!(
            text.contains(&ann.email) && text.contains("/password-resets"),
            "{refused}"
        );
    }
    let wrong = world.anyone().confirm_email_with(&token, NEW_PASSWORD).await;
    wrong.expect_validation_errors(&["/password"]);
    assert_eq!(me(&ann).await["email_verified"], false);
    let right = bob.confirm_email_with(&token, PASSWORD).await.expect(204);
    assert_eq!(me(&ann).await["email_verified"], true);
    assert_eq!(me(&bob).await["email_verified"], false);
    let recorded = [(
        "authn_email_verified".to_owned(),
        "success".to_owned(),
        Some(ann.id),
    )];
    assert_eq!(events(&world, &right).await, recorded);
}

async fn wrong_passwords_for_a_link_count_as_failed_sign_ins(world: SharedWorld) {
    let ann = world.sign_up().await;
    let token = world.mail(&ann.email, CONFIRM, 1).await.token();
    for _ in 0..5 {
        let wrong = world.anyone().confirm_email_with(&token, NEW_PASSWORD).await;
        wrong.expect_validation_errors(&["/password"]);
    }
    let locked = world.anyone().confirm_email_with(&token, PASSWORD).await;
    locked.expect_error(429, "login_locked");
    let locked = world.anyone().login(&ann.email, PASSWORD).await;
    locked.expect_error(429, "login_locked");
    ann.confirm_email(&token).await.expect(204);
}

async fn one_click_confirms_an_address_in_the_browser_of_the_sign_up(world: SharedWorld) {
    let (email, mut browser) = (world.fresh_email(), world.browser());
    let form = browser.open("/signup").await;
    let fields = [("email", email.as_str()), ("password", PASSWORD)];
    let created = browser.submit(&form, &fields).await;
    assert_eq!(created.reply.status, 303, "{}", created.reply);
    let page = open(&world, &mut browser, &email, (CONFIRM, 1)).await;
    assert!(!page.asks_for("password"), "{}", page.reply);
    let token = page.hidden("token").unwrap();
    let done = browser.submit(&page, &[("token", &token)]).await;
    assert_eq!(done.reply.status, 200, "{}", done.reply);
    let account = browser.open("/account").await;
    assert!(
        account
            .visible_text()
            .contains("The e-mail address was confirmed"),
        "{}",
        account.reply
    );
}

async fn the_password_confirms_an_address_on_another_device(world: SharedWorld) {
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    // A browser in which somebody else is signed in is another device too.
    let mut browser = bob.browser();
    let page = open(&world, &mut browser, &ann.email, (CONFIRM, 1)).await;
    let none = browser.submit(&page, &[("password", "")]).await;
    assert_eq!(none.reply.status, 422, "{}", none.reply);
    assert!(
        none.visible_text().contains("Enter the password"),
        "{}",
        none.reply
    );
    let done = browser.submit(&none, &[("password", PASSWORD)]).await;
    assert_eq!(done.reply.status, 200, "{}", done.reply);
    assert_eq!(me(&ann).await["email_verified"], true);
    assert_eq!(me(&bob).await["email_verified"], false);
}

async fn a_session_that_has_ended_confirms_no_address(world: SharedWorld) {
    let ann = world.sign_up().await;
    let mut browser = ann.browser();
    let page = open(&world, &mut browser, &ann.email, (CONFIRM, 1)).await;
    assert!(!page.asks_for("password"), "{}", page.reply);
    ann.post("/logout").await.expect(204);
    let token = page.hidden("token").unwrap();
    let refused = browser.submit(&page, &[("token", &token)]).await;
    assert_eq!(refused.reply.status, 422, "{}", refused.reply);
    let again = world.log_in(&ann.email, PASSWORD).await;
    assert_eq!(me(&again).await["email_verified"], false);
    let done = browser.submit(&refused, &[("password", PASSWORD)]).await;
    assert_eq!(done.reply.status, 200, "{}", done.reply);
    assert_eq!(me(&again).await["email_verified"], true);
}

/// Mail programs and their scanners open links, some with the cookies of the browser.
async fn opening_a_link_confirms_no_address(world: SharedWorld) {
    let ann = world.sign_up().await;
    let link = world.mail(&ann.email, CONFIRM, 1).await.link();
    for mut browser in [world.browser(), ann.browser()] {
        for _ in 0..3 {
            let page = browser.open(link.as_str()).await;
            assert_eq!(page.reply.status, 200, "{}", page.reply);
        }
    }
    ann.call("HEAD", link.as_str()).await.expect(200);
    let forged = [("token", link.query_pairs().next().unwrap().1.into_owned())];
    let refused = ann.post("/verify").form(&forged).await;
    assert_eq!(refused.status, 403, "{refused}");
    assert_eq!(me(&ann).await["email_verified"], false);
}

/// Otherwise a stranger could move an account to the address of somebody else, and whoever enters an address
/// with a mistake would give the account to its owner.
async fn a_changed_address_needs_the_session_or_the_password_too(world: SharedWorld) {
    let mut ann = world.sign_up_confirmed().await;
    for by_session in [false, true] {
        let new = world.fresh_email();
        let token = change_token(&world, &ann, &new, 1).await;
        let mut owner = world.browser();
        let page = open(&world, &mut owner, &new, (CONFIRM_NEW, 1)).await;
        assert!(page.asks_for("password"), "{}", page.reply);
        // The address of the account is nobody else's business, and a reset by the new one could not reach
        // it.
        assert!(!page.reply.text().contains(&ann.email), "{}", page.reply);
        assert!(!page.asks_for("email"), "{}", page.reply);
        let wrong = owner.submit(&page, &[("password", NEW_PASSWORD)]).await;
        assert_eq!(wrong.reply.status, 422, "{}", wrong.reply);
        let refused = world.anyone().confirm_email(&token).await;
        refused.expect_validation_errors(&["/password"]);
        assert_eq!(me(&ann).await["email"], json!(ann.email));
        let confirm = match by_session {
            true => ann.confirm_email(&token),
            false => world.anyone().confirm_email_with(&token, PASSWORD),
        };
        confirm.await.expect(204);
        ann = world.log_in(&new, PASSWORD).await;
        assert_eq!(me(&ann).await["email_verified"], true);
    }
}

/// The person who confirmed the address has set up the account, so a later reset leaves a second factor that
/// is older than the confirmation.
async fn a_second_factor_from_before_the_confirmation_stays_on_after_a_reset(world: SharedWorld) {
    let (user, app) = (world.sign_up().await, world.app().register());
    let authenticator = Authenticator::enable(&world, &user).await;
    let ann = world.log_in_with(&authenticator.sign_in(&world, &user)).await;
    app.tokens(&ann, "posts:read").await;
    let link = ann.post("/email-verifications").json(&json!({}));
    link.await.expect(202);
    let token = world.mail(&ann.email, CONFIRM, 2).await.token();
    ann.confirm_email(&token).await.expect(204);
    let token = reset_token(&world, &ann.email, 1).await;
    reset(&world.anyone(), &token, NEW_PASSWORD).await.expect(204);
    let alone = world.anyone().login(&ann.email, NEW_PASSWORD).await;
    alone.expect_error(403, "mfa_required");
    let code = &authenticator.recovery_codes[0];
    let again = sign_in(&world, &ann, NEW_PASSWORD, code).await;
    let grants = again.get("/me/grants").await.expect(200).json();
    assert_eq!(grants["items"].as_array().unwrap().len(), 1, "{grants}");
}

on_every_shape!(
    the_owner_of_a_mailbox_takes_an_account_from_a_stranger,
    a_reset_by_the_api_is_the_first_proof_too,
    a_link_alone_confirms_no_address,
    wrong_passwords_for_a_link_count_as_failed_sign_ins,
    one_click_confirms_an_address_in_the_browser_of_the_sign_up,
    the_password_confirms_an_address_on_another_device,
    a_session_that_has_ended_confirms_no_address,
    opening_a_link_confirms_no_address,
    a_changed_address_needs_the_session_or_the_password_too,
    a_second_factor_from_before_the_confirmation_stays_on_after_a_reset,
);
