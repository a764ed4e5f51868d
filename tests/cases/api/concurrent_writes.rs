//! Concurrent writes: one of several conflicting writes succeeds, and no accepted write is lost.

use serde_json::json;
use std::pin::Pin;
use tests::{
    App, PASSWORD, Reply, SharedWorld, Tokens, User, World, on_every_shape, run_concurrently, status_counts,
};

async fn fifty_concurrent_edits_of_one_version_succeed_once(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.draft("A title").await;
    for round in 0..10 {
        let tag = ann.get(&post.path).await.expect(200).header("etag").to_owned();
        let replies = run_concurrently(50, |n| {
            let body = json!({ "title": format!("round {round}, edit {n}") });
            ann.patch(&post.path)
                .header("if-match", &tag)
                .json(&body)
                .into_future()
        });
        let replies = replies.await;
        assert_eq!(
            status_counts(&replies),
            [(200, 1), (412, 49)].into(),
            "round {round}"
        );
        let won = replies.iter().find(|reply| reply.status == 200).unwrap();
        let read = ann.get(&post.path).await.expect(200);
        assert_eq!(
            (read.json(), read.header("etag")),
            (won.json(), won.header("etag"))
        );
    }
}

async fn fifty_concurrent_sign_ups_create_one_account(world: SharedWorld) {
    let email = world.fresh_email();
    let anyone = world.anyone();
    let replies = run_concurrently(50, |n| {
        let spelling = if n % 2 == 0 {
            email.clone()
        } else {
            email.to_uppercase()
        };
        let call = anyone
            .post("/users")
            .json(&json!({ "email": spelling, "password": PASSWORD }));
        // Beyond its hashing permits the program sheds load with 503.
        call.may_fail().into_future()
    });
    let counts = status_counts(&replies.await);
    let shed = counts.get(&503).copied().unwrap_or_default();
    assert_eq!(counts.get(&201), Some(&1), "{counts:?}");
    assert_eq!(
        counts.get(&409).copied().unwrap_or_default(),
        49 - shed,
        "{counts:?}"
    );
    world.log_in(&email, PASSWORD).await;
}

async fn fifty_concurrent_deletions_delete_a_post_once(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    let replies = run_concurrently(50, |_| ann.delete(&post.path).into_future()).await;
    assert_eq!(status_counts(&replies), [(204, 1), (404, 49)].into());
}

async fn concurrent_edits_never_restore_a_deleted_post(world: SharedWorld) {
    let ann = world.user().await;
    for _ in 0..10 {
        let post = ann.publish("A post").await;
        let replies = run_concurrently(20, |n| match n {
            0 => ann.delete(&post.path).into_future(),
            _ => ann
                .patch(&post.path)
                .header("if-match", "*")
                .json(&json!({ "title": format!("{n}") }))
                .into_future(),
        });
        let replies = replies.await;
        assert_eq!(replies[0].status, 204, "{}", replies[0]);
        assert!(
            replies[1..]
                .iter()
                .all(|reply| [200, 404, 412].contains(&reply.status))
        );
        ann.get(&post.path).await.expect_error(404, "not_found");
    }
}

async fn concurrent_posts_are_all_stored(world: World) {
    let ann = world.user().await;
    let made = run_concurrently(60, |n| {
        ann.post("/posts")
            .json(&json!({ "title": format!("post {n}") }))
            .into_future()
    })
    .await;
    assert_eq!(status_counts(&made), [(201, 60)].into());
    let mut ids: Vec<i64> = made
        .iter()
        .map(|reply| reply.json()["id"].as_i64().unwrap())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 60);
    let mut listed = Vec::new();
    let mut page = ann.get("/posts").await.expect(200).json();
    loop {
        listed.extend(
            page["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|post| post["id"].as_i64().unwrap()),
        );
        let Some(next) = page["next"].as_str() else { break };
        page = ann.get(&format!("/posts?cursor={next}")).await.expect(200).json();
    }
    listed.sort_unstable();
    assert_eq!(listed, ids);
}

async fn concurrent_password_changes_succeed_once(world: SharedWorld) {
    let ann = world.user().await;
    let replies = run_concurrently(4, |n| {
        let body = json!({ "current_password": PASSWORD, "new_password": format!("new password {n}") });
        ann.call("PUT", "/me/password").json(&body).into_future()
    });
    let replies = replies.await;
    let won: Vec<usize> = (0..4).filter(|n| replies[*n].status == 204).collect();
    assert_eq!(won.len(), 1, "{:?}", status_counts(&replies));
    world
        .log_in(&ann.email, &format!("new password {}", won[0]))
        .await;
}

/// Sign-ins, exchanges and refreshes race a password change. Their sessions and tokens must end like the
/// older ones.
async fn concurrent_sign_ins_do_not_survive_a_password_change(world: SharedWorld) {
    for _ in 0..5 {
        let ann = world.user().await;
        let (app, anyone) = (world.app().first_party().register(), world.anyone());
        let tokens = app.tokens(&ann, "posts:read").await;
        let grant = app.authorize(&mut ann.browser(), &ann, "posts:read").await;
        let replies = run_concurrently(8, |n| match n {
            0 => {
                let body = json!({ "current_password": PASSWORD, "new_password": "a new good password" });
                ann.call("PUT", "/me/password").json(&body).into_future()
            }
            1 => app.exchange(&anyone, &grant).into_future(),
            2 => app.refresh(&anyone, &tokens.refresh).into_future(),
            3 => request_authorization(&app, &ann),
            _ => {
                let body = json!({ "email": ann.email, "password": PASSWORD });
                anyone.post("/login").json(&body).may_fail().into_future()
            }
        });
        let replies = replies.await;
        assert_eq!(replies[0].status, 204, "{}", replies[0]);
        for given in replies[1..3].iter().filter(|reply| reply.status == 200) {
            Tokens::parse(given.clone()).expect_revoked(&world, &app).await;
        }
        for login in replies[4..].iter().filter(|reply| reply.status == 200) {
            let session = anyone.session(&login.cookie("sid"), &ann.csrf);
            session.get("/me").await.expect_error(401, "unauthenticated");
        }
        app.exchange(&anyone, &grant)
            .await
            .expect_token_error(400, "invalid_grant");
    }
}

/// Sends an authorization request in the session of the user. It may succeed or fail.
fn request_authorization(app: &App, ann: &User) -> Pin<Box<dyn Future<Output = Reply> + Send>> {
    ann.cookies(&format!("sid={}", ann.sid))
        .get(&app.authorization().path())
        .into_future()
}

on_every_shape!(
    concurrent_sign_ins_do_not_survive_a_password_change,
    fifty_concurrent_edits_of_one_version_succeed_once,
    fifty_concurrent_sign_ups_create_one_account,
    fifty_concurrent_deletions_delete_a_post_once,
    concurrent_edits_never_restore_a_deleted_post,
    concurrent_posts_are_all_stored,
    concurrent_password_changes_succeed_once,
);
