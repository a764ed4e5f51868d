//! Slow clients of one block of addresses can hold only its share of the memory of responses, of the memory
//! of request bodies, and of the connections. The slowest client of the heaviest block loses, and everybody
//! else is served.

use serde_json::json;
use std::net::Ipv4Addr;
use tests::{
    Caller, CrawlingReader, LargeRequest, RawConnection, Shape, User, World, WorldBuilder, connections_to,
    eventually, fill_page, longest_body, on_one_shape, on_shapes,
};

/// The blocks of an attack.
const BLOCKS: usize = 12;
/// The calls beside an attack, and how many of them must succeed.
const CALLS: usize = 100;
const SUCCESSES: usize = 99;
/// The memory of responses in most tests, in MiB, and the number of full pages that it can hold, which have
/// 7.6 MiB each.
const RESPONSE_MEMORY: &str = "64";
const PAGES: usize = 8;
/// The memory of request bodies in most tests, in MiB, and the length of the part of a body that an attacker
/// sends.
const REQUEST_MEMORY: &str = "4";
const HELD_BODY: usize = 900_000;

/// Programs that believe what a proxy says about the addresses of clients, with little memory for what slow
/// clients hold.
fn behind_proxy(shape: Shape) -> WorldBuilder {
    World::builder(shape)
        .flag("--trusted-proxies", "127.0.0.1")
        .flag("--response-memory", RESPONSE_MEMORY)
        .flag("--request-memory", REQUEST_MEMORY)
}

/// The address of the n-th block of an attack, as a proxy forwards it.
fn attacker(n: usize) -> String {
    format!("10.{}.{}.1", n / 256, n % 256)
}

/// A caller at the first API process, from another address.
fn at(world: &World, user: &User, address: &str) -> Caller {
    world.at_each_api(user)[0].with("x-forwarded-for", address)
}

/// A user whose list of posts is as large as a list can be.
async fn user_with_full_page(world: &World) -> User {
    let user = world.user().await;
    fill_page(&user, &longest_body()).await;
    user
}

async fn readers_beside_slow_readers_of_a_dozen_blocks_succeed(shape: Shape) {
    let world = behind_proxy(shape).start().await;
    let ann = user_with_full_page(&world).await;
    let request = LargeRequest::new(&world, &ann, "/posts");
    let mut slow = Vec::new();
    for n in 0..3 * BLOCKS {
        slow.push(request.begin(&attacker(n % BLOCKS)).await);
    }
    let mut successes = 0;
    for n in 0..CALLS {
        let (honest, attacker) = (format!("192.0.2.{n}"), attacker(n % BLOCKS));
        let (is_complete, another) = tokio::join!(request.read(&honest), request.begin(&attacker));
        successes += usize::from(is_complete);
        slow.push(another);
        if slow.len() > 4 * BLOCKS {
            slow.remove(0);
        }
    }
    assert!(successes >= SUCCESSES, "{successes} of {CALLS} readers succeeded");
}

/// Begins to read a full page from each of these addresses, one after the other.
async fn begin_each(request: &LargeRequest, addresses: &[&str]) -> Vec<CrawlingReader> {
    let mut readers = Vec::new();
    for address in addresses {
        readers.push(request.begin(address).await);
    }
    readers
}

/// Expects that one of two of these readers loses when another one begins, which has an address of its own,
/// and that all others get the whole response. Which of the two is slower depends on the buffers of the
/// kernels.
async fn expect_loser(request: &LargeRequest, addresses: [&str; PAGES], losers: [usize; 2]) {
    let mut readers = begin_each(request, &addresses).await;
    readers.push(request.begin("203.0.113.1").await);
    let ports: Vec<u16> = readers.iter().map(|reader| reader.port).collect();
    eventually("nobody loses", async || request.count_served(&ports) == PAGES).await;
    let mut lost = losers
        .into_iter()
        .filter(|loser| request.count_served(&[ports[*loser]]) == 0);
    let lost = lost
        .next()
        .unwrap_or_else(|| panic!("another one loses: {addresses:?}"));
    assert!(!readers.remove(lost).finish().await);
    for reader in readers {
        assert!(reader.finish().await, "{addresses:?}");
    }
}

async fn a_reader_of_the_heaviest_block_loses(shape: Shape) {
    let world = behind_proxy(shape).start().await;
    let ann = user_with_full_page(&world).await;
    let request = LargeRequest::new(&world, &ann, "/posts");
    let others = ["198.18.1.1", "198.18.2.1", "198.18.3.1", "198.18.4.1"];
    let [b, c, d, e] = others;
    let [f, g] = ["198.18.5.1", "198.18.6.1"];
    // An address, the addresses of an IPv4 /24, the /64 blocks of an IPv6 /48.
    expect_loser(&request, [b, "192.0.2.1", c, "192.0.2.1", d, e, f, g], [1, 3]).await;
    expect_loser(&request, [b, c, "192.0.2.1", "192.0.2.2", d, e, f, g], [2, 3]).await;
    let [one, other] = ["2001:db8:7:1::1", "2001:db8:7:2::1"];
    expect_loser(&request, [b, one, c, other, d, e, f, g], [1, 3]).await;
    // Of the blocks in it, the heaviest.
    expect_loser(&request, [one, other, other, b, c, d, e, f], [1, 2]).await;
}

async fn an_address_that_exceeds_its_share_loses_to_itself(shape: Shape) {
    let world = behind_proxy(shape).start().await;
    let ann = user_with_full_page(&world).await;
    let request = LargeRequest::new(&world, &ann, "/posts");
    let other = request.begin("198.18.1.1").await;
    let mut readers = begin_each(&request, &["192.0.2.1"; PAGES]).await;
    let ports: Vec<u16> = readers.iter().map(|reader| reader.port).collect();
    // Most of the whole is free.
    eventually("one address holds most of the memory", async || {
        (1..=PAGES / 2).contains(&request.count_served(&ports))
    })
    .await;
    assert!(readers.pop().unwrap().finish().await, "the newest loses");
    assert!(other.finish().await, "another address loses");
}

/// A request whose body stops to arrive.
struct HeldBody(RawConnection);

impl HeldBody {
    /// Sends most of the body of a new post.
    async fn begin(world: &World, user: &User, address: &str) -> Self {
        let mut connection = RawConnection::connect(world.api_ports()[0]).await;
        let head = format!(
            "POST /posts HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\
             cookie: sid={sid}; csrf={csrf}\r\nx-csrf-token: {csrf}\r\nx-forwarded-for: {address}\r\n\
             expect: 100-continue\r\n\r\n",
            sid = user.sid,
            csrf = user.csrf
        );
        connection.send(head).await;
        connection.read_until("100 Continue").await;
        connection.send(vec![b' '; HELD_BODY]).await;
        Self(connection)
    }

    /// Waits for the end of the connection. Expects that the program gave up the body to make room.
    async fn expect_lost(mut self) {
        let answer = self.0.read_to_end().await;
        assert!(
            answer.contains("HTTP/1.1 408 ") && answer.contains("slower than others"),
            "{answer}"
        );
    }
}

/// Begins to send bodies from the blocks in turn.
async fn hold_bodies(world: &World, user: &User, count: usize) -> Vec<HeldBody> {
    let mut held = Vec::new();
    for n in 0..count {
        held.push(HeldBody::begin(world, user, &attacker(n % BLOCKS)).await);
    }
    held
}

async fn writers_beside_held_bodies_of_a_dozen_blocks_succeed(shape: Shape) {
    let world = behind_proxy(shape).start().await;
    let ann = world.user().await;
    let held = hold_bodies(&world, &ann, 2 * BLOCKS).await;
    let port = world.api_ports()[0];
    let ports: Vec<u16> = held.iter().map(|held| held.0.local_port()).collect();
    // Four bodies fit. The others have lost, and their programs have closed the connections after the
    // response.
    eventually("too many bodies are held", async || {
        let open = connections_to(port);
        ports.iter().filter(|port| open.contains(port)).count() <= 4
    })
    .await;
    let open = connections_to(port);
    for held in held {
        if !open.contains(&held.0.local_port()) {
            held.expect_lost().await;
        }
    }
    let long = json!({ "title": "A long post", "body": "x".repeat(100_000) });
    let (mut successes, mut held) = (0, Vec::new());
    for n in 0..CALLS {
        held.push(HeldBody::begin(&world, &ann, &attacker(n % BLOCKS)).await);
        let honest = at(&world, &ann, &format!("192.0.2.{n}"));
        let reply = honest.post("/posts").json(&long).attempt().await;
        successes += usize::from(reply.is_some_and(|reply| reply.status == 201));
    }
    assert!(successes >= SUCCESSES, "{successes} of {CALLS} writers succeeded");
}

/// Opens a connection that is kept after a request.
async fn hold_connection(address: Ipv4Addr, port: u16) -> RawConnection {
    let mut connection = RawConnection::connect_from(address, port).await;
    connection
        .send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await;
    connection
}

/// Asks whether the program is alive. Returns whether it answers.
async fn is_answered(connection: &mut RawConnection) -> bool {
    connection
        .send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await;
    connection.try_read_until("\"live\"}").await.is_some()
}

/// Expects that clients can connect beside connections from these addresses, and that a kept connection
/// stays.
async fn expect_connections_beside(shape: Shape, attackers: impl Fn(usize) -> Ipv4Addr) {
    const MAX: usize = 60;
    let world = World::builder(shape)
        .flag("--max-connections", &MAX.to_string())
        .flag("--keep-alive", "10m")
        .start()
        .await;
    let port = world.api_ports()[0];
    let mut kept = RawConnection::connect_from(Ipv4Addr::new(127, 8, 0, 1), port).await;
    assert!(is_answered(&mut kept).await);
    let mut held = Vec::new();
    for n in 0..2 * MAX {
        held.push(hold_connection(attackers(n), port).await);
    }
    let mut successes = 0;
    for n in 0..CALLS {
        held.push(hold_connection(attackers(n), port).await);
        let mut honest = RawConnection::connect_from(Ipv4Addr::new(127, 9, 0, 1), port).await;
        successes += usize::from(is_answered(&mut honest).await);
    }
    assert!(
        successes >= SUCCESSES,
        "{successes} of {CALLS} clients could connect"
    );
    assert!(is_answered(&mut kept).await, "the kept connection was closed");
    let open = connections_to(port);
    let of_attack = held.iter().filter(|held| open.contains(&held.local_port()));
    let of_attack = of_attack.count();
    assert!((1..=MAX).contains(&of_attack), "{of_attack}");
}

async fn clients_beside_the_connections_of_one_address_can_connect(shape: Shape) {
    expect_connections_beside(shape, |_| Ipv4Addr::new(127, 1, 0, 1)).await;
}

async fn clients_beside_the_connections_of_a_dozen_blocks_can_connect(shape: Shape) {
    expect_connections_beside(shape, |n| {
        Ipv4Addr::new(127, 1, u8::try_from(n % BLOCKS).unwrap(), 1)
    })
    .await;
}

/// All clients reach the program through the connections of the proxy.
async fn connections_of_a_trusted_proxy_are_not_those_of_one_address(shape: Shape) {
    let proxy = Ipv4Addr::new(127, 7, 0, 1);
    let world = World::builder(shape)
        .flag("--max-connections", "60")
        .flag("--trusted-proxies", "127.7.0.1/32")
        .start()
        .await;
    let port = world.api_ports()[0];
    let mut of_proxy = Vec::new();
    for _ in 0..40 {
        let mut connection = RawConnection::connect_from(proxy, port).await;
        assert!(is_answered(&mut connection).await);
        of_proxy.push(connection);
    }
    let mut held = Vec::new();
    for n in 0..40_u8 {
        held.push(hold_connection(Ipv4Addr::new(127, 1, n, 1), port).await);
    }
    let mut honest = RawConnection::connect_from(Ipv4Addr::new(127, 9, 0, 1), port).await;
    assert!(is_answered(&mut honest).await);
    for connection in &mut of_proxy {
        assert!(
            is_answered(connection).await,
            "a connection of the proxy was closed"
        );
    }
}

on_one_shape!(
    readers_beside_slow_readers_of_a_dozen_blocks_succeed,
    a_reader_of_the_heaviest_block_loses,
    an_address_that_exceeds_its_share_loses_to_itself,
    writers_beside_held_bodies_of_a_dozen_blocks_succeed,
    clients_beside_the_connections_of_one_address_can_connect,
    clients_beside_the_connections_of_a_dozen_blocks_can_connect,
    connections_of_a_trusted_proxy_are_not_those_of_one_address,
);

/// The default settings, and an attack on all three at once.
async fn everybody_else_is_served_beside_a_large_attack(shape: Shape) {
    const CONNECTIONS: usize = 4_000;
    const READERS: usize = 300;
    const BODIES: usize = 250;
    let world = World::builder(shape)
        .flag("--trusted-proxies", "127.0.0.1")
        .flag("--max-connections", "2000")
        .start()
        .await;
    let ann = user_with_full_page(&world).await;
    let port = world.api_ports()[0];
    let request = LargeRequest::new(&world, &ann, "/posts");
    let mut readers = request.begin_at_many_addresses(READERS).await;
    let _bodies = hold_bodies(&world, &ann, BODIES).await;
    let attacker_at = |n: usize| Ipv4Addr::new(127, 1, u8::try_from(n % BLOCKS).unwrap(), 1);
    let mut held = Vec::new();
    for n in 0..CONNECTIONS {
        held.push(hold_connection(attacker_at(n), port).await);
    }
    let long = json!({ "title": "A long post", "body": "x".repeat(100_000) });
    let (mut pages, mut posts, mut connected) = (0, 0, 0);
    for n in 0..CALLS {
        held.push(hold_connection(attacker_at(n), port).await);
        readers.push(request.begin(&attacker(n % BLOCKS)).await);
        let honest = at(&world, &ann, &format!("192.0.2.{n}"));
        pages += usize::from(request.read(&format!("192.0.2.{n}")).await);
        let reply = honest.post("/posts").json(&long).attempt().await;
        posts += usize::from(reply.is_some_and(|reply| reply.status == 201));
        let mut client = RawConnection::connect_from(Ipv4Addr::new(127, 9, 0, 1), port).await;
        connected += usize::from(is_answered(&mut client).await);
    }
    for successes in [pages, posts, connected] {
        assert!(
            successes >= SUCCESSES,
            "{pages} pages, {posts} posts, {connected} connections"
        );
    }
}

on_shapes!(
    everybody_else_is_served_beside_a_large_attack: ; long: sqlite Sqlite, split Split
);
