//! Refusals that remove the cookie, and those that must not.

use super::{app_with_cookie, cookie_name, page_with, read, refresh, sign_in};
use std::time::Duration;
use tests::{App, Shape, World, on_every_shape};

/// Whether the refusal of a refresh with this cookie removes the cookie.
async fn is_removed_with_refusal(world: &World, app: &App, refresh_token: &str) -> bool {
    let refused = refresh(&page_with(world, app, refresh_token), app).await;
    let refused = refused.expect_token_error(400, "invalid_grant");
    let line = refused.set_cookie(&cookie_name(app));
    if let Some(line) = line {
        assert_eq!(refused.cookie(&cookie_name(app)), "");
        assert!(
            line.contains("Path=/token;") && line.contains("Max-Age=0"),
            "{line}"
        );
    }
    line.is_some()
}

async fn revoke(world: &World, app: &App, refresh_token: &str) {
    let browser = page_with(world, app, refresh_token);
    app.client_call(&browser, "/token/revoke", &[]).await.expect(200);
}

async fn a_cookie_that_can_never_work_again_is_removed_with_the_refusal(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (app, other) = (app_with_cookie(&world).await, app_with_cookie(&world).await);
    let (ann, bob, cleo) = (world.user().await, world.user().await, world.user().await);
    assert!(is_removed_with_refusal(&world, &app, "no.such.token").await);
    let (_, revoked) = sign_in(&world, &ann, &app).await;
    revoke(&world, &app, &revoked).await;
    assert!(is_removed_with_refusal(&world, &app, &revoked).await);
    let (_, of_other) = sign_in(&world, &bob, &other).await;
    assert!(is_removed_with_refusal(&world, &app, &of_other).await);
    read(
        &other,
        refresh(&page_with(&world, &other, &of_other), &other).await,
    );
    let (_, unused) = sign_in(&world, &cleo, &app).await;
    world.advance(Duration::from_secs(15 * 86_400));
    assert!(is_removed_with_refusal(&world, &app, &unused).await);
    // A used token outside its retry window ends the family, and with it the tokens of every tab.
    let (_, used) = sign_in(&world, &ann, &app).await;
    let (_, next) = read(&app, refresh(&page_with(&world, &app, &used), &app).await);
    world.advance(Duration::from_secs(11));
    assert!(is_removed_with_refusal(&world, &app, &used).await);
    assert!(is_removed_with_refusal(&world, &app, &next).await);
}

/// The answer to a late request of one tab arrives after another tab has got a newer cookie.
async fn a_refusal_never_removes_the_cookie_of_another_tab(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = (world.user().await, app_with_cookie(&world).await);
    let (_, old) = sign_in(&world, &user, &app).await;
    revoke(&world, &app, &old).await;
    let (_, new) = sign_in(&world, &user, &app).await;
    assert!(!is_removed_with_refusal(&world, &app, &old).await);
    let (_, new) = read(&app, refresh(&page_with(&world, &app, &new), &app).await);
    // Other refusals say nothing about the token.
    let fields = [("grant_type", "refresh_token"), ("scope", "posts:read admin")];
    let too_much = app.token(&page_with(&world, &app, &new), &fields).await;
    let too_much = too_much.expect_token_error(400, "invalid_scope");
    assert_eq!(too_much.set_cookie(&cookie_name(&app)), None, "{too_much}");
    // A minute later the browser would have sent the newer cookie, so that family belongs to another browser.
    world.advance(Duration::from_secs(61));
    assert!(is_removed_with_refusal(&world, &app, &old).await);
    read(&app, refresh(&page_with(&world, &app, &new), &app).await);
}

/// Another user signs in to the app in another tab. The browser then sends the new cookie.
async fn a_refusal_never_removes_the_cookie_of_another_user(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (ann, bob, app) = (
        world.user().await,
        world.user().await,
        app_with_cookie(&world).await,
    );
    let (_, of_ann) = sign_in(&world, &ann, &app).await;
    let grant = app.authorize(&mut bob.browser(), &bob, "posts:read").await;
    let (_, of_bob) = read(
        &app,
        app.exchange(&page_with(&world, &app, &of_ann), &grant).await,
    );
    revoke(&world, &app, &of_ann).await;
    assert!(!is_removed_with_refusal(&world, &app, &of_ann).await);
    read(&app, refresh(&page_with(&world, &app, &of_bob), &app).await);
    world.advance(Duration::from_secs(61));
    assert!(is_removed_with_refusal(&world, &app, &of_ann).await);
}

on_every_shape!(
    a_cookie_that_can_never_work_again_is_removed_with_the_refusal,
    a_refusal_never_removes_the_cookie_of_another_tab,
    a_refusal_never_removes_the_cookie_of_another_user,
);
