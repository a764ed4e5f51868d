//! The number of heap allocations per request on the routes that are called most. The counts are those of the
//! real program with an allocator that counts, and do not depend on the speed of the machine. Background
//! tasks allocate too, so each count is the smallest of several batches.

use serde_json::json;
use std::fmt::Write as _;
use tests::{App, Call, Caller, Post, Reply, Shape, Tokens, User, World, on_shapes};

/// The requests of a batch. Work that ends after a response may fall into the next batch, so the allocations
/// of a batch are divided by its requests and rounded.
const BATCH: usize = 32;
/// The most batches of a route after the first, which warms up caches.
const BATCHES: usize = 20;

/// A row of the table: the most allocations and reallocations of a request on each engine.
struct Limit {
    request: Request,
    sqlite: u64,
    postgres: u64,
}

const fn limit(request: Request, sqlite: u64, postgres: u64) -> Limit {
    Limit {
        request,
        sqlite,
        postgres,
    }
}

/// The limits, about two percent above the measured counts, which differ by up to that much from run to run.
const LIMITS: &[Limit] = &[
    limit(Request::Livez, 50, 50),
    limit(Request::Keys, 61, 61),
    limit(Request::PostsWithBearer, 195, 189),
    limit(Request::PostWithBearer, 91, 91),
    limit(Request::PostAnonymous, 91, 90),
    limit(Request::PostNotModified, 95, 95),
    limit(Request::CreatePost, 97, 104),
    limit(Request::Refresh, 155, 167),
    limit(Request::CodeExchange, 217, 188),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    Livez,
    Keys,
    /// A page of 20 posts.
    PostsWithBearer,
    PostWithBearer,
    PostAnonymous,
    /// With a bearer token and `If-None-Match`.
    PostNotModified,
    /// With a bearer token.
    CreatePost,
    Refresh,
    CodeExchange,
}

struct Fixture {
    world: World,
    owner: User,
    bearer: Caller,
    post: Post,
    app: App,
    /// The families of [`Request::Refresh`], one for each request of a batch.
    families: Vec<Tokens>,
}

impl Fixture {
    async fn create(shape: Shape) -> Self {
        let world = World::builder(shape)
            .flag("--max-refresh-families", "10000")
            .counting_allocations()
            .start()
            .await;
        let (owner, app) = (world.user().await, world.app().first_party().register());
        let tokens = app.tokens(&owner, "posts:read posts:write").await;
        let mut families = Vec::new();
        for _ in 0..BATCH {
            owner.publish("A post").await;
            families.push(app.tokens(&owner, "posts:read").await);
        }
        Self {
            bearer: world.anyone().bearer(&tokens.access),
            post: owner.publish("A post").await,
            owner,
            app,
            families,
            world,
        }
    }

    /// The fewest allocations per request of all batches but the first. Ends after the first batch within the
    /// limit.
    async fn measure(&mut self, request: Request, limit: u64) -> u64 {
        let mut fewest = u64::MAX;
        for batch in 0..=BATCHES {
            let calls = self.prepare(request).await;
            let mut replies = Vec::new();
            let before = self.world.allocations();
            for call in calls {
                replies.push(call.await);
            }
            let allocations = self.world.allocations() - before;
            let requests = u64::try_from(BATCH).unwrap();
            if batch > 0 {
                fewest = fewest.min((allocations + requests / 2) / requests);
            }
            self.finish(request, replies);
            if fewest <= limit {
                break;
            }
        }
        fewest
    }

    /// Prepares the requests of a batch.
    async fn prepare(&self, request: Request) -> Vec<Call> {
        let anyone = self.world.anyone();
        let mut calls = Vec::new();
        for family in &self.families {
            calls.push(match request {
                Request::Livez => anyone.get("/livez"),
                Request::Keys => anyone.get("/.well-known/jwks.json"),
                Request::PostsWithBearer => self.bearer.get("/posts?limit=20"),
                Request::PostWithBearer => self.bearer.get(&self.post.path),
                Request::PostAnonymous => anyone.get(&self.post.path),
                Request::PostNotModified => {
                    let call = self.bearer.get(&self.post.path);
                    call.header("if-none-match", &self.post.etag)
                }
                Request::CreatePost => self.bearer.post("/posts").json(&json!({ "title": "A post" })),
                Request::Refresh => self.app.refresh(&anyone, &family.refresh),
                Request::CodeExchange => {
                    let mut browser = self.owner.browser();
                    let grant = self.app.authorize(&mut browser, &self.owner, "posts:read");
                    self.app.exchange(&anyone, &grant.await)
                }
            });
        }
        calls
    }

    /// Checks the responses of a batch, and keeps the new refresh tokens.
    fn finish(&mut self, request: Request, replies: Vec<Reply>) {
        for (reply, family) in replies.into_iter().zip(&mut self.families) {
            let status = match request {
                Request::PostNotModified => 304,
                Request::CreatePost => 201,
                _ => 200,
            };
            let reply = reply.expect(status);
            if request == Request::Refresh {
                *family = Tokens::parse(reply);
            }
        }
    }
}

async fn hot_routes_allocate_at_most_the_listed_number_of_times(shape: Shape) {
    let mut fixture = Fixture::create(shape).await;
    let mut exceeded = String::new();
    for row in LIMITS {
        let limit = match shape {
            Shape::Sqlite => row.sqlite,
            _ => row.postgres,
        };
        let found = fixture.measure(row.request, limit).await;
        if found > limit {
            let _ = write!(exceeded, "\n{:?}: {found}, at most {limit}", row.request);
        }
    }
    assert!(exceeded.is_empty(), "allocations per request:{exceeded}");
}

on_shapes!(hot_routes_allocate_at_most_the_listed_number_of_times: sqlite Sqlite, postgres Postgres);
