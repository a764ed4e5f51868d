//! Mails are sent once and promptly despite server failures. Their content appears nowhere else.

use super::{CONFIRM, RESET, request_reset, reset_token};
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};
use storage::fetch_one;
use tests::{PASSWORD, Shape, SharedWorld, SmtpBehavior, SmtpServer, World, eventually, on_every_shape};

async fn sign_up(world: &World) -> String {
    let email = world.fresh_email();
    let body = json!({ "email": email, "password": PASSWORD });
    world.anyone().post("/users").json(&body).await.expect(201);
    email
}

/// A world that sends its mails to this server.
async fn with_smtp(shape: Shape, server: &SmtpServer) -> World {
    World::builder(shape)
        .flag("--smtp-url", &server.url())
        .clock()
        .start()
        .await
}

async fn outbox_file_names_reveal_nothing(world: World) {
    let ann = world.sign_up().await;
    let token = reset_token(&world, &ann.email, 1).await;
    let mail = world.mail(&ann.email, RESET, 1).await;
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&world.outbox()), mode(&mail.file)), (0o700, 0o600));
    let name = mail.file.file_name().unwrap().to_str().unwrap();
    let is_plain = |c: char| c.is_ascii_digit() || "TZ.-".contains(c);
    assert!(name.strip_suffix(".eml").unwrap().chars().all(is_plain), "{name}");
    world.wait_until_mailed().await;
    let log = world.log();
    assert!(log.contains(&format!("outbox/{name}")), "{log}");
    assert!(!log.contains(&token) && !log.contains(&ann.email), "{log}");
    for entry in std::fs::read_dir(world.outbox()).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        assert!(name.ends_with(".eml"), "an unfinished file remains: {name}");
    }
}

async fn mails_have_the_expected_headers(world: SharedWorld) {
    let ann = world.sign_up().await;
    request_reset(&world.anyone(), &ann.email).await.expect(202);
    let mail = world.mail(&ann.email, RESET, 1).await;
    assert_eq!(mail.header("from"), "Latchkey <latchkey@localhost>");
    assert_eq!(mail.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(mail.header("auto-submitted"), "auto-generated");
    assert!(mail.header("date").ends_with("+0000"), "{mail:?}");
    let id = mail.header("message-id");
    assert!(id.starts_with('<') && id.ends_with("@localhost>"), "{id}");
    assert_eq!(mail.link().origin().ascii_serialization(), world.base());
    assert_eq!(mail.token().len(), 43);
    let other = world.mail(&ann.email, CONFIRM, 1).await;
    assert_ne!(other.header("message-id"), id);
}

async fn each_mail_is_delivered_once(shape: Shape) {
    let server = SmtpServer::start(SmtpBehavior::AcceptsAll).await;
    let setup = World::builder(shape).flag("--smtp-url", &server.url());
    let setup = setup.flag("--mail-from", "The Desk <desk@example.org>");
    let world = setup.start().await;
    let mut people = Vec::new();
    for _ in 0..12 {
        people.push(sign_up(&world).await);
    }
    server.wait_until_received(people.len(), || ()).await;
    world.wait_until_mailed().await;
    let received = server.received();
    let mut to: Vec<String> = received.iter().flat_map(|mail| mail.to.clone()).collect();
    to.sort();
    people.sort();
    assert_eq!(to, people);
    for mail in received {
        assert_eq!(mail.message.header("from"), "\"The Desk\" <desk@example.org>");
        assert_eq!(mail.message.header("to"), mail.to[0]);
        world.register_secret(&mail.message.token());
    }
    assert!(!world.outbox().exists(), "mails go to the server instead");
}

async fn rejected_mails_are_retried(shape: Shape) {
    let server = SmtpServer::start(SmtpBehavior::RejectsRecipients).await;
    let world = with_smtp(shape, &server).await;
    let email = sign_up(&world).await;
    server.wait_until_rejected().await;
    server.set(SmtpBehavior::AcceptsAll);
    server
        .wait_until_received(1, || world.advance(Duration::from_secs(2)))
        .await;
    world.wait_until_mailed().await;
    let received = server.received();
    assert_eq!((received.len(), &received[0].to[0]), (1, &email));
    assert!(world.log().contains("a mail was not sent"), "{}", world.log());
    assert!(
        !world.log().contains(&email),
        "the log repeats the server's response: {}",
        world.log()
    );
}

async fn mails_rejected_for_three_days_are_dropped(shape: Shape) {
    let server = SmtpServer::start(SmtpBehavior::RejectsRecipients).await;
    let world = with_smtp(shape, &server).await;
    let email = sign_up(&world).await;
    server.wait_until_rejected().await;
    let (began, db) = (Instant::now(), world.db().await);
    let count = "SELECT COUNT(*) FROM mails";
    while fetch_one!(db.reader(), (i64,), count).unwrap().0 > 0 {
        assert!(
            began.elapsed() < Duration::from_secs(120),
            "the mail is still queued"
        );
        world.advance(Duration::from_secs(12 * 3600));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(server.received().is_empty());
    let log = world.log();
    let line = log.lines().find(|line| line.contains("given up")).unwrap();
    assert!(line.contains("\"ERROR\"") && !log.contains(&email), "{line}");
}

async fn an_unresponsive_mail_server_delays_no_request(shape: Shape) {
    let server = SmtpServer::start(SmtpBehavior::NeverResponds).await;
    let setup = World::builder(shape).flag("--smtp-url", &server.url());
    let world = setup.start().await;
    let began = Instant::now();
    for _ in 0..3 {
        let ann = world.sign_up().await;
        request_reset(&world.anyone(), &ann.email).await.expect(202);
    }
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    world.anyone().get("/readyz").await.expect(200);
}

async fn nothing_is_sent_in_clear_text_if_tls_is_required(shape: Shape) {
    let server = SmtpServer::start(SmtpBehavior::AcceptsAll).await;
    let url = format!("{}?tls=required", server.url());
    let world = World::builder(shape).flag("--smtp-url", &url).start().await;
    let email = sign_up(&world).await;
    server.wait_until_contacted().await;
    eventually("the mail was sent", async || {
        world.log().contains("a mail was not sent")
    })
    .await;
    assert!(
        server.received().is_empty() && !server.transcript().contains(&email),
        "{}",
        server.transcript()
    );
}

async fn users_created_by_command_get_no_mail(world: SharedWorld) {
    let editor = world.user_with_role("editor").await;
    let ann = world.sign_up().await;
    world.mail(&ann.email, CONFIRM, 1).await;
    world.wait_until_mailed().await;
    assert!(world.mails(&editor.email).is_empty());
}

on_every_shape!(
    outbox_file_names_reveal_nothing,
    mails_have_the_expected_headers,
    each_mail_is_delivered_once,
    rejected_mails_are_retried,
    mails_rejected_for_three_days_are_dropped,
    an_unresponsive_mail_server_delays_no_request,
    nothing_is_sent_in_clear_text_if_tls_is_required,
    users_created_by_command_get_no_mail,
);
