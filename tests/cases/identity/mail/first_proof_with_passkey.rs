//! The passkey of a stranger who signed up with somebody else's address. A passkey signs in without the
//! password, so it would outlive a new one.

use super::{NEW_PASSWORD, RESET, events, expect_signed_out, me, reset, reset_token};
use serde_json::json;
use tests::{Browser, Passkey, SharedWorld, User, World, on_every_shape};

/// A stranger who signed up, added a passkey, and signed in with it in another browser.
struct Stranger {
    user: User,
    passkey: Passkey,
    with_passkey: Browser,
}

impl Stranger {
    async fn new(world: &World) -> Self {
        let user = world.sign_up().await;
        let passkey = world.add_passkey(&mut user.browser()).await;
        let mut with_passkey = world.browser();
        let signed_in = passkey.sign_in(&mut with_passkey).await;
        assert_eq!(signed_in.reply.status, 303, "{}", signed_in.reply);
        assert_eq!(me(&user).await["email_verified"], false);
        Self {
            user,
            passkey,
            with_passkey,
        }
    }

    /// Expects that neither the passkey nor a session of it gives access to the account, whose password is
    /// [`NEW_PASSWORD`] now.
    async fn expect_locked_out(&self, world: &World) {
        expect_signed_out(&[&self.user]).await;
        let sid = self.with_passkey.cookie("sid").unwrap();
        let session = world.anyone().session(sid, &self.user.csrf);
        session.get("/me").await.expect_error(401, "unauthenticated");
        let mut browser = world.browser();
        let refused = self.passkey.sign_in(&mut browser).await;
        assert_eq!(refused.reply.status, 401, "{}", refused.reply);
        let words = "You cannot sign in with this passkey.";
        assert!(refused.visible_text().contains(words), "{}", refused.reply);
        assert_eq!(browser.cookie("sid"), None);
        let owner = world.log_in(&self.user.email, NEW_PASSWORD).await;
        let passkeys = owner.get("/me/passkeys").await.expect(200).json();
        assert_eq!(passkeys["items"], json!([]));
        assert_eq!(me(&owner).await["email_verified"], true);
        let sessions = owner.get("/me/sessions").await.expect(200).json();
        assert_eq!(sessions["items"].as_array().unwrap().len(), 1, "{sessions}");
    }
}

async fn the_passkey_of_a_stranger_ends_when_the_owner_proves_the_mailbox(world: SharedWorld) {
    let stranger = Stranger::new(&world).await;
    let token = reset_token(&world, &stranger.user.email, 1).await;
    let done = reset(&world.anyone(), &token, NEW_PASSWORD).await.expect(204);
    stranger.expect_locked_out(&world).await;
    let recorded = events(&world, &done).await;
    let removed = recorded.iter().any(|event| event.0 == "authn_passkey_removed");
    assert!(removed, "{recorded:?}");
}

async fn the_passkey_of_a_stranger_ends_on_the_page_too(world: SharedWorld) {
    let stranger = Stranger::new(&world).await;
    let (email, mut owner) = (stranger.user.email.as_str(), world.browser());
    let forgot = owner.open("/forgot").await;
    let sent = owner.submit(&forgot, &[("email", email)]).await;
    assert_eq!(sent.reply.status, 200, "{}", sent.reply);
    let link = world.mail(email, RESET, 1).await.link();
    let form = owner.open(link.as_str()).await;
    let done = owner.submit(&form, &[("new_password", NEW_PASSWORD)]).await;
    assert_eq!(done.reply.status, 200, "{}", done.reply);
    stranger.expect_locked_out(&world).await;
}

on_every_shape!(
    the_passkey_of_a_stranger_ends_when_the_owner_proves_the_mailbox,
    the_passkey_of_a_stranger_ends_on_the_page_too,
);
