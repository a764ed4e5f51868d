//! Data export and account deletion.

use serde_json::{Value, json};
use storage::{execute, fetch_all, fetch_one};
use tests::{
    Authenticator, PASSWORD, Shape, SharedWorld, User, World, on_every_shape, run_concurrently, status_counts,
};

async fn export(user: &User) -> Value {
    let reply = user.get("/me/export").await.expect(200);
    assert_eq!(
        reply.header("content-disposition"),
        format!("attachment; filename=\"account-{}.json\"", user.id)
    );
    assert_eq!(reply.header("cache-control"), "no-store");
    reply.json()
}

fn delete(user: &User, password: &str) -> tests::Call {
    user.delete("/me").json(&json!({ "password": password }))
}

async fn an_export_contains_all_own_data_and_nothing_else(world: World) {
    let (ann, app) = (world.sign_up_and_log_in().await, world.app().register());
    let bob = world.sign_up_and_log_in().await;
    let (draft, post) = (ann.draft("A draft").await, ann.publish("A post").await);
    let of_bob = bob.publish("Bob's").await;
    let comment = ann.comment(&of_bob, "Well said.").await;
    bob.comment(&post, "Thank you.").await;
    app.tokens(&ann, "posts:read").await;
    let (first, second) = (ann.pay(100).await, ann.pay(200).await);
    bob.pay(300).await;
    let all = export(&ann).await;
    let mut payments = Vec::new();
    for payment in [first, second] {
        payments.push(ann.get(&payment.path).await.expect(200).json());
    }
    assert_eq!(all["payments"], json!(payments));
    let members: Vec<&String> = all.as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        [
            "comments",
            "grants",
            "mfa_enabled",
            "passkeys",
            "payments",
            "posts",
            "security_events",
            "sessions",
            "user"
        ]
    );
    let mut me = ann.get("/me").await.expect(200).json();
    let of_me = ["auth", "has_password", "mfa_enabled", "recovery_codes_left"];
    me.as_object_mut()
        .unwrap()
        .retain(|name, _| !of_me.contains(&name.as_str()));
    assert_eq!(all["user"], me);
    assert_eq!(all["posts"], json!([draft.record, post.record]));
    assert_eq!(all["comments"], json!([comment.record]));
    assert_eq!(all["grants"][0]["id"], app.id.as_str());
    assert_eq!(all["sessions"].as_array().unwrap().len(), 1);
    let events = all["security_events"].as_array().unwrap();
    let names: Vec<&str> = events
        .iter()
        .map(|event| event["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["authz_consent", "authn_login_success", "user_created"]);
    let empty = export(&world.user().await).await;
    assert_eq!((&empty["posts"], &empty["comments"]), (&json!([]), &json!([])));
}

async fn a_large_export_is_complete_and_ordered(world: World) {
    let ann = world.user().await;
    let post = ann.publish("The first").await;
    let db = world.db().await;
    let insert_post = "INSERT INTO posts (author_id, title, body, status, version, created_at, updated_at)
                       VALUES ($1, $2, '', 'draft', 1, $3, $3)";
    let insert_comment =
        "INSERT INTO comments (post_id, author_id, body, created_at) VALUES ($1, $2, $3, $4)";
    let insert_payment =
        "INSERT INTO payments (public_id, user_id, status, amount, amount_captured, amount_refunded, currency,
                               description, metadata, created_at, updated_at)
         VALUES ($1, $2, 'created', 100, 0, 0, 'EUR', $3, '{}', $4, $4)";
    let now = world.now();
    for n in 0..60 {
        // Several rows with the same timestamp.
        let at = now.after(std::time::Duration::from_secs(1 + n / 7));
        execute!(db.writer(), insert_post, ann.id, n.to_string(), at).unwrap();
        execute!(db.writer(), insert_comment, post.id, ann.id, n.to_string(), at).unwrap();
        let id = format!("pay_00000000-0000-7000-8000-{n:012}");
        execute!(db.writer(), insert_payment, id, ann.id, n.to_string(), at).unwrap();
    }
    let all = export(&ann).await;
    let texts = |list: &str, member: &str| -> Vec<String> {
        let items = all[list].as_array().unwrap().iter();
        items
            .map(|item| item[member].as_str().unwrap().to_owned())
            .collect()
    };
    let numbers = || (0..60).map(|n| n.to_string());
    let titles: Vec<String> = ["The first".to_owned()].into_iter().chain(numbers()).collect();
    assert_eq!(texts("posts", "title"), titles);
    assert_eq!(texts("comments", "body"), numbers().collect::<Vec<_>>());
    assert_eq!(texts("payments", "description"), numbers().collect::<Vec<_>>());
}

async fn deleting_an_account_keeps_only_content_that_others_read(world: World) {
    let (ann, app) = world.user_and_app().await;
    let (bob, admin) = (world.user().await, world.user_with_role("admin").await);
    let elsewhere = world.log_in(&ann.email, PASSWORD).await;
    let tokens = app.tokens(&ann, "posts:read").await;
    let grant = app.authorize(&mut ann.browser(), &ann, "posts:read").await;
    let (draft, post) = (ann.draft("A draft").await, ann.publish("A post").await);
    let comment = ann.comment(&post, "A comment").await;
    let payment = ann.pay(100).await;
    delete(&ann, "not the password")
        .await
        .expect_validation_errors(&["/password"]);
    ann.get("/me").await.expect(200);
    let done = delete(&ann, PASSWORD).await.expect(204);
    assert!(done.set_cookie("sid").unwrap().contains("Max-Age=0"), "{done}");
    for session in [&ann, &elsewhere] {
        session.get("/me").await.expect_error(401, "unauthenticated");
    }
    tokens.expect_revoked(&world, &app).await;
    app.exchange(&world.anyone(), &grant)
        .await
        .expect_token_error(400, "invalid_grant");
    let body = json!({ "email": ann.email, "password": PASSWORD });
    world.anyone().post("/login").json(&body).await.expect(401);
    for reader in [&bob, &admin] {
        let post = reader.get(&post.path).await.expect(200).json();
        assert_eq!(post["author_id"], ann.id);
        let comment = reader.get(&comment.path).await.expect(200).json();
        assert_eq!(comment["author_id"], ann.id);
        reader.get(&draft.path).await.expect_error(404, "not_found");
    }
    admin
        .get(&format!("/users/{}", ann.id))
        .await
        .expect_error(404, "not_found");
    let users = world.cli(&["users", "list", "--json"], "");
    assert!(users.as_array().unwrap().iter().all(|user| user["id"] != ann.id));
    for command in ["enable", "disable", "unlock"] {
        let refused = world.run(&["users", command, "--email", &ann.email], "");
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    }
    assert!(tables_with_rows(&world, ann.id).await.is_empty());
    let query = "SELECT amount FROM payments WHERE public_id = $1 AND user_id = $2";
    let db = world.db().await;
    let kept = fetch_one!(db.reader(), (i64,), query, payment.id.as_str(), ann.id);
    assert_eq!(kept.unwrap(), (100,));
    let query = "SELECT email, email_key, password_hash FROM users WHERE id = $1";
    let db = world.db().await;
    let row = fetch_one!(db.reader(), (String, String, Option<String>), query, ann.id).unwrap();
    assert_eq!(row, (String::new(), format!("@deleted-{}", ann.id), None));
    let query = "SELECT name FROM security_events WHERE trace_id = $1";
    let names = fetch_all!(db.reader(), (String,), query, done.correlation_id()).unwrap();
    assert!(names.contains(&("user_deleted".to_owned(),)), "{names:?}");
}

/// The tables that still have rows of this user, apart from those that outlive the account.
async fn tables_with_rows(world: &World, id: i64) -> Vec<String> {
    let db = world.db().await;
    let query = "SELECT 'sessions' FROM sessions WHERE user_id = $1
                 UNION ALL SELECT 'totp' FROM totp WHERE user_id = $1
                 UNION ALL SELECT 'passkeys' FROM passkeys WHERE user_id = $1
                 UNION ALL SELECT 'recovery_codes' FROM recovery_codes WHERE user_id = $1
                 UNION ALL SELECT 'consents' FROM consents WHERE user_id = $1
                 UNION ALL SELECT 'mailed_tokens' FROM mailed_tokens WHERE user_id = $1
                 UNION ALL SELECT 'idempotency_keys' FROM idempotency_keys WHERE user_id = $1
                 UNION ALL SELECT 'refresh_families' FROM refresh_families
                           WHERE user_id = $1 AND revoked_at IS NULL
                             AND user_epoch = (SELECT epoch FROM users WHERE id = $1)
                 UNION ALL SELECT 'drafts' FROM posts
                           WHERE author_id = $1 AND status = 'draft' AND deleted_at IS NULL";
    let rows = fetch_all!(db.reader(), (String,), query, id).unwrap();
    rows.into_iter().map(|(table,)| table).collect()
}

async fn the_email_of_a_deleted_account_can_sign_up_again_without_its_data(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    delete(&ann, PASSWORD).await.expect(204);
    let body = json!({ "email": ann.email, "password": "another good password" });
    let made = world.anyone().post("/users").json(&body).await.expect(201);
    let anew = world.log_in(&ann.email, "another good password").await;
    assert_ne!(anew.id, ann.id);
    assert_eq!(made.json()["id"], anew.id);
    assert_eq!(export(&anew).await["posts"], json!([]));
    let edit = anew.patch(&post.path).header("if-match", "*");
    edit.json(&json!({ "title": "Mine" }))
        .await
        .expect_error(403, "forbidden");
    delete(&anew, "another good password").await.expect(204);
}

async fn deletion_requires_a_one_time_code_if_mfa_is_on(world: SharedWorld) {
    let ann = world.user().await;
    let app = Authenticator::enable(&world, &ann).await;
    let ann = world.log_in_with(&app.sign_in(&world, &ann)).await;
    delete(&ann, PASSWORD).await.expect_error(403, "mfa_required");
    ann.get("/me").await.expect(200);
    let body = json!({ "password": PASSWORD, "otp": app.recovery_codes[0] });
    ann.delete("/me").json(&body).await.expect(204);
    assert!(tables_with_rows(&world, ann.id).await.is_empty());
}

async fn deletion_attempts_count_wrong_passwords(world: SharedWorld) {
    let ann = world.user().await;
    for _ in 0..5 {
        delete(&ann, "not the password")
            .await
            .expect_validation_errors(&["/password"]);
    }
    delete(&ann, PASSWORD).await.expect_error(429, "login_locked");
}

/// Creates an administrator and demotes everyone else, so the deployment must be the test's own.
async fn only_administrator(world: &World) -> User {
    let admin = world.user_with_role("admin").await;
    let update = "UPDATE users SET role = 'user' WHERE id <> $1";
    execute!(world.db().await.writer(), update, admin.id).unwrap();
    admin
}

async fn the_last_administrator_cannot_be_deleted(world: World) {
    let admin = only_administrator(&world).await;
    delete(&admin, PASSWORD).await.expect_error(403, "forbidden");
    let mut browser = admin.browser();
    let page = browser.open("/account/deletion").await;
    let csrf = page.hidden("csrf").unwrap();
    let refused = browser.submit(&page, &[("csrf", &csrf)]).await;
    assert_eq!(refused.reply.status, 409, "{}", refused.reply);
    assert!(
        refused
            .visible_text()
            .contains("the only one of an administrator"),
        "{}",
        refused.reply
    );
    let email = admin.email.as_str();
    for command in [
        vec!["users", "disable", "--email", email],
        vec!["users", "set-role", "--email", email, "--role", "editor"],
    ] {
        let refused = world.run(&command, "");
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        let message = String::from_utf8_lossy(&refused.stderr);
        assert!(message.contains("last administrator"), "{message}");
    }
    admin.get("/me").await.expect(200);
    let other = world.user_with_role("admin").await;
    delete(&admin, PASSWORD).await.expect(204);
    delete(&other, PASSWORD).await.expect_error(403, "forbidden");
}

async fn concurrent_deletions_keep_one_administrator(shape: Shape) {
    let world = World::builder(shape).flag("--argon2-permits", "4").start().await;
    let mut remaining = only_administrator(&world).await;
    for _ in 0..5 {
        let people = [remaining, world.user_with_role("admin").await];
        let replies = run_concurrently(2, |n| delete(&people[n], PASSWORD).into_future()).await;
        assert_eq!(status_counts(&replies), [(204, 1), (403, 1)].into());
        let [a, b] = people;
        remaining = if replies[0].status == 403 { a } else { b };
    }
}

on_every_shape!(
    an_export_contains_all_own_data_and_nothing_else,
    a_large_export_is_complete_and_ordered,
    deleting_an_account_keeps_only_content_that_others_read,
    the_email_of_a_deleted_account_can_sign_up_again_without_its_data,
    deletion_requires_a_one_time_code_if_mfa_is_on,
    deletion_attempts_count_wrong_passwords,
    the_last_administrator_cannot_be_deleted,
    concurrent_deletions_keep_one_administrator,
);
