//! `DELETE /me/password`: the API removes the password as the page does.

use super::{expect_redirect, with_used_passkey};
use serde_json::json;
use storage::fetch_one;
use tests::{Browser, Caller, PASSWORD, SharedWorld, User, World, on_every_shape};

/// A caller with the session of this browser, in which the user signed in.
fn caller_in(world: &World, browser: &Browser, user: &User) -> Caller {
    world.anyone().session(browser.cookie("sid").unwrap(), &user.csrf)
}

async fn the_api_removes_a_password(world: SharedWorld) {
    let (user, passkey, browser) = with_used_passkey(&world).await;
    let former = caller_in(&world, &browser, &user);
    let app = world.app().first_party().register();
    let tokens = app.tokens(&user, "posts:read").await;
    let removed = former.delete("/me/password").await.expect(204);
    let kept = world.anyone().session(&removed.cookie("sid"), &user.csrf);

    assert_eq!(kept.get("/me").await.expect(200).json()["has_password"], false);
    let elsewhere: &Caller = &user;
    for ended in [&former, elsewhere] {
        ended.get("/me").await.expect_error(401, "unauthenticated");
    }
    tokens.expect_revoked(&world, &app).await;
    world.mail(&user.email, "Your password was removed", 1).await;
    let db = world.db().await;
    let events =
        "SELECT COUNT(*) FROM security_events WHERE user_id = $1 AND name = 'authn_password_removed'";
    assert_eq!(fetch_one!(db.reader(), (i64,), events, user.id).unwrap(), (1,));

    world.anyone().login(&user.email, PASSWORD).await.expect(401);
    expect_redirect(&passkey.sign_in(&mut world.browser()).await, "/account");
    let again = kept.delete("/me/password").await;
    again.expect_error(404, "not_found");
}

/// The page and the API require the same: a recent sign-in with a passkey that the account still has, and a
/// confirmed address.
async fn the_api_removes_no_password_without_this_proof(world: SharedWorld) {
    let (user, _, browser) = with_used_passkey(&world).await;
    let by_passkey = caller_in(&world, &browser, &user);
    let without_passkey = world.user().await;
    let unconfirmed = world.user().await;
    let passkey = world.add_passkey(&mut unconfirmed.browser()).await;
    let mut browser = world.browser();
    expect_redirect(&passkey.sign_in(&mut browser).await, "/account");
    let of_unconfirmed = caller_in(&world, &browser, &unconfirmed);
    let callers: [&Caller; 3] = [&user, &without_passkey, &of_unconfirmed];
    for caller in callers {
        expect_refused(caller, "the last sign-in must be with a passkey").await;
    }

    let forged = by_passkey.delete("/me/password").without("x-csrf-token").await;
    forged.expect_error(403, "csrf_mismatch");

    let (lost, _, browser) = with_used_passkey(&world).await;
    let caller = caller_in(&world, &browser, &lost);
    let listed = caller.get("/me/passkeys").await.expect(200).json();
    let removal = caller.delete(&format!("/me/passkeys/{}", listed["items"][0]["id"]));
    let removed = removal.json(&json!({ "password": PASSWORD })).await.expect(204);
    let caller = world.anyone().session(&removed.cookie("sid"), &lost.csrf);
    expect_refused(&caller, "the last sign-in must be with a passkey").await;

    world.age_sign_ins_of(&user).await;
    expect_refused(&by_passkey, "the last sign-in is over ten minutes old").await;
}

/// Expects that the password of the caller stays, for this reason.
async fn expect_refused(caller: &Caller, reason: &str) {
    let refused = caller.delete("/me/password").await.expect_error(403, "forbidden");
    assert!(refused.text().contains(reason), "{refused}");
    assert!(refused.set_cookie("sid").is_none(), "{refused}");
    assert_eq!(caller.get("/me").await.expect(200).json()["has_password"], true);
}

on_every_shape!(
    the_api_removes_a_password,
    the_api_removes_no_password_without_this_proof,
);
