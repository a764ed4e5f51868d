//! Two tabs of the demo app in one browser.

use super::{Demo, NO_SESSION, SAVED, marked};
use tests::{World, on_shapes};

async fn two_tabs_merge_their_changes_and_sign_out_together(world: World) {
    let user = world.user().await;
    let demo = Demo::start(&world, &user).await;
    let chromium = &demo.chromium;
    demo.sign_in().await;
    let post = demo.write_post().await;
    demo.edit(post).await;
    let first = chromium.window().await;
    let second = demo.open_tab().await;
    demo.open().await;
    demo.expect_user().await;
    demo.edit(post).await;
    demo.save(post, "title", "Theirs", SAVED).await;

    // The first tab read the post before. It sees the change, and both are kept with nothing typed again.
    chromium.turn_to(&first).await;
    demo.save(post, "body", "Second", &marked("Mine", "Theirs")).await;
    demo.expect_post(post, "Theirs", "First").await;
    demo.save_as_it_is(post, SAVED).await;
    demo.expect_post(post, "Theirs", "Second").await;

    // The second tab changes the field that the first one changed, and chooses the other text.
    chromium.turn_to(&second).await;
    demo.save(post, "body", "Third", &marked("First", "Second")).await;
    demo.expect_field(post, "body", "Third").await;
    chromium.press(&format!("#edit-{post}-body-theirs")).await;
    demo.save(post, "title", "All", SAVED).await;
    demo.expect_post(post, "All", "Second").await;

    chromium
        .submit(&[], "#sign-out", "You are not signed in (signed_out)")
        .await;
    let path = format!("/posts/{post}");
    let refused = [("/token", 400), (path.as_str(), 412)];
    demo.expect_only_refused(&refused).await;
    chromium.expect_no_trace(&[], 200).await;
    chromium.turn_to(&first).await;
    let elsewhere = "You are not signed in (signed_out_elsewhere)";
    chromium.expect(elsewhere).await;
    demo.expect_only_refused(&refused).await;
    chromium.expect_no_trace(&[], 200).await;
    demo.open().await;
    chromium.expect(NO_SESSION).await;
    demo.expect_only_refused(&refused).await;
    for tab in [&first, &second] {
        chromium.turn_to(tab).await;
        demo.expect_no_token_in_history().await;
        demo.expect_watch().await;
    }
}

on_shapes!(two_tabs_merge_their_changes_and_sign_out_together: ; long: sqlite Sqlite);
