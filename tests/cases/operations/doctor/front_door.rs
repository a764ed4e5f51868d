//! `doctor --public`, which tests an installation as its clients reach it.

use super::{expect, expect_healthy};
use std::net::SocketAddr;
use std::process::Output;
use tests::{App, CALLBACK, Shape, SharedWorld, World, on_every_shape, on_one_shape, on_shapes};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// The arguments with which no connection is kept for a minute.
const AT_ONCE: [&str; 2] = ["--idle", "0s"];

/// Tests the installation at this URL with further arguments.
fn doctor(world: &World, url: &str, further: &[&str]) -> Output {
    let arguments = ["doctor", "--json", "--public", url];
    world.run(&[&arguments[..], further].concat(), "")
}

async fn the_front_door_of_a_healthy_installation_has_no_finding(world: SharedWorld) {
    let app = world.app().register();
    let arguments = ["doctor", "--json", "--public", world.base(), "--idle", "1s"];
    let app = ["--client", &app.id, "--redirect-uri", CALLBACK];
    let arguments = [&arguments[..], &app].concat();
    for output in [world.run(&arguments, ""), world.run_api_with(&[], &arguments)] {
        expect_healthy(&output);
        for check in [
            "connection",
            "issuer-url",
            "resource-url",
            "page-headers",
            "entity-tags",
        ] {
            expect(&output, check, "ok", "");
        }
        for check in ["token", "long-request", "long-redirect", "kept-connection"] {
            expect(&output, check, "ok", "");
        }
        expect(&output, "client-address", "skipped", "the rate limits are off");
        expect(&output, "https", "skipped", "plain http");
        expect(&output, "host", "skipped", "no name with a dot");
    }
}

/// Expects that `doctor` finds nothing in a world with TLS, whose certificate is in its directory.
pub(in crate::operations) fn expect_nothing_over_https(world: &World, app: &App) {
    let trusting = "SSL_CERT_FILE=secrets/tls-certificate auth-server doctor --json --idle 1s";
    let of_app = format!("--client {} --redirect-uri {}", app.id, app.redirect_uri);
    let output = world.bash(&format!("{trusting} --public {} {of_app}", world.base()));
    expect_healthy(&output);
    expect(&output, "client-address", "ok", "");
}

/// Gives the head of a response as the proxy passes it on.
type Change = fn(&str) -> String;

/// Starts a proxy that refuses long heads of requests and of responses, changes the other heads of responses,
/// and closes each connection after a response. Returns its port.
async fn start_proxy(target: u16, change: Change) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(forward(stream, target, change));
        }
    });
    port
}

async fn forward(mut client: TcpStream, target: u16, change: Change) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await?);
    }
    let head = String::from_utf8(head).unwrap();
    if head.len() > 4096 {
        let refusal = "HTTP/1.1 414 URI Too Long\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        return client.write_all(refusal.as_bytes()).await;
    }
    let lengths = head
        .lines()
        .filter_map(|line| line.strip_prefix("content-length: "));
    let length = lengths.map(|length| length.parse().unwrap()).next().unwrap_or(0);
    let mut body = vec![0; length];
    client.read_exact(&mut body).await?;
    let mut server = TcpStream::connect(("127.0.0.1", target)).await?;
    let head = head.replacen("\r\n", "\r\nconnection: close\r\n", 1);
    server.write_all(&[head.as_bytes(), &body].concat()).await?;
    let mut response = Vec::new();
    server.read_to_end(&mut response).await?;
    let end = response
        .windows(4)
        .position(|bytes| bytes == b"\r\n\r\n")
        .unwrap();
    if end > 2048 {
        let refusal = "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        return client.write_all(refusal.as_bytes()).await;
    }
    let head = change(str::from_utf8(&response[..end]).unwrap());
    client
        .write_all(&[head.as_bytes(), &response[end..]].concat())
        .await
}

/// Weakens entity tags, as nginx does with compression, and the policy of pages, and removes headers.
fn weaken(head: &str) -> String {
    let lines = head.split("\r\n");
    let kept =
        lines.filter(|line| !line.starts_with("referrer-policy") && !line.starts_with("cache-control"));
    let kept: Vec<&str> = kept.collect();
    kept.join("\r\n")
        .replace("etag: \"", "etag: W/\"")
        .replace("frame-ancestors 'none'", "frame-ancestors *")
}

async fn a_proxy_that_changes_responses_is_found(world: SharedWorld) {
    let proxy = start_proxy(world.issuer_ports()[0], weaken).await;
    let url = format!("http://localhost:{proxy}");
    let output = doctor(&world, &url, &["--idle", "1s"]);
    expect(&output, "issuer-url", "error", world.base());
    expect(&output, "entity-tags", "error", "weak ETag");
    expect(
        &output,
        "page-headers",
        "error",
        "content-security-policy, referrer-policy",
    );
    expect(&output, "token", "error", "no-store");
    expect(&output, "long-request", "error", "414");
    expect(&output, "long-redirect", "error", "arrives with the status 502");
    expect(&output, "kept-connection", "warning", "is closed");
    let nowhere = doctor(&world, "http://127.0.0.1:1", &[]);
    expect(&nowhere, "connection", "error", "127.0.0.1:1");
    let unknown_app = [&AT_ONCE[..], &["--client", "unknown", "--redirect-uri", CALLBACK]].concat();
    let output = doctor(&world, world.base(), &unknown_app);
    expect(
        &output,
        "long-redirect",
        "error",
        "the issuer refuses the request",
    );
}

/// Removes entity tags.
fn without_tags(head: &str) -> String {
    let lines = head.split("\r\n").filter(|line| !line.starts_with("etag"));
    lines.collect::<Vec<_>>().join("\r\n")
}

/// Sends what the client has already, as a cache does that ignores `If-None-Match`.
fn again(head: &str) -> String {
    head.replace("304 Not Modified", "200 OK")
}

/// Knows no path.
fn hide(head: &str) -> String {
    head.replace("200 OK", "404 Not Found")
}

async fn a_proxy_that_answers_itself_is_found(world: SharedWorld) {
    let changes: [(Change, &str, &str); 3] = [
        (without_tags, "entity-tags", "has no ETag"),
        (again, "entity-tags", "answers 200 to its own entity tag"),
        (hide, "connection", "oauth-protected-resource 404"),
    ];
    for (change, check, detail) in changes {
        let proxy = start_proxy(world.issuer_ports()[0], change).await;
        let output = doctor(&world, &format!("http://localhost:{proxy}"), &AT_ONCE);
        expect(&output, check, "error", detail);
    }
}

/// Latchkey itself compresses long responses, which nginx then leaves alone.
async fn a_proxy_that_compresses_is_found(world: SharedWorld) {
    let (_plain, url) = world.start_nginx(|config| config);
    let output = doctor(&world, &url, &AT_ONCE);
    expect(&output, "entity-tags", "ok", "/openapi.json");
    expect(&output, "long-redirect", "ok", "bytes arrives");
    let compressing = |config: String| config.replace("gzip off;", "gzip on; gzip_types application/json;");
    let (_compressing, url) = world.start_nginx(compressing);
    expect(
        &doctor(&world, &url, &AT_ONCE),
        "entity-tags",
        "error",
        "weak ETag",
    );
}

/// The name is in no DNS: the program asks the proxy of its environment for it, which is nginx.
async fn a_proxy_that_changes_the_host_is_found(world: SharedWorld) {
    let passing = "proxy_set_header Host $host;";
    for (line, state) in [(passing, "ok"), ("", "warning")] {
        let (_nginx, url) = world.start_nginx(|config| config.replace(passing, line));
        let doctor = "latchkey doctor --json --idle 0s --public http://id.example.test";
        let output = world.bash(&format!("HTTP_PROXY={url} NO_PROXY= {doctor}"));
        expect(&output, "host", state, "id.example.test");
        expect(&output, "https", "error", "travel unencrypted");
    }
}

/// A server that trusts the network of the client takes its word for its address.
async fn a_client_that_chooses_its_address_is_found(shape: Shape) {
    for (proxies, state) in [("192.0.2.1", "ok"), ("127.0.0.0/8", "error")] {
        let setup = World::builder(shape).flag("--rate-limits", "on");
        let world = setup.flag("--trusted-proxies", proxies).start().await;
        let output = doctor(&world, world.base(), &AT_ONCE);
        expect(&output, "forged-address", state, "");
        expect(&output, "client-address", "ok", "127.0.0.1 and 127.0.0.2 apart");
    }
}

/// A server that does not trust nginx takes all clients for one, which has the address of nginx.
async fn a_proxy_whose_address_all_clients_have_is_found(shape: Shape) {
    for (proxies, state) in [("127.0.0.1", "ok"), ("192.0.2.1", "error")] {
        let setup = World::builder(shape).flag("--rate-limits", "on");
        let world = setup.flag("--trusted-proxies", proxies).start().await;
        let (_nginx, url) = world.start_nginx(|config| config);
        let output = doctor(&world, &url, &AT_ONCE);
        expect(&output, "client-address", state, "127.0.0.1 and 127.0.0.2");
        expect(&output, "forged-address", "ok", "");
        expect(&output, "kept-connection", "skipped", "--idle is 0s");
        let one_address = [&AT_ONCE[..], &["--address", "127.0.0.1"]].concat();
        let output = doctor(&world, &url, &one_address);
        expect(
            &output,
            "client-address",
            "skipped",
            "both clients have the address 127.0.0.1",
        );
    }
}

/// Starts many proxies at one address, each of which forwards a connection from an address of its own. Returns
/// their port.
async fn start_proxies(target: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        for address in 10..=u8::MAX {
            let (mut client, _) = listener.accept().await.unwrap();
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind(SocketAddr::from(([127, 0, 0, address], 0))).unwrap();
            tokio::spawn(async move {
                let mut server = socket.connect(SocketAddr::from(([127, 0, 0, 1], target))).await?;
                copy_bidirectional(&mut client, &mut server).await
            });
        }
    });
    port
}

/// A server that does not trust them counts each proxy apart, and so seems to tell clients apart.
async fn several_proxies_are_not_taken_for_clients(shape: Shape) {
    let setup = World::builder(shape).flag("--rate-limits", "on");
    let world = setup.flag("--trusted-proxies", "192.0.2.1").start().await;
    let proxies = start_proxies(world.issuer_ports()[0]).await;
    let output = doctor(&world, &format!("http://localhost:{proxies}"), &AT_ONCE);
    expect(
        &output,
        "client-address",
        "skipped",
        "counts the connections of one client apart",
    );
}

/// The time is the one without `--idle`.
async fn a_connection_through_nginx_survives_a_minute(world: SharedWorld) {
    let (_nginx, url) = world.start_nginx(|config| config);
    let output = doctor(&world, &url, &[]);
    expect(&output, "kept-connection", "ok", "survives 60 s");
}

on_shapes!(a_connection_through_nginx_survives_a_minute: ; long: sqlite Sqlite);
on_every_shape!(the_front_door_of_a_healthy_installation_has_no_finding);
on_one_shape!(
    a_proxy_that_answers_itself_is_found,
    a_proxy_that_compresses_is_found,
    a_proxy_that_changes_the_host_is_found,
    a_proxy_that_changes_responses_is_found,
    a_client_that_chooses_its_address_is_found,
    a_proxy_whose_address_all_clients_have_is_found,
    several_proxies_are_not_taken_for_clients,
);
