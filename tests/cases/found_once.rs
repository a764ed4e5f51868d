//! What a second reading of the code found: each stays mended.

use serde_json::json;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use tests::{PASSWORD, Shape, World, all_at_once, basic, counts, on_every_shape, on_one_process};

async fn signing_in_again_ends_what_first_party_apps_began_before(world: World) {
    let ann = world.sign_up().await;
    let app = world.app().first_party().register();
    let tokens = app.tokens(&ann, "posts:read").await;
    let client = world.anyone().bearer(&tokens.access);
    client.get("/protected").await.expect(200);
    let body = json!({ "email": ann.email, "password": PASSWORD });
    ann.post("/login").json(&body).await.expect(200);
    world.expect_revoked(&tokens.access).await;
    let refreshed = app.refresh(&world.anyone(), &tokens.refresh).await;
    refreshed.expect_token_error(400, "invalid_grant");
}

async fn a_nul_in_oauth_parameters_is_refused_as_any_nonsense(world: World) {
    let anyone = world.anyone();
    let page = anyone.get("/authorize?client_id=a%00b").await.expect(400);
    assert!(page.header("content-type").starts_with("text/html"), "{page}");
    let nul = [("grant_type", "authorization_code"), ("client_id", "a\0b")];
    let reply = anyone.post("/token").form(&nul).await;
    reply.expect_token_error(400, "invalid_request");
    let named = anyone.with("authorization", &basic("a\0b", "x"));
    let reply = named
        .post("/token")
        .form(&[("grant_type", "refresh_token")])
        .await;
    reply.expect_token_error(401, "invalid_client");
}

async fn a_flood_of_parameters_is_refused(world: World) {
    let fields: Vec<(String, &str)> = (0..5_000).map(|n| (n.to_string(), "")).collect();
    let reply = world.anyone().post("/token").form(&fields).await;
    reply.expect_token_error(400, "invalid_request");
}

async fn a_scope_of_blanks_is_no_scope(world: World) {
    let (_, app) = world.person_and_app().await;
    let request = app.authorization().set("scope", " ");
    request.expect_refusal(&world, "invalid_scope").await;
}

async fn many_right_sign_ins_at_once_lock_nobody_out(shape: Shape) {
    // More than the five attempts that may be undecided at once; hashes enough for a busy machine.
    let world = World::of(shape).flag("--argon2-permits", "8").start().await;
    let ann = world.sign_up().await;
    let body = json!({ "email": ann.email, "password": PASSWORD });
    let anyone = world.anyone();
    let replies = all_at_once(8, |_| {
        let (anyone, body) = (anyone.clone(), body.clone());
        async move { anyone.post("/login").json(&body).await }
    })
    .await;
    assert_eq!(counts(&replies).get(&200), Some(&8), "{:?}", counts(&replies));
}

async fn two_session_cookies_do_not_sign_in(world: World) {
    let ann = world.sign_up().await;
    let body = json!({ "email": ann.email, "password": PASSWORD });
    let cookies = format!("sid={}; sid=x; csrf={}", ann.sid, ann.csrf);
    let caller = world.anyone().cookies(&cookies).with("x-csrf-token", &ann.csrf);
    let reply = caller.post("/login").json(&body).await;
    reply.expect_error(401, "unauthenticated");
}

async fn an_unreadable_if_match_deletes_nothing(world: World) {
    let ann = world.sign_up().await;
    let post = ann.publish("A title").await;
    for unreadable in [",", "x", ", ,"] {
        let reply = ann.delete(&post.path).header("if-match", unreadable).await;
        reply.expect_error(412, "precondition_failed");
    }
    ann.get(&post.path).await.expect(200);
}

async fn the_demo_page_reads_what_it_can(world: World) {
    let page = world
        .anyone()
        .get("/demo?code=1&code=2&error=%3Cb%3E")
        .await
        .expect(200);
    assert!(!page.text().contains("<b>"), "{page}");
}

async fn the_database_is_for_its_owner_alone(world: World) {
    let Ok(metadata) = world.data_dir().join("latchkey.db").metadata() else {
        assert_ne!(world.shape, Shape::Sqlite);
        return;
    };
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
}

async fn an_administrator_made_before_does_not_cost_the_demo_client(shape: Shape) {
    let mut world = World::start(shape).await;
    world.stop().await;
    let db = world.db().await;
    storage::execute!(db.writer(), "DELETE FROM clients WHERE id = 'demo'").unwrap();
    drop(db);
    world.start_again().await;
    let clients = world.cli(&["clients", "list", "--json"], "");
    assert_eq!(clients[0]["id"], json!("demo"));
}

async fn what_cannot_work_ends_with_64(world: World) {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    let key = "A".repeat(43);
    for args in [
        ["--listen", listen.as_str()],
        ["--master-key", key.as_str()],
        ["--database-url", "sqlite:/nonexistent/x.db"],
        ["--database-url", "postgres://nobody@127.0.0.1:1/x"],
        ["--audience", ""],
    ] {
        let output = world.run(&args, "");
        assert_eq!(output.status.code(), Some(64), "{args:?}: {output:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        let says: Vec<&str> = stderr
            .lines()
            .filter(|line| line.starts_with("error: "))
            .collect();
        assert_eq!(says.len(), 1, "{args:?}: {stderr}");
    }
}

on_every_shape!(
    signing_in_again_ends_what_first_party_apps_began_before,
    a_nul_in_oauth_parameters_is_refused_as_any_nonsense,
    a_flood_of_parameters_is_refused,
    a_scope_of_blanks_is_no_scope,
    many_right_sign_ins_at_once_lock_nobody_out,
    two_session_cookies_do_not_sign_in,
    an_unreadable_if_match_deletes_nothing,
    the_database_is_for_its_owner_alone,
    what_cannot_work_ends_with_64,
);

on_one_process!(
    the_demo_page_reads_what_it_can,
    an_administrator_made_before_does_not_cost_the_demo_client,
);
