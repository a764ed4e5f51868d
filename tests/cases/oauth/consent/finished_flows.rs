//! A flow finishes once, whatever the processes and Redis forget.

use super::consent_page;
use std::future::IntoFuture as _;
use tests::{Reply, Shape, SharedWorld, World, on_every_shape, parameter, run_concurrently};

async fn a_finished_flow_stays_finished(shape: Shape) {
    let mut world = World::builder(shape).start().await;
    let (user, app) = world.user_and_app().await;
    let mut tabs = Vec::new();
    for decision in ["allow", "deny"] {
        let mut browser = user.browser();
        let page = consent_page(&mut browser, &app, "posts:read").await;
        let decided = browser.submit(&page, &[("decision", decision)]).await;
        let redirect = decided.location().unwrap();
        assert_eq!(
            parameter(&redirect, "code").is_some(),
            decision == "allow",
            "{redirect}"
        );
        tabs.push((browser, page));
    }
    if shape == Shape::Split {
        world.redis().command(&["FLUSHALL"]);
    }
    world.stop().await;
    world.restart().await;
    for (browser, page) in &mut tabs {
        for again in [
            browser.submit(page, &[("decision", "allow")]).await,
            browser.open(page.url.as_str()).await,
        ] {
            assert_eq!(again.reply.status, 400, "{}", again.reply);
            assert!(again.visible_text().contains("has expired"), "{}", again.reply);
        }
    }
}

/// Browsers repeat a form, for example at two clicks.
async fn a_form_that_is_submitted_at_once_gives_one_code(world: SharedWorld) {
    const SUBMISSIONS: usize = 8;
    let (user, app) = world.user_and_app().await;
    for _ in 0..5 {
        let mut browser = user.browser();
        let page = consent_page(&mut browser, &app, "posts:read").await;
        let submit = |_| browser.submit_call(&page, &[("decision", "allow")]).into_future();
        let replies = run_concurrently(SUBMISSIONS, submit).await;
        let has_code = |reply: &&Reply| reply.status == 303 && reply.header("location").contains("code=");
        assert_eq!(replies.iter().filter(has_code).count(), 1, "{replies:?}");
    }
}

on_every_shape!(
    a_finished_flow_stays_finished,
    a_form_that_is_submitted_at_once_gives_one_code,
);
