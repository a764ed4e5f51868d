//! Mails are sent once, soon, and whatever the server does; and nothing outside of them says what they hold.

use super::{CONFIRM, RESET, ask_reset, reset_token};
use serde_json::json;
use shared::fetch_one;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};
use tests::{Mood, PASSWORD, Shape, SmtpServer, World, on_every_shape};

async fn sign_up(world: &World) -> String {
    let email = world.fresh_email();
    let body = json!({ "email": email, "password": PASSWORD });
    world.anyone().post("/users").json(&body).await.expect(201);
    email
}

/// A world whose mails go to this server, and to its end.
async fn with_smtp(shape: Shape, server: &SmtpServer) -> World {
    World::of(shape)
        .flag("--smtp-url", &server.url())
        .clock()
        .start()
        .await
}

async fn a_mail_is_a_file_whose_name_tells_nothing(world: World) {
    let ann = world.sign_up().await;
    let token = reset_token(&world, &ann.email, 1).await;
    let letter = world.letter(&ann.email, RESET, 1).await;
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&world.outbox()), mode(&letter.file)), (0o700, 0o600));
    let name = letter.file.file_name().unwrap().to_str().unwrap();
    let is_plain = |c: char| c.is_ascii_digit() || "TZ.-".contains(c);
    assert!(name.strip_suffix(".eml").unwrap().chars().all(is_plain), "{name}");
    world.until_mailed().await;
    let log = world.log();
    assert!(log.contains(&format!("outbox/{name}")), "{log}");
    assert!(!log.contains(&token) && !log.contains(&ann.email), "{log}");
    for entry in std::fs::read_dir(world.outbox()).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        assert!(name.ends_with(".eml"), "a draft stays: {name}");
    }
}

async fn a_mail_has_the_headers_of_its_kind(world: World) {
    let ann = world.sign_up().await;
    ask_reset(&world.anyone(), &ann.email).await.expect(202);
    let letter = world.letter(&ann.email, RESET, 1).await;
    assert_eq!(letter.header("from"), "Latchkey <latchkey@localhost>");
    assert_eq!(letter.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(letter.header("auto-submitted"), "auto-generated");
    assert!(letter.header("date").ends_with("+0000"), "{letter:?}");
    let id = letter.header("message-id");
    assert!(id.starts_with('<') && id.ends_with("@localhost>"), "{id}");
    assert_eq!(letter.link().origin().ascii_serialization(), world.base());
    assert_eq!(letter.token().len(), 43);
    let other = world.letter(&ann.email, CONFIRM, 1).await;
    assert_ne!(other.header("message-id"), id);
}

async fn each_mail_is_handed_to_the_server_once(shape: Shape) {
    let server = SmtpServer::start(Mood::Takes).await;
    let setup = World::of(shape).flag("--smtp-url", &server.url());
    let setup = setup.flag("--mail-from", "The Desk <desk@example.org>");
    let world = setup.start().await;
    let mut people = Vec::new();
    for _ in 0..12 {
        people.push(sign_up(&world).await);
    }
    server.until_received(people.len(), || ()).await;
    world.until_mailed().await;
    let received = server.received();
    let mut to: Vec<String> = received.iter().flat_map(|mail| mail.to.clone()).collect();
    to.sort();
    people.sort();
    assert_eq!(to, people);
    for mail in received {
        assert_eq!(mail.letter.header("from"), "\"The Desk\" <desk@example.org>");
        assert_eq!(mail.letter.header("to"), mail.to[0]);
        world.keep_secret(&mail.letter.token());
    }
    assert!(!world.outbox().exists(), "there is a server");
}

async fn a_mail_that_was_refused_is_tried_again(shape: Shape) {
    let server = SmtpServer::start(Mood::Refuses).await;
    let world = with_smtp(shape, &server).await;
    let email = sign_up(&world).await;
    server.until_refused().await;
    server.set(Mood::Takes);
    server
        .until_received(1, || world.advance(Duration::from_secs(2)))
        .await;
    world.until_mailed().await;
    let received = server.received();
    assert_eq!((received.len(), &received[0].to[0]), (1, &email));
    assert!(world.log().contains("a mail was not sent"), "{}", world.log());
    assert!(
        !world.log().contains(&email),
        "the server's words are repeated: {}",
        world.log()
    );
}

async fn a_mail_that_is_refused_for_three_days_is_given_up(shape: Shape) {
    let server = SmtpServer::start(Mood::Refuses).await;
    let world = with_smtp(shape, &server).await;
    let email = sign_up(&world).await;
    server.until_refused().await;
    let (began, db) = (Instant::now(), world.db().await);
    let count = "SELECT COUNT(*) FROM mails";
    while fetch_one!(db.reader(), (i64,), count).unwrap().0 > 0 {
        assert!(began.elapsed() < Duration::from_secs(30), "the mail stays");
        world.advance(Duration::from_secs(12 * 3600));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(server.received().is_empty());
    let log = world.log();
    let line = log.lines().find(|line| line.contains("given up")).unwrap();
    assert!(line.contains("\"ERROR\"") && !log.contains(&email), "{line}");
}

async fn a_server_that_says_nothing_holds_up_nobody(shape: Shape) {
    let server = SmtpServer::start(Mood::IsSilent).await;
    let setup = World::of(shape).flag("--smtp-url", &server.url());
    let world = setup.start().await;
    let began = Instant::now();
    for _ in 0..3 {
        let ann = world.sign_up().await;
        ask_reset(&world.anyone(), &ann.email).await.expect(202);
    }
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    world.anyone().get("/readyz").await.expect(200);
}

async fn nothing_is_said_in_clear_where_tls_is_required(shape: Shape) {
    let server = SmtpServer::start(Mood::Takes).await;
    let url = format!("{}?tls=required", server.url());
    let world = World::of(shape).flag("--smtp-url", &url).start().await;
    let email = sign_up(&world).await;
    server.until_heard().await;
    let began = Instant::now();
    while !world.log().contains("a mail was not sent") {
        assert!(began.elapsed() < Duration::from_secs(20), "{}", world.log());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(
        server.received().is_empty() && !server.heard().contains(&email),
        "{}",
        server.heard()
    );
}

async fn people_made_in_the_shell_get_no_mail(world: World) {
    let editor = world.someone("editor").await;
    let ann = world.sign_up().await;
    world.letter(&ann.email, CONFIRM, 1).await;
    world.until_mailed().await;
    assert!(world.letters(&editor.email).is_empty());
}

on_every_shape!(
    a_mail_is_a_file_whose_name_tells_nothing,
    a_mail_has_the_headers_of_its_kind,
    each_mail_is_handed_to_the_server_once,
    a_mail_that_was_refused_is_tried_again,
    a_mail_that_is_refused_for_three_days_is_given_up,
    a_server_that_says_nothing_holds_up_nobody,
    nothing_is_said_in_clear_where_tls_is_required,
    people_made_in_the_shell_get_no_mail,
);
