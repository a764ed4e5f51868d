//! A change of the master key: a rolling restart with both keys, `keys reseal`, and a rolling restart with
//! the new key.

use super::{STAGING_TIME, key_in_state, rotate};
use foundation::sealing::SealingKey;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use storage::{execute, fetch_all};
use tests::{
    App, Caller, Grant, Shape, Tokens, World, on_every_shape, on_many_processes, on_one_process, parameter,
    rounds,
};

/// The flags that change.
const FLAGS: [&str; 2] = ["--master-key-file", "--master-key-previous-file"];
fn races() -> usize {
    rounds(4, 20)
}

/// The old and the new master key with their files.
struct Change {
    old: (SealingKey, String),
    new: (SealingKey, String),
}

impl Change {
    /// Takes the key of a world as the old one, and generates the new one.
    fn of(world: &World) -> Self {
        let read = |name: &str| {
            let path = world.data_dir().join(name);
            let text = std::fs::read_to_string(&path).unwrap();
            world.register_secret(text.trim());
            (text.parse().unwrap(), path.display().to_string())
        };
        let new = SealingKey::generate().to_text();
        std::fs::write(world.data_dir().join("new.key"), new).unwrap();
        Self {
            old: read("master.key"),
            new: read("new.key"),
        }
    }

    /// The settings while both keys are in use.
    fn configure_both(&self, world: &mut World) {
        configure(world, Some(&self.new.1), Some(&self.old.1));
    }

    /// The settings after the change.
    fn configure_new(&self, world: &mut World) {
        configure(world, Some(&self.new.1), None);
    }
}

fn configure(world: &mut World, key: Option<&str>, previous: Option<&str>) {
    world.set_issuer_flags(&[(FLAGS[0], key), (FLAGS[1], previous)]);
}

async fn restart_one_by_one(world: &mut World) {
    for port in world.issuer_ports() {
        world.restart_issuer(port).await;
    }
}

/// Reseals. Returns the number of changed rows.
fn reseal(world: &World) -> u64 {
    world.cli(&["keys", "reseal", "--json"], "")["resealed"]
        .as_u64()
        .unwrap()
}

/// Runs the program, which must refuse its master key. Returns its error message.
#[track_caller]
fn expect_refused(world: &World, args: &[&str]) -> String {
    let refused = world.run(args, "");
    let output = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(64), "{args:?}: {output}");
    let message = output.lines().find(|line| line.starts_with("error: "));
    message.unwrap_or_else(|| panic!("{args:?}: {output}")).to_owned()
}

/// The name and the sealed content of each sealed row.
async fn sealed_rows(world: &World) -> Vec<(String, Vec<u8>)> {
    let query = "SELECT 'installation secret', sealed FROM installation_secret
                 UNION ALL SELECT kid, sealed_private_key FROM signing_keys WHERE state <> 'deleted'";
    fetch_all!(world.db().await.reader(), (String, Vec<u8>), query).unwrap()
}

/// Refreshes at each issuer in turn, and expects that the API accepts the access tokens.
async fn expect_refreshes(world: &World, app: &App, tokens: &mut Tokens) {
    for port in world.issuer_ports() {
        let issuer = world.anyone().at(&format!("http://localhost:{port}"));
        *tokens = Tokens::parse(app.refresh(&issuer, &tokens.refresh).await);
        world.expect_accepted(&tokens.access).await;
    }
}

async fn tokens_and_flows_survive_a_change_of_the_master_key(shape: Shape) {
    let mut world = World::builder(shape).clock().start().await;
    let (ann, app) = world.user_and_app().await;
    let mut tokens = app.tokens(&ann, "posts:read").await;
    let first = tokens.access.clone();
    let request = app.authorization().set("scope", "posts:read");
    let mut browser = world.browser();
    let sign_in = browser.open(&request.path()).await.location().unwrap();
    assert!(parameter(&sign_in, "flow").is_some(), "{sign_in}");
    let change = Change::of(&world);

    change.configure_both(&mut world);
    restart_one_by_one(&mut world).await;
    expect_refreshes(&world, &app, &mut tokens).await;

    // The active and the staged key, and the installation secret.
    assert_eq!((reseal(&world), reseal(&world)), (3, 0));
    for (name, sealed) in sealed_rows(&world).await {
        assert!(change.new.0.open(&name, &sealed).is_ok(), "{name}");
    }
    expect_refreshes(&world, &app, &mut tokens).await;

    change.configure_new(&mut world);
    restart_one_by_one(&mut world).await;
    expect_refreshes(&world, &app, &mut tokens).await;
    world.expect_accepted(&first).await;
    let redirect = browser.complete_flow(sign_in.as_str(), &ann, "allow").await;
    let grant = Grant::parse(redirect.unwrap(), request.verifier);
    Tokens::parse(app.exchange(&world.anyone(), &grant).await);
    world.advance(STAGING_TIME);
    rotate(&world);
    expect_refreshes(&world, &app, &mut tokens).await;

    let events = world.cli(&["events", "list", "--name", "keys_resealed", "--json"], "");
    let details: Vec<&Value> = events
        .as_array()
        .unwrap()
        .iter()
        .map(|event| &event["detail"])
        .collect();
    assert_eq!(details, [&json!("3 rows")]);
}

async fn starts_with_a_key_that_does_not_seal_the_rows_are_refused(shape: Shape) {
    let mut world = World::start(shape).await;
    let (change, start) = (Change::of(&world), ["--listen", "127.0.0.1:0"]);
    change.configure_new(&mut world);
    let message = expect_refused(&world, &start);
    assert!(message.contains("the installation secret"), "{message}");
    assert!(message.contains("MASTER_KEY_PREVIOUS"), "{message}");
    assert_eq!(expect_refused(&world, &["keys", "reseal"]), message);

    change.configure_both(&mut world);
    assert_eq!(reseal(&world), 3);
    configure(&mut world, Some(&change.old.1), None);
    assert_eq!(expect_refused(&world, &start), message);
    // An operator may have forgotten to generate a key.
    configure(&mut world, Some(&change.new.1), Some(&change.new.1));
    let same = expect_refused(&world, &start);
    assert!(same.contains("MASTER_KEY_PREVIOUS is the same key"), "{same}");
}

async fn a_row_that_neither_key_opens_is_named_and_nothing_changes(shape: Shape) {
    let mut world = World::start(shape).await;
    let (change, kid) = (Change::of(&world), key_in_state(&world, "staged"));
    change.configure_both(&mut world);
    let foreign = SealingKey::generate().seal(&kid, b"private key");
    let sql = "UPDATE signing_keys SET sealed_private_key = $1 WHERE kid = $2";
    execute!(world.db().await.writer(), sql, foreign, kid.as_str()).unwrap();
    let before = sealed_rows(&world).await;
    let message = expect_refused(&world, &["keys", "reseal"]);
    assert!(message.contains(&format!("the signing key {kid}")), "{message}");
    assert_eq!(sealed_rows(&world).await, before);
}

/// Without settings for the master key, the single process generates a missing key file.
async fn the_key_file_of_a_single_process_can_be_replaced(shape: Shape) {
    let mut world = World::start(shape).await;
    let (ann, app) = world.user_and_app().await;
    let mut tokens = app.tokens(&ann, "posts:read").await;
    let (file, previous) = (
        world.data_dir().join("master.key"),
        world.data_dir().join("previous.key"),
    );
    std::fs::rename(&file, &previous).unwrap();
    configure(&mut world, None, previous.to_str());
    restart_one_by_one(&mut world).await;
    assert_eq!((reseal(&world), reseal(&world)), (3, 0));
    std::fs::remove_file(previous).unwrap();
    configure(&mut world, None, None);
    restart_one_by_one(&mut world).await;
    expect_refreshes(&world, &app, &mut tokens).await;
}

/// The remedy if the former master key leaked together with a copy of the database.
async fn without_its_row_the_installation_secret_is_generated_anew(shape: Shape) {
    let mut world = World::start(shape).await;
    let (ann, app) = world.user_and_app().await;
    let tokens = app.tokens(&ann, "posts:read").await;
    world.stop().await;
    execute!(world.db().await.writer(), "DELETE FROM installation_secret").unwrap();
    world.restart().await;
    let refused = app.refresh(&world.anyone(), &tokens.refresh).await;
    refused.expect_token_error(400, "invalid_grant");
    expect_refreshes(&world, &app, &mut app.tokens(&ann, "posts:read").await).await;
}

/// Until the reseal, an issuer seals new keys so that those with the old master key alone can open them.
async fn issuers_with_the_old_key_use_keys_that_others_stage(shape: Shape) {
    let mut world = World::builder(shape).clock().start().await;
    let (ann, app) = world.user_and_app().await;
    let mut tokens = app.tokens(&ann, "posts:read").await;
    let change = Change::of(&world);
    change.configure_both(&mut world);
    world.restart_issuer(world.issuer_ports()[0]).await;
    for _ in 0..2 {
        world.advance(STAGING_TIME);
        let active = rotate(&world);
        super::wait_until_signed_by(&world, &app, &mut tokens, &active).await;
    }
    assert_eq!(reseal(&world), 5);
}

/// `keys rotate` stages a key while other commands change the master key back and forth.
async fn a_key_staged_during_a_reseal_has_the_key_of_the_reseal(shape: Shape) {
    let mut world = World::builder(shape).clock().start().await;
    let change = Change::of(&world);
    change.configure_both(&mut world);
    restart_one_by_one(&mut world).await;
    let mut reseals = 0;
    for _ in 0..races() {
        world.advance(STAGING_TIME);
        let mut rotation = world.spawn(&["keys", "rotate", "--yes", "--json"]);
        while rotation.try_wait().unwrap().is_none() {
            let (key, previous) = match reseals % 2 {
                0 => (&change.new.1, &change.old.1),
                _ => (&change.old.1, &change.new.1),
            };
            configure(&mut world, Some(key), Some(previous));
            reseal(&world);
            reseals += 1;
        }
        let rotated = rotation.wait_with_output().unwrap();
        assert!(rotated.status.success(), "{rotated:?}");
        let rows = sealed_rows(&world).await;
        let keys = [&change.old.0, &change.new.0];
        let opens_all = |key: &&SealingKey| rows.iter().all(|(name, row)| key.open(name, row).is_ok());
        let opening = keys.into_iter().filter(opens_all).count();
        assert_eq!(opening, 1, "after {reseals} reseals the rows have different keys");
    }
    assert!(reseals > races(), "only {reseals} reseals");
}

/// Refreshes continuously, and calls the API with each access token. Returns the number of refreshes.
async fn keep_refreshing(anyone: Caller, app: App, mut tokens: Tokens, done: Arc<AtomicBool>) -> usize {
    let mut refreshes = 0;
    while !done.load(Ordering::Relaxed) {
        tokens = Tokens::parse(app.refresh(&anyone, &tokens.refresh).await);
        anyone.bearer(&tokens.access).get("/protected").await.expect(200);
        refreshes += 1;
    }
    refreshes
}

async fn no_call_fails_while_the_master_key_changes(shape: Shape) {
    let mut world = World::start(shape).await;
    let done = Arc::new(AtomicBool::default());
    let mut callers = Vec::new();
    for _ in 0..3 {
        let (ann, app) = world.user_and_app().await;
        let tokens = app.tokens(&ann, "posts:read").await;
        let caller = keep_refreshing(world.anyone(), app, tokens, Arc::clone(&done));
        callers.push(tokio::spawn(caller));
    }
    let change = Change::of(&world);
    change.configure_both(&mut world);
    restart_one_by_one(&mut world).await;
    assert_eq!(reseal(&world), 3);
    change.configure_new(&mut world);
    restart_one_by_one(&mut world).await;
    done.store(true, Ordering::Relaxed);
    for caller in callers {
        let refreshes = caller.await.unwrap();
        assert!(refreshes > 20, "only {refreshes} refreshes");
    }
}

on_every_shape!(
    tokens_and_flows_survive_a_change_of_the_master_key,
    starts_with_a_key_that_does_not_seal_the_rows_are_refused,
    a_row_that_neither_key_opens_is_named_and_nothing_changes,
    without_its_row_the_installation_secret_is_generated_anew,
    a_key_staged_during_a_reseal_has_the_key_of_the_reseal,
);

on_one_process!(the_key_file_of_a_single_process_can_be_replaced);

on_many_processes!(
    issuers_with_the_old_key_use_keys_that_others_stage,
    no_call_fails_while_the_master_key_changes,
);
