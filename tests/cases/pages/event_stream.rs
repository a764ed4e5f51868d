//! The stream of new security events, for administrators.

mod command;
mod page;

use super::events::PATH;
use foundation::random;
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;
use std::collections::BTreeSet;
use std::time::Duration;
use storage::{execute, fetch_one, fetch_optional};
use tests::{
    PASSWORD, RawConnection, SharedWorld, User, World, eventually, on_every_shape, on_many_processes,
    on_one_shape, on_postgresql,
};

/// A stream of new events.
struct Stream {
    response: reqwest::Response,
    text: String,
}

impl Stream {
    /// Opens the stream of the events of this user at the first replica of the issuer, at the position `last`
    /// if there is one.
    async fn open(world: &World, admin: &User, of: &User, last: Option<&str>) -> Self {
        let issuer = format!("http://localhost:{}", world.issuer_ports()[0]);
        Self::open_at(&issuer, admin, of, last).await
    }

    /// Opens it at this origin.
    async fn open_at(origin: &str, admin: &User, of: &User, last: Option<&str>) -> Self {
        Self::open_url(&format!("{origin}{PATH}/stream?user_id={}", of.id), admin, last).await
    }

    /// Opens the stream at this URL.
    async fn open_url(url: &str, admin: &User, last: Option<&str>) -> Self {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let mut request = client.get(url).header("cookie", format!("sid={}", admin.sid));
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-store");
        let text = String::new();
        Self { response, text }
    }

    /// Waits for the event with this correlation id. Returns the position.
    async fn wait_for(&mut self, correlation_id: &str) -> String {
        loop {
            let complete = self.text.rsplit_once("\n\n").map_or("", |(complete, _)| complete);
            let found = complete
                .split("\n\n")
                .find(|message| message.contains(correlation_id));
            if let Some(message) = found {
                let mut lines = message.lines();
                let id = lines.find_map(|line| line.strip_prefix("id:"));
                return id.unwrap().trim().to_owned();
            }
            let chunk = self.response.chunk().await.unwrap();
            let chunk = chunk.unwrap_or_else(|| panic!("the stream ended: {}", self.text));
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// Waits for the end. Returns the position and the event of each message about one.
    async fn read_to_end(mut self) -> Vec<(String, Value)> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.response.chunk().await.unwrap() {
            bytes.extend_from_slice(&chunk);
        }
        let text = String::from_utf8(bytes).unwrap();
        let messages = text.split("\n\n").filter_map(|message| {
            let field = |name: &str| message.lines().find_map(|line| line.strip_prefix(name));
            let event = serde_json::from_str(field("data:")?).unwrap();
            Some((field("id:")?.trim().to_owned(), event))
        });
        messages.collect()
    }
}

/// Records this many events of a client. Returns the id of the newest event before them.
async fn record_many(world: &World, client: &str, count: usize) -> i64 {
    let db = world.db().await;
    let newest = "SELECT id FROM security_events ORDER BY id DESC LIMIT 1";
    let newest = fetch_optional!(db.reader(), (i64,), newest).unwrap();
    let insert = format!(
        "INSERT INTO security_events (at, name, outcome, client_id, trace_id)
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count})
         SELECT $1, 'many', 'success', $2, 'a' FROM numbers"
    );
    execute!(db.writer(), AssertSqlSafe(insert), world.now(), client).unwrap();
    newest.map_or(0, |(id,)| id)
}

async fn an_administrator_follows_new_events(world: SharedWorld) {
    let (admin, user, other) = (
        world.user_with_role("admin").await,
        world.user().await,
        world.user().await,
    );
    let page = admin.browser().open(PATH).await;
    assert!(
        page.reply.text().contains("data-events=\"/admin/events/stream?"),
        "{}",
        page.reply
    );
    let mut stream = Stream::open(&world, &admin, &user, None).await;
    let failed = user.anonymous().login(&user.email, "not the password").await;
    let failed = failed.expect(401);
    let id = stream.wait_for(failed.correlation_id()).await;
    drop(stream);
    // A client that connects again misses nothing.
    let elsewhere = other.anonymous().login(&other.email, PASSWORD).await.expect(200);
    let missed = user.anonymous().login(&user.email, PASSWORD).await.expect(200);
    let mut resumed = Stream::open(&world, &admin, &user, Some(&id)).await;
    resumed.wait_for(missed.correlation_id()).await;
    let unwanted = elsewhere.correlation_id();
    assert!(!resumed.text.contains(unwanted), "{}", resumed.text);
    // The stream ends with the session.
    admin.post("/logout").await.expect(204);
    while resumed.response.chunk().await.unwrap().is_some() {}
    let stream = format!("{PATH}/stream?seconds=0");
    user.get(&stream).await.expect_error(403, "forbidden");
    admin.get(&stream).await.expect_error(401, "unauthenticated");
}

/// The stream has the words of an event for a page, in its language, and for a program the event alone.
async fn a_page_follows_events_in_its_language(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let page = admin.browser().in_language("de").open(PATH).await;
    assert!(page.reply.text().contains("language=de\""), "{}", page.reply);
    let issuer = format!("http://localhost:{}", world.issuer_ports()[0]);
    let url = format!("{issuer}{PATH}/stream?user_id={}", user.id);
    let mut of_program = Stream::open_url(&url, &admin, None).await;
    let mut of_page = Stream::open_url(&format!("{url}&language=de"), &admin, None).await;
    let role = admin.patch(&format!("/admin/users/{}", user.id));
    role.json(&json!({ "role": "editor" })).await.expect(200);
    let name = "privilege_permissions_changed";
    for stream in [&mut of_program, &mut of_page] {
        stream.wait_for(name).await;
    }
    let [by_program, by_page] = [&of_program, &of_page].map(|stream| {
        let mut messages = stream.text.lines().filter_map(|line| line.strip_prefix("data:"));
        let message = messages.find(|data| data.contains(name)).unwrap();
        serde_json::from_str::<Value>(message).unwrap()
    });
    assert_eq!(by_program["words"], Value::Null, "{by_program}");
    assert_eq!(by_page["detail"], by_program["detail"], "{by_page}");
    let words = json!({
        "what": "Ein Administrator hat die Rolle geändert",
        "detail": "Benutzer → Redakteur",
        "user": user.email,
        "administrator": admin.email,
        "touched": [["Benutzer öffnen", format!("/admin/users/{}", user.id)]],
    });
    assert_eq!(by_page["words"], words, "{by_page}");
}

/// A proxy that buffers the stream would begin to answer when it ends, after 15 seconds.
async fn events_pass_a_proxy_that_buffers_responses(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let mut stream = Stream::open_at(world.base(), &admin, &user, None).await;
    let failed = user.anonymous().login(&user.email, "not the password").await;
    let failed = failed.expect(401);
    let arrival = stream.wait_for(failed.correlation_id());
    let arrived = tokio::time::timeout(Duration::from_secs(10), arrival).await;
    assert!(arrived.is_ok(), "the event did not pass the proxy");
}

/// A stream that has much to catch up with ends when its time is over, too, and a connection may break in the
/// midst of what it reads at once.
async fn a_client_that_connects_again_misses_no_event(world: World) {
    const EVENTS: usize = 2_000;
    let (admin, client) = (world.user_with_role("admin").await, random::id());
    let after = record_many(&world, &client, EVENTS).await;
    let issuer = format!("http://localhost:{}", world.issuer_ports()[0]);
    let url = format!("{issuer}{PATH}/stream?client_id={client}&after={after}&seconds=0");
    let (mut received, mut last) = (BTreeSet::new(), None::<String>);
    while received.len() < EVENTS {
        let former = received.len();
        let stream = Stream::open_url(&url, &admin, last.as_deref()).await;
        let mut sent = stream.read_to_end().await;
        assert!(sent.len() <= 700, "{} events", sent.len());
        sent.truncate(400);
        received.extend(sent.iter().map(|(_, event)| event["id"].as_i64().unwrap()));
        assert!(received.len() > former, "only {former} events arrive");
        last = sent.pop().map(|(position, _)| position);
    }
}

/// The transaction of an event may be committed after that of an event with a larger id.
async fn a_page_is_followed_by_events_that_are_committed_late(world: World) {
    let (admin, client, db) = (
        world.user_with_role("admin").await,
        random::id(),
        world.db().await,
    );
    let insert = "INSERT INTO security_events (at, name, outcome, client_id, trace_id)
                  VALUES ($1, 'late', 'success', $2, $3) RETURNING id";
    let [late, on_page] = [(); 2].map(|()| random::id());
    let mut tx = db.begin().await.unwrap();
    let (now, client) = (world.now(), client.as_str());
    let (id,) = fetch_one!(tx.on(), (i64,), insert, now, client, late.as_str()).unwrap();
    let (shown,) = fetch_one!(db.writer(), (i64,), insert, now, client, on_page.as_str()).unwrap();
    assert!(id < shown);
    let page = admin.browser().open(&format!("{PATH}?client_id={client}")).await;
    let text = page.reply.text();
    assert!(text.contains(&format!("data-id=\"{shown}\"")), "{}", page.reply);
    let attribute = |name: &str| {
        let value = text.split_once(&format!("{name}=\"")).unwrap().1;
        value
            .split_once('"')
            .unwrap()
            .0
            .replace("&#38;", "&")
            .replace("&amp;", "&")
    };
    // The script leaves out the events up to the newest, except these.
    let missing = attribute("data-missing");
    assert!(
        missing.split(' ').any(|missing| missing == id.to_string()),
        "{missing}"
    );
    assert!(attribute("data-newest").parse::<i64>().unwrap() >= shown);
    tx.commit().await.unwrap();
    let issuer = format!("http://localhost:{}", world.issuer_ports()[0]);
    let url = format!("{issuer}{}", attribute("data-events"));
    Stream::open_url(&url, &admin, None).await.wait_for(&late).await;
}

/// Opens as many streams as a process has.
async fn open_all(world: &World, admin: &User) -> Vec<RawConnection> {
    let port = world.issuer_ports()[0];
    let request = format!(
        "GET {PATH}/stream HTTP/1.1\r\nHost: localhost:{port}\r\nCookie: sid={}\r\n\r\n",
        admin.sid
    );
    let mut streams = Vec::new();
    for _ in 0..50 {
        let mut stream = RawConnection::connect(port).await;
        stream.send(&request).await;
        // The first message tells when to connect again.
        stream.read_until("\nretry:").await;
        streams.push(stream);
    }
    streams
}

async fn a_process_has_at_most_50_streams(world: World) {
    let admin = world.user_with_role("admin").await;
    let port = world.issuer_ports()[0];
    let (issuer, path) = (
        admin.at(&format!("http://localhost:{port}")),
        format!("{PATH}/stream?seconds=0"),
    );
    let mut streams = open_all(&world, &admin).await;
    let refused = issuer.get(&path).await;
    assert_eq!(refused.header("retry-after"), "1");
    refused.expect_error(429, "rate_limited");
    // Other requests are served meanwhile.
    issuer.get(PATH).await.expect(200);
    drop(streams.pop());
    eventually("the end of a stream makes no room for another", async || {
        issuer.get(&path).await.status == 200
    })
    .await;
}

on_every_shape!(
    a_client_that_connects_again_misses_no_event,
    a_page_follows_events_in_its_language,
    an_administrator_follows_new_events,
);
on_many_processes!(events_pass_a_proxy_that_buffers_responses);
on_postgresql!(a_page_is_followed_by_events_that_are_committed_late);
on_one_shape!(a_process_has_at_most_50_streams);
