//! The account of the administrator who calls, and the last administrator.

use super::{USERS, listed, path};
use serde_json::json;
use std::future::IntoFuture as _;
use tests::{Caller, SharedWorld, World, items, on_every_shape, run_concurrently};

async fn administrators_do_not_change_their_own_account(world: SharedWorld) {
    let (admin, _) = (
        world.user_with_role("admin").await,
        world.user_with_role("admin").await,
    );
    let token = world.app().register().tokens(&admin, "admin").await.access;
    let (path, before) = (path(&admin), listed(&world, &json!(admin.id)));
    for caller in [Caller::clone(&admin), world.anyone().bearer(&token)] {
        let role = caller.patch(&path).json(&json!({ "role": "user" })).await;
        role.expect_error(403, "forbidden");
        for (method, below) in [("PUT", "password"), ("POST", "disablements"), ("DELETE", "mfa")] {
            let refused = caller.call(method, &format!("{path}/{below}")).await;
            refused.expect_error(403, "forbidden");
        }
    }
    assert_eq!(listed(&world, &json!(admin.id)), before);
    admin.get("/me").await.expect(200);
    // These lock nobody out.
    admin.delete(&format!("{path}/lockouts")).await.expect(204);
    admin.delete(&format!("{path}/sessions")).await.expect(204);
    admin.get("/me").await.expect_error(401, "unauthenticated");
}

/// All administrators remove each other at the same moment. One of them stays. If they sign each other out,
/// all stay.
async fn one_administrator_stays(world: World) {
    for below in ["", "/disablements", "/sessions"] {
        let first = world.user_with_role("admin").await;
        // Administrators of the former round and of the first start remain.
        let list = format!("{USERS}?role=admin&disabled=false");
        for other in items(&first.get(&list).await.expect(200)) {
            if other["id"] != first.id {
                let disabled = first.post(&format!("{USERS}/{}/disablements", other["id"]));
                disabled.await.expect(200);
            }
        }
        let mut admins = vec![first];
        for _ in 0..3 {
            admins.push(world.user_with_role("admin").await);
        }
        let n = admins.len();
        let replies = run_concurrently(n, |i| {
            let path = format!("{}{below}", path(&admins[(i + 1) % n]));
            let call = match below {
                "" => admins[i].patch(&path).json(&json!({ "role": "user" })),
                "/sessions" => admins[i].delete(&path),
                _ => admins[i].post(&path),
            };
            call.into_future()
        })
        .await;
        let removed = replies.iter().filter(|reply| reply.status == 200).count();
        for refused in replies.iter().filter(|reply| reply.status != 200) {
            let expected = if below == "/sessions" {
                [204, 401]
            } else {
                [401, 403]
            };
            assert!(expected.contains(&refused.status), "{refused}");
        }
        let users = world.cli(&["users", "list", "--json"], "");
        let is_active = |user: &&serde_json::Value| user["role"] == "admin" && user["disabled_at"].is_null();
        let active = users.as_array().unwrap().iter().filter(is_active).count();
        assert_eq!(active, n - removed, "{users}");
        assert!(active >= 1, "{users}");
    }
}

on_every_shape!(
    administrators_do_not_change_their_own_account,
    one_administrator_stays,
);
