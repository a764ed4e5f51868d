//! `deploy/compose.yaml`: its form, what its containers may do, and the deployment that it describes, which
//! [`World::start_composed`] starts without a container engine.

mod demo_site;

use super::{doctor, documented_memory, drain_seconds, first_token, read, text, variables_of};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};
use storage::fetch_all;
use tests::{
    Caller, ISSUER_PATHS, Nginx, Post, Shape, Tokens, User, World, compose_file, connections_to, on_shapes,
    programs_dir, tool, without_deployment,
};

/// The services that run Latchkey, and their programs.
const PROGRAMS: [(&str, &str); 3] = [
    ("auth-server", "auth-server"),
    ("api-server", "api-server"),
    ("migrate", "auth-server"),
];

/// Runs a command of a container on this machine.
const DOCKER: &str = "docker() { shift 3; \"$(basename \"$1\")\" \"${@:2}\"; }";

/// The first part of a text between two others.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(start).unwrap();
    rest.split_once(end).unwrap().0
}

/// The value of a directive of nginx.
fn directive<'a>(config: &'a str, name: &str) -> &'a str {
    let mut lines = config.lines().map(str::trim);
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.strip_suffix(';'));
    value.unwrap_or_else(|| panic!("{name} is not set"))
}

fn the_file_follows_the_compose_specification() {
    let lib = std::fs::read_dir(tool("python/lib")).unwrap().next().unwrap();
    let schemas = "site-packages/check_jsonschema/builtin_schemas/vendor";
    let schema = lib.unwrap().path().join(schemas).join("compose-spec.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let validator = jsonschema::draft202012::options().build(&schema).unwrap();
    let file = compose_file();
    let errors: Vec<String> = validator
        .iter_errors(&file)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
}

fn containers_have_few_rights() {
    let file = compose_file();
    for (name, service) in file["services"].as_object().unwrap() {
        assert_eq!(service["read_only"], true, "{name}");
        assert_eq!(service["cap_drop"], json!(["ALL"]), "{name}");
        assert_eq!(
            service["security_opt"],
            json!(["no-new-privileges:true"]),
            "{name}"
        );
        let user = service["user"].as_str().unwrap();
        assert!(!user.starts_with('0'), "{name}: {user}");
        for limit in ["cpus", "memory", "pids"] {
            let limit = &service["deploy"]["resources"]["limits"][limit];
            assert!(!limit.is_null(), "{name}: {service}");
        }
        let image = service["image"].as_str().unwrap();
        assert!(
            image.contains("_DIGEST:?") || service["build"].is_object(),
            "{name}: {image}"
        );
        let is_reachable = ["nginx", "demo"].contains(&name.as_str());
        assert_eq!(service["ports"].is_array(), is_reachable, "{name}");
        let (restart, has_check) = match name.as_str() {
            "migrate" => ("no", false),
            _ => ("unless-stopped", true),
        };
        assert_eq!(service["restart"], restart, "{name}");
        assert_eq!(service["healthcheck"]["test"].is_array(), has_check, "{name}");
    }
    assert_eq!(file["networks"]["data"]["internal"], true);
    assert!(file["services"]["nginx"]["networks"]["data"].is_null());
    assert_eq!(file["services"]["demo"]["networks"], json!(["demo"]));
}

/// The files that the documentation creates in a clone reach no commit and no image.
fn secrets_stay_out_of_commits_and_images() {
    for list in [".dockerignore", ".gitignore"] {
        let list = read(list);
        let names = list
            .lines()
            .map(|line| line.trim_start_matches("**/").trim_start_matches('/'));
        for secret in ["deploy/secrets", "*.key"] {
            assert!(names.clone().any(|name| name == secret), "{secret}: {list}");
        }
    }
    let page = read("docs/operate/install.md");
    let (_, kubernetes) = page.split_once("\n## Kubernetes\n").unwrap();
    let commands = between(kubernetes, "```console\n", "```");
    let (directory, creation) = commands.split_once("cd deploy/secrets\n").unwrap();
    assert!(
        !directory.contains('>') && creation.contains("> master-key"),
        "{commands}"
    );
}

/// Each service has the settings of its program, only the secrets that they name, and enough time to stop and
/// memory.
fn each_service_sets_settings_of_its_program() {
    let (file, (_, needed)) = (compose_file(), documented_memory());
    for (name, program) in PROGRAMS {
        let service = &file["services"][name];
        let defined = variables_of(program);
        let mut used = BTreeSet::new();
        for (variable, value) in service["environment"].as_object().unwrap() {
            assert!(defined.contains(variable), "{name}: {variable}");
            used.extend(value.as_str().unwrap().strip_prefix("/run/secrets/"));
        }
        let secrets = service["secrets"].as_array().unwrap().iter();
        let given = secrets.map(|secret| secret.as_str().or_else(|| secret["target"].as_str()).unwrap());
        assert_eq!(used, given.collect::<BTreeSet<_>>(), "{name}");
        assert_eq!(service["build"]["target"], program, "{name}");
        let grace = service["stop_grace_period"].as_str().unwrap();
        let grace: u64 = grace.trim_end_matches('s').parse().unwrap();
        assert!(grace >= drain_seconds() + 5, "{name}: {grace}");
        let memory = text(&service["deploy"]["resources"]["limits"]["memory"]);
        let gigabytes: u64 = memory.trim_end_matches('G').parse().unwrap();
        assert!(1024 * gigabytes >= needed, "{name}: {memory}");
        if name != "migrate" {
            let check = [
                "CMD",
                &format!("/usr/local/bin/{program}"),
                "healthcheck",
                "--ready",
            ];
            assert_eq!(service["healthcheck"]["test"], json!(check));
        }
    }
}

/// nginx sends the issuer the paths that the documentation lists.
fn nginx_sends_the_issuer_its_paths() {
    let config = read("deploy/nginx.conf");
    let mut sent = BTreeSet::new();
    for location in config.split("location ~ ^/").skip(1) {
        assert!(location.contains("proxy_pass http://issuer;"), "{location}");
        let (directory, names) = location.split_once('(').unwrap();
        let names = names.split_once(')').unwrap().0.split('|');
        sent.extend(names.map(|name| format!("/{directory}{name}").replace('\\', "")));
    }
    let listed = ISSUER_PATHS.iter().map(|path| (*path).to_owned());
    assert_eq!(sent, listed.collect::<BTreeSet<String>>());
}

/// No client fills the memory of nginx or its files, and the heads of all connections have room.
fn nginx_holds_little_for_its_clients() {
    let config = read("deploy/nginx.conf");
    let number = |text: &str| text.parse::<u64>().unwrap();
    assert_eq!(directive(&config, "proxy_request_buffering"), "off");
    assert_eq!(directive(&config, "proxy_max_temp_file_size"), "0");
    assert_eq!(directive(&config, "limit_conn"), "addresses 100");
    let processes = number(directive(&config, "worker_processes"));
    let connections = processes * number(directive(&config, "worker_connections"));
    let buffers = directive(&config, "large_client_header_buffers");
    let (count, size) = buffers.split_once(' ').unwrap();
    let heads = connections * number(count) * number(size.trim_end_matches('k')) * 1024;
    let file = compose_file();
    let nginx = &file["services"]["nginx"];
    let memory = nginx["deploy"]["resources"]["limits"]["memory"].as_str().unwrap();
    let memory = number(memory.trim_end_matches('M')) * 1024 * 1024;
    assert!(2 * heads <= memory, "{heads} of {memory}");
    assert_eq!(nginx["tmpfs"], json!(["/tmp:size=32m"]));
    let files = nginx["ulimits"]["nofile"].as_u64().unwrap();
    assert!(files > connections, "{files}");
}

/// One deployment for all of it, because its start takes most of the time.
async fn an_app_is_served_through_nginx(shape: Shape) {
    let began = first_token::begin();
    let (mut world, nginx) = start(shape, programs_dir()).await;
    expect_first_token(&world, "Compose, from the built programs", began);
    let anyone = world.anyone();
    let user = world.sign_up_and_log_in().await;
    let app = world.app().register_by_command();
    let tokens = app.tokens(&user, "posts:read").await;
    assert_eq!(tokens.reply.header("cache-control"), "no-store");
    let refreshed = Tokens::parse(app.refresh(&anyone, &tokens.refresh).await);
    world.expect_accepted(&refreshed.access).await;
    let post = expect_strong_entity_tags(&user).await;
    expect_client_address(&world, &user).await;
    doctor::front_door::expect_nothing_over_https(&world, &app);
    let line = "x".repeat(15_000);
    let names = ["x-first", "x-second", "x-third"].into_iter();
    let large = names.fold(anyone.get(&post.path), |call, name| call.header(name, &line));
    large.await.expect(200);
    expect_bodies_as_they_arrive(&user, &nginx).await;
    expect_https_from_now_on(&anyone, &post).await;
    expect_stream_at_once(&world).await;
    let [issuers, apis] = [world.issuer_ports(), world.api_ports()];
    expect_kept_connections(&anyone, &post, &[&issuers[..], &apis[..]].concat()).await;
    world.kill_at(issuers[1]);
    world.kill_at(apis[1]);
    let mut refresh = refreshed.refresh;
    for _ in 0..10 {
        anyone.get(&post.path).await.expect(200);
        refresh = Tokens::parse(app.refresh(&anyone, &refresh).await).refresh;
    }
}

/// Starts the deployment with the documented secrets and the programs in this directory.
pub(super) async fn start(shape: Shape, programs: &Path) -> (World, Nginx) {
    let secrets = first_token::documented("Compose", "> secrets/master-key");
    let (world, nginx, _) = World::start_composed(shape, programs, &secrets).await;
    (world, nginx)
}

/// Gets a token by the documented commands that follow the start.
pub(super) fn expect_first_token(world: &World, path: &str, began: Instant) {
    let commands = first_token::documented_end("Compose").replace("https://localhost", world.base());
    first_token::expect(path, began, &commands, |script| {
        world.prepare_bash(&format!("{DOCKER}\n{script}"))
    });
}

/// The entity tag of a response that the API did not compress is strong although the client accepts gzip.
async fn expect_strong_entity_tags(user: &User) -> Post {
    let post = user.publish("Behind nginx").await;
    let read = || user.get(&post.path).header("accept-encoding", "gzip");
    let reply = read().await.expect(200);
    let etag = reply.header("etag");
    assert!(etag.starts_with('"'), "{reply}");
    read().header("if-none-match", etag).await.expect(304);
    let change = user.patch(&post.path).header("if-match", &post.etag);
    change.json(&json!({ "title": "Changed" })).await.expect(200);
    post
}

/// The address in security events is that of the connection, and not the one that the client claims.
async fn expect_client_address(world: &World, user: &User) {
    let claimed = world.anyone().with("x-forwarded-for", "198.51.100.7");
    let failed = claimed.login(&user.email, "not the password").await.expect(401);
    let query = "SELECT address FROM security_events WHERE trace_id = $1";
    let db = world.db().await;
    let addresses = fetch_all!(db.reader(), (Option<String>,), query, failed.correlation_id()).unwrap();
    db.close().await;
    assert_eq!(addresses, [(Some(claimed.address().to_string()),)]);
}

/// nginx stores no body, and one that is too large gets the answer of the API.
async fn expect_bodies_as_they_arrive(user: &User, nginx: &Nginx) {
    let text = json!({ "title": "Large" }).to_string();
    let padded = |size: usize| {
        let body = format!("{text}{}", " ".repeat(size - text.len()));
        user.post("/posts").body("application/json", body)
    };
    let limit = 1024 * 1024;
    padded(limit).await.expect(201);
    padded(limit + 1).await.expect_error(413, "payload_too_large");
    // Of each body that it stores, nginx logs a warning.
    assert!(!nginx.log().contains("temporary file"), "{}", nginx.log());
}

/// nginx tells browsers to use https alone, also with an error.
async fn expect_https_from_now_on(anyone: &Caller, post: &Post) {
    for (path, status) in [(post.path.as_str(), 200), ("/me", 401)] {
        let reply = anyone.get(path).await.expect(status);
        let policy = reply.header("strict-transport-security");
        assert_eq!(policy, "max-age=31536000", "{reply}");
    }
}

/// The beginning of a stream arrives before its end, which is 15 seconds later.
async fn expect_stream_at_once(world: &World) {
    let admin = world.user_with_role("admin").await;
    let stream = admin.get("/admin/events/stream").first_part_only();
    let opened = tokio::time::timeout(Duration::from_secs(10), stream.into_future()).await;
    opened.expect("the stream was buffered").expect(200);
}

/// nginx asks every replica over connections that it keeps.
async fn expect_kept_connections(anyone: &Caller, post: &Post, ports: &[u16]) {
    let connections = || ports.iter().map(|port| connections_to(*port));
    let call_all = async || {
        for _ in 0..20 {
            anyone.get(&post.path).await.expect(200);
            anyone.get("/.well-known/jwks.json").await.expect(200);
        }
    };
    call_all().await;
    let before: Vec<BTreeSet<u16>> = connections().collect();
    call_all().await;
    for (before, after) in before.iter().zip(connections()) {
        assert!(!before.is_disjoint(&after), "{before:?} became {after:?}");
    }
}

on_shapes!(an_app_is_served_through_nginx: split Split);

without_deployment!(
    the_file_follows_the_compose_specification,
    containers_have_few_rights,
    secrets_stay_out_of_commits_and_images,
    each_service_sets_settings_of_its_program,
    nginx_sends_the_issuer_its_paths,
    nginx_holds_little_for_its_clients,
);
