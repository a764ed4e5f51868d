//! The rare states of the account: many sessions, reports of changes, and refused ones.

use super::super::{CHANGED, FAILED, SUBMIT, Walk};
use serde_json::json;
use storage::execute;
use tests::{PASSWORD, PasskeyOptions};

/// More sessions than a part of the list has.
const SESSIONS: usize = 25;
/// As many events as the page shows, beside that of the sign-up.
const EVENTS: usize = 20;
/// A browser that offers no passkeys in the list, where the authenticator would answer at once, and that
/// keeps the signal for authenticators from them.
const CHANGED_BROWSER: &str = "
    PublicKeyCredential.isConditionalMediationAvailable = undefined;
    PublicKeyCredential.signalAllAcceptedCredentials = async signal => void (window.signal = signal);
";
/// Returns the number of passkeys of the account, as authenticators learn it.
const SIGNALED: &str = "
    const { rp, user } = JSON.parse(document.querySelector('form[data-passkey]').dataset.options);
    const { rpId, userId, allAcceptedCredentialIds } = window.signal;
    return rpId === rp.id && userId === user.id && allAcceptedCredentialIds.length;
";
/// Replaces the challenge by one that no authenticator can answer.
const SET_WRONG_OPTIONS: &str = "document.querySelector('form[data-passkey]').dataset.options = '{}'";
/// The largest number of sign-ins with passkeys to an account in a quarter of an hour.
const MAX_PASSKEY_SIGN_INS: usize = 60;
/// Returns the challenge for passkeys.
const CHALLENGE: &str = "return JSON.parse(document.querySelector('form[data-passkey]').dataset.options)";
/// Submits the form with this answer to its challenge.
const ANSWER: &str = "
    const form = document.querySelector('form[data-passkey]');
    form.elements.credential.value = args[0];
    setTimeout(() => form.submit());
";
const REMOVE_PASSKEY: &str = "details[open] form[action='/account/passkeys/removal'] button";

/// Visits the rare states of the account.
pub(super) async fn visit(walk: &Walk<'_>) {
    parts(walk).await;
    ended_access(walk).await;
    two_cookies(walk).await;
    passkeys(walk).await;
    many_passkey_sign_ins(walk).await;
    last_passkey(walk).await;
    last_administrator(walk).await;
}

/// More sessions and more events than the page shows at once.
async fn parts(walk: &Walk<'_>) {
    let user = walk.world.user().await;
    for _ in 0..EVENTS {
        let signed_in = walk.world.anyone().login(&user.email, PASSWORD).await;
        signed_in.expect(200);
    }
    walk.world.start_sessions(&user, SESSIONS).await;
    walk.sign_in(&user).await;
    walk.visit("account-many-sessions", "/account").await;
    walk.submit(&[], "a[rel=next]", "rel=\"prev\"").await;
    walk.check("account-second-part").await;
}

/// The account after a session was ended, and after an app was disconnected.
async fn ended_access(walk: &Walk<'_>) {
    let user = walk.world.user().await;
    walk.world.app().register().tokens(&user, "posts:read").await;
    walk.sign_in(&user).await;
    let button = "form[action='/account/sessions/end'] button";
    walk.submit(&[], button, CHANGED).await;
    walk.check("account-session-ended").await;
    walk.open("/account").await;
    let button = "form[action='/account/apps/disconnect'] button";
    walk.submit(&[], button, CHANGED).await;
    walk.check("account-app-disconnected").await;
}

/// Another cookie with the name of the session's, which a page of the same host may have set for a path.
async fn two_cookies(walk: &Walk<'_>) {
    let user = walk.world.user().await;
    walk.sign_in(&user).await;
    let url = format!("{}/account", walk.world.base());
    walk.chromium.set_cookie(&url, "sid", "another").await;
    walk.visit_expecting("two-cookies", "/account", 400).await;
    walk.chromium.delete_cookies().await;
}

/// A passkey in an authenticator of the browser, which keeps it after it was removed from the account.
async fn passkeys(walk: &Walk<'_>) {
    let (chromium, button) = (&walk.chromium, "form[data-passkey] button");
    let user = walk.world.user().await;
    walk.sign_in(&user).await;
    let script = chromium.add_script(CHANGED_BROWSER).await;
    let authenticator = chromium.add_authenticator().await;
    walk.open("/account/passkeys").await;
    let name = [("#name", "My laptop")];
    walk.submit(&name, button, CHANGED).await;
    walk.check("passkey-added").await;
    assert_eq!(chromium.run(SIGNALED, &[]).await, 1);
    let exists = walk.word(">This device already", ">Dieses Gerät hat schon");
    walk.submit(&name, button, exists).await;
    walk.check("passkey-exists").await;
    let is_alone = chromium
        .run("return !document.querySelector('.success')", &[])
        .await;
    assert_eq!(is_alone, true);
    walk.open("/account/passkeys").await;
    chromium.press("summary").await;
    let button_of_name = "details[open] form[action='/account/passkeys/name'] button";
    let name = [("details[open] [name=name]", "The old laptop")];
    walk.submit(&name, button_of_name, CHANGED).await;
    walk.check("passkey-renamed").await;
    walk.open("/account/passkeys").await;
    chromium.press("summary").await;
    walk.submit(&[], REMOVE_PASSKEY, CHANGED).await;
    walk.check("passkey-removed").await;
    assert_eq!(chromium.run(SIGNALED, &[]).await, 0);
    walk.open_as_stranger("/signin").await;
    walk.submit(&[], button, FAILED).await;
    walk.check_expecting("sign-in-passkey-refused", 401).await;
    walk.open("/signin").await;
    chromium.run(SET_WRONG_OPTIONS, &[]).await;
    let failed = walk.word(">No passkey was used", ">Es wurde kein Passkey benutzt");
    walk.submit(&[], button, failed).await;
    walk.check("passkey-failed").await;
    chromium.remove_authenticator(&authenticator).await;
    chromium.remove_script(&script).await;
}

/// The sign-in page for a user whose passkey has signed in too often.
async fn many_passkey_sign_ins(walk: &Walk<'_>) {
    let (world, chromium) = (walk.world, &walk.chromium);
    let user = world.user().await;
    let passkey = world.add_passkey(&mut user.browser()).await;
    for _ in 0..MAX_PASSKEY_SIGN_INS {
        passkey.sign_in(&mut world.browser()).await;
    }
    walk.open_as_stranger("/signin").await;
    let options = PasskeyOptions(chromium.run(CHALLENGE, &[]).await);
    let answer = passkey.assertion(&options);
    chromium.run(ANSWER, &[json!(answer)]).await;
    chromium.expect(FAILED).await;
    walk.check_expecting("sign-in-passkey-too-many", 429).await;
}

/// The passkey that alone signs a user in.
async fn last_passkey(walk: &Walk<'_>) {
    let world = walk.world;
    let user = world.user().await;
    let passkey = world.add_passkey(&mut user.browser()).await;
    passkey.sign_in(&mut world.browser()).await;
    walk.sign_in(&user).await;
    let db = world.db().await;
    let remove = "UPDATE users SET password_hash = NULL WHERE id = $1";
    execute!(db.writer(), remove, user.id).unwrap();
    db.close().await;
    walk.open("/account/passkeys").await;
    walk.chromium.press("summary").await;
    walk.submit(&[], REMOVE_PASSKEY, FAILED).await;
    walk.check_expecting("passkey-only-one", 409).await;
}

/// The deletion of the last administrator.
async fn last_administrator(walk: &Walk<'_>) {
    let admin = walk.world.user_with_role("admin").await;
    walk.sign_in(&admin).await;
    let db = walk.world.db().await;
    let demote = "UPDATE users SET role = 'user' WHERE role = 'admin' AND id <> $1";
    execute!(db.writer(), demote, admin.id).unwrap();
    db.close().await;
    walk.open("/account/deletion").await;
    walk.submit(&[], SUBMIT, FAILED).await;
    walk.check_expecting("deletion-last-administrator", 409).await;
}
