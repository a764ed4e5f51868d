//! The number of SQL statements and of round trips to PostgreSQL for each route. The counts do not depend on
//! the machine: a proxy on the wire counts the messages of the protocol, and leaves out those of the
//! background tasks.
//!
//! A change that needs more or fewer changes the tables in [`accounts`], [`issuer`] and [`resources`]. A
//! failed test lists the statements of the route.

mod accounts;
mod issuer;
mod resources;
mod whole_tables;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use tests::{App, Call, Caller, Exchange, Post, Reply, Shape, SharedWorld, User, World, on_shapes};

/// The requests of a route before the measured ones. Each connection prepares a statement at its first use.
const WARM_UP: usize = 3;
/// The measured requests of a route, of which the median counts. An odd number.
const MEASURED: usize = 3;
/// The number of requests that [`usage`] measures.
pub(crate) const REQUESTS: usize = WARM_UP + MEASURED;
/// A route that differs from its row is measured this many times, and fails if it differs each time. A busy
/// machine decides which connection runs which statement, so several measured requests may prepare
/// statements.
const ATTEMPTS: usize = 3;

/// The statements of background tasks, by the beginning of their names. The mirror of the revocations is also
/// read after a request that revokes, but another task may read it first. A client that is kept in memory is
/// read once a second, and the use of its secret recorded once a minute.
const BACKGROUND: [&str; 33] = [
    "access_tokens::verifiers::FIND_SURPLUS",
    "access_tokens::verifiers::PRUNE",
    "access_tokens::verifiers::RECORD",
    "audit::alerts::PRUNE",
    "audit::alerts::detection::",
    "audit::alerts::webhook::",
    "audit::events::PRUNE",
    "audit::figures::ADD",
    "audit::figures::PRUNE",
    "audit::figures::live_tokens::ADD",
    "audit::figures::live_tokens::PRUNE",
    "identity::clients::FIND",
    "identity::clients::secret_rotation::RECORD_USE",
    "identity::clients::unused::PRUNE",
    "identity::logout_notices::DUE",
    "identity::mailed_tokens::PRUNE",
    "identity::refresh_families::PRUNE",
    "identity::sessions::PRUNE",
    "identity::sessions::ends::PRUNE",
    "issuer::clients::assertions::PRUNE",
    "issuer::codes::PRUNE",
    "issuer::flows::PRUNE",
    "issuer::keys::table::",
    "issuer::long_requests::PRUNE",
    "issuer::pushed_requests::PRUNE",
    "issuer::registrations::initial_tokens::PRUNE",
    "mail::delivery::",
    "resources::idempotency::stored::PRUNE",
    "revocation::revoking_tx::PRUNE",
    "revocation::rows::",
    "storage::clock_check::",
    "storage::db::pruning::",
    "issuer::device_requests::PRUNE",
];

type Prepared<'a> = Pin<Box<dyn Future<Output = Call> + 'a>>;

/// A row of a table: one request by one caller.
#[derive(Clone, Copy)]
struct Route {
    /// The `operationId`.
    operation: &'static str,
    /// The caller or the case, if there are several rows for the operation.
    case: &'static str,
    /// The number of executed statements, with `BEGIN` and `COMMIT`.
    statements: usize,
    /// The number of times that the program waits for PostgreSQL.
    round_trips: usize,
    /// Prepares the request. Runs before the measurement, and once for each request.
    request: for<'a> fn(&'a Fixture) -> Prepared<'a>,
}

/// The statements and round trips of one request.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Usage {
    pub(crate) statements: usize,
    round_trips: usize,
    /// The names of the statements, one line per round trip.
    trace: String,
}

/// The users and resources of the requests.
struct Fixture {
    world: World,
    owner: User,
    admin: User,
    /// The owner's access token of every scope.
    bearer: Caller,
    /// A third-party app, to which the owner agreed.
    app: App,
    first_party_app: App,
    confidential_app: App,
    published: Post,
    /// An app that gets its tokens by the device authorization grant.
    device_app: App,
}

macro_rules! routes {
    ($($operation:ident $case:literal [$statements:literal $round_trips:literal] |$fixture:ident| $request:expr;)+) => {
        pub(super) const ROUTES: &[super::Route] = &[$(super::Route {
            operation: stringify!($operation),
            case: $case,
            statements: $statements,
            round_trips: $round_trips,
            request: |$fixture| Box::pin(async move { $request }),
        }),+];
    };
}
use routes;

/// An address from which no other request came.
fn new_address() -> String {
    static ADDRESSES: AtomicU32 = AtomicU32::new(1);
    let n = ADDRESSES.fetch_add(1, Ordering::Relaxed);
    format!("198.51.{}.{}", n / 250, n % 250 + 1)
}

/// A caller with a new access token of every scope.
async fn bearer(world: &World, app: &App, owner: &User) -> Caller {
    let scope = foundation::scope::OF_API[..6].join(" ");
    let tokens = app.tokens(owner, &scope).await;
    world.anyone().bearer(&tokens.access)
}

impl Fixture {
    async fn create(shape: Shape) -> Self {
        let world = World::builder(shape)
            .postgres_proxy()
            .flag("--trusted-proxies", "127.0.0.1")
            .flag("--client-registration", "open")
            // Few connections, each of which prepares the statements in the warm-up.
            .flag("--database-connections", "2")
            .start()
            .await;
        let (owner, app) = world.user_and_app().await;
        let bearer = bearer(&world, &app, &owner).await;
        let published = owner.publish("A post").await;
        owner.comment(&published, "A comment").await;
        owner.pay(100).await;
        Self {
            admin: world.user_with_role("admin").await,
            bearer,
            first_party_app: world.app().first_party().register(),
            confidential_app: world.app().kind("web").register(),
            device_app: world.app().kind("native").option(&["--device"]).register(),
            owner,
            app,
            published,
            world,
        }
    }

    /// A caller without credentials at an address of its own, so that no limit of mails per address applies.
    fn elsewhere(&self) -> Caller {
        self.world.anyone().with("x-forwarded-for", &new_address())
    }

    /// Measures every route of a table. Fails the test with a list of all routes that differ from it.
    async fn check(&self, routes: &[Route]) {
        let names = statement_names();
        let mut differences = String::new();
        for route in routes {
            let Some(usage) = self.difference(route, &names).await else {
                continue;
            };
            let (operation, case) = (route.operation, route.case);
            let measured = format!("[{} {}]", usage.statements, usage.round_trips);
            let expected = format!("[{} {}]", route.statements, route.round_trips);
            let _ = write!(
                differences,
                "\n{operation} {case:?} {measured}, expected {expected}{}",
                usage.trace
            );
        }
        assert!(
            differences.is_empty(),
            "[statements, round trips] per request:{differences}"
        );
    }

    /// Prepares and sends a request of a route.
    async fn send(&self, route: &Route) {
        let call = (route.request)(self).await;
        route.expect_success(&call.await);
    }

    /// The usage of a route, if it differs from its row at each attempt.
    async fn difference(&self, route: &Route, names: &BTreeMap<String, String>) -> Option<Usage> {
        let mut usage = Usage::default();
        for _ in 0..ATTEMPTS {
            usage = self.measure(route, names).await;
            if (usage.statements, usage.round_trips) == (route.statements, route.round_trips) {
                return None;
            }
        }
        Some(usage)
    }

    /// The median usage of a route.
    async fn measure(&self, route: &Route, names: &BTreeMap<String, String>) -> Usage {
        let mut calls = Vec::new();
        for _ in 0..REQUESTS {
            calls.push((route.request)(self).await);
        }
        usage(&self.world, calls, names, |reply| route.expect_success(reply)).await
    }
}

/// Sends [`REQUESTS`] requests, the first of which warm up. Returns the median usage of the others.
pub(crate) async fn usage(
    world: &World,
    calls: Vec<Call>,
    names: &BTreeMap<String, String>,
    expect: impl Fn(&Reply),
) -> Usage {
    let proxy = world.postgres_proxy();
    let (first, mut periods) = (proxy.exchange_count(), Vec::new());
    for call in calls {
        let from = proxy.exchange_count();
        expect(&call.await);
        periods.push(from - first..proxy.exchange_count() - first);
    }
    let exchanges = proxy.exchanges_from(first);
    let measured = periods.split_off(WARM_UP).into_iter();
    let mut measured: Vec<_> = measured
        .map(|period| Usage::of(&exchanges, &period, names))
        .collect();
    measured.sort();
    measured.swap_remove(MEASURED / 2)
}

impl Route {
    /// Expects the status of success. A key may sign only five minutes after its creation, so its changes
    /// fail here, as do forms that do not fit the present keys, and a device whose user has not decided gets
    /// an error.
    fn expect_success(&self, reply: &Reply) {
        let expected_error = match self.case {
            "too early" | "changed since" | "retired before" | "unknown change" => 409,
            "device code, pending" => 400,
            _ => 0,
        };
        let is_as_expected = reply.status < 400 || reply.status == expected_error;
        assert!(is_as_expected, "{}: {reply}", self.operation);
    }
}

impl Usage {
    /// The usage by the units of work that began in a period, without those of background tasks. A unit may
    /// end after the response.
    fn of(exchanges: &[Exchange], period: &Range<usize>, names: &BTreeMap<String, String>) -> Self {
        let name = |text: &String| names.get(text).unwrap_or(text).clone();
        let is_background = |exchange: &&Exchange| {
            let mut texts = exchange.statements.iter().chain(&exchange.prepared);
            texts.any(|text| {
                BACKGROUND
                    .iter()
                    .any(|background| name(text).starts_with(background))
            })
        };
        let unit = |exchange: &Exchange| exchange.unit;
        let background: BTreeSet<usize> = exchanges.iter().filter(is_background).map(unit).collect();
        let earlier: BTreeSet<usize> = exchanges[..period.start].iter().map(unit).collect();
        let mut units: BTreeSet<usize> = exchanges[period.clone()].iter().map(unit).collect();
        units.retain(|unit| !background.contains(unit) && !earlier.contains(unit));
        let mut usage = Self::default();
        let of_units = exchanges.iter().filter(|exchange| units.contains(&exchange.unit));
        for exchange in of_units {
            usage.round_trips += 1;
            usage.statements += exchange.statements.len();
            let executed = exchange.statements.iter().map(name);
            let prepared = exchange
                .prepared
                .iter()
                .map(|text| format!("prepare {}", name(text)));
            let trip: Vec<String> = prepared.chain(executed).collect();
            let trip = if trip.is_empty() {
                "(no statement)".to_owned()
            } else {
                trip.join("; ")
            };
            let _ = write!(usage.trace, "\n    {trip}");
        }
        usage
    }
}

/// The name of each statement of the programs by its text.
pub(crate) fn statement_names() -> BTreeMap<String, String> {
    let statements = super::statements().into_iter();
    statements.map(|(name, text)| (text, name)).collect()
}

async fn resources_use_the_listed_statements(shape: Shape) {
    Fixture::create(shape).await.check(resources::ROUTES).await;
}

async fn accounts_use_the_listed_statements(shape: Shape) {
    Fixture::create(shape).await.check(accounts::ROUTES).await;
}

async fn the_issuer_uses_the_listed_statements(shape: Shape) {
    Fixture::create(shape).await.check(issuer::ROUTES).await;
}

async fn every_operation_is_in_a_table_of_statements(world: SharedWorld) {
    let anyone = world.anyone();
    let operations = anyone.contract().operations();
    let documented: BTreeSet<&str> = operations
        .iter()
        .map(|(_, _, operation)| operation["operationId"].as_str().unwrap())
        .collect();
    let tables = [resources::ROUTES, accounts::ROUTES, issuer::ROUTES];
    let listed: BTreeSet<&str> = tables
        .into_iter()
        .flatten()
        .map(|route| route.operation)
        .collect();
    assert_eq!(listed, documented);
}

on_shapes!(resources_use_the_listed_statements: postgres Postgres);
on_shapes!(accounts_use_the_listed_statements: postgres Postgres);
on_shapes!(the_issuer_uses_the_listed_statements: postgres Postgres);
on_shapes!(every_operation_is_in_a_table_of_statements: postgres Postgres);
