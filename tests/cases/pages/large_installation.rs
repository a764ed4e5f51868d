//! The pages for administrators of an installation with very many users, sessions, apps, consents and events.

use crate::operations::round_trips::{REQUESTS, statement_names, usage};
use sqlx::AssertSqlSafe;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use storage::execute;
use tests::{App, Browser, Shape, User, World, median, on_shapes, print_figure};

/// The numbers from 1 to 100,000: one for each app, and for each user, who has one session and one consent.
const NUMBERS: &str =
    "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100000)";
/// The number of times that as many events are inserted.
const BATCHES: u64 = 10;
/// The number of timed requests of a page.
const TIMED: usize = 20;
/// The longest median time of a page, which a busy machine keeps too.
const MAX_P50: Duration = Duration::from_secs(1);
/// A page is measured this many times, of which the smallest number of statements counts: a background task
/// may add to the others.
const ATTEMPTS: usize = 3;

/// Adds 100,000 users, as many sessions, of which all but the newest 11,111 were unused for too long, as many
/// apps and consents to an app, and an event for each of the last million seconds, a tenth of them about this
/// user and this app.
async fn fill(world: &World, user: &User, app: &App) {
    let (db, now) = (world.db().await, world.now());
    let users = format!(
        "INSERT INTO users (email, email_key, email_verified, role, password_hash, epoch, password_change_required, created_at,
                            updated_at)
         {NUMBERS} SELECT 'large' || n || '@example.org', 'large' || n || '@example.org', TRUE, 'user', '', 0, FALSE, $1, $1
         FROM numbers"
    );
    execute!(db.writer(), AssertSqlSafe(users), now).unwrap();
    let hash = db
        .reader()
        .choose("CAST('large' || id AS BLOB)", "CAST('large' || id AS BYTEA)");
    let sessions = format!(
        "INSERT INTO sessions (sid_hash, user_id, created_at, last_seen_at, expires_at, address, user_agent, amr)
         SELECT {hash}, id, $1, CASE WHEN email_key LIKE 'large9%' THEN $1 ELSE 0 END, $2, '192.0.2.1', '', 'pwd'
         FROM users WHERE email_key LIKE 'large%' ORDER BY email_key"
    );
    let end = now.after(Duration::from_hours(24));
    execute!(db.writer(), AssertSqlSafe(sessions), now, end).unwrap();
    let clients = format!(
        "INSERT INTO clients (id, name, type, redirect_uris, post_logout_redirect_uris, scope, default_scope, first_party,
                              refresh_cookie, refresh_retry_window, epoch, created_at, disabled_at, origin)
         {NUMBERS} SELECT 'large' || n, 'Large app ' || n, CASE WHEN n % 5000 = 0 THEN 'service' ELSE 'web' END, '[]', '[]',
                          'posts:read', 'posts:read', FALSE, FALSE, 0, 0, $1, CASE WHEN n % 2000 = 7 THEN $1 END, 'registration'
         FROM numbers"
    );
    execute!(db.writer(), AssertSqlSafe(clients), now).unwrap();
    let consents = "INSERT INTO consents (user_id, client_id, scope, granted_at, id)
                    SELECT id, $1, 'posts:read', $2, 'large' || id FROM users WHERE email_key LIKE 'large%'";
    execute!(db.writer(), consents, app.id.as_str(), now).unwrap();
    let events = format!(
        "INSERT INTO security_events (at, name, outcome, user_id, client_id, address, trace_id)
         {NUMBERS} SELECT $1 - CAST(n AS BIGINT) * 1000000,
                          CASE WHEN n % 20 = 0 THEN 'authn_login_fail' ELSE 'authn_login_success' END,
                          CASE WHEN n % 20 = 0 THEN 'failure' ELSE 'success' END,
                          CASE WHEN n % 10 = 0 THEN $2 ELSE n END, CASE WHEN n % 10 = 0 THEN $3 END,
                          '192.0.2.' || (n % 250), 'large' || n
         FROM numbers"
    );
    for batch in 0..BATCHES {
        // Old enough that no alert is raised about them.
        let newest = now.before(Duration::from_secs(3_600 + batch * 100_000));
        let insert = AssertSqlSafe(events.clone());
        execute!(db.writer(), insert, newest, user.id, app.id.as_str()).unwrap();
    }
    execute!(db.writer(), "ANALYZE").unwrap();
    db.close().await;
}

/// Returns the number of statements of a page, which is only known on PostgreSQL.
async fn statements(
    world: &World,
    browser: &Browser,
    page: &str,
    names: &BTreeMap<String, String>,
) -> Option<usize> {
    if world.shape == Shape::Sqlite {
        return None;
    }
    let mut fewest = usize::MAX;
    for _ in 0..ATTEMPTS {
        let calls = (0..REQUESTS).map(|_| browser.open_call(page)).collect();
        let used = usage(world, calls, names, |reply| {
            assert_eq!(reply.status, 200, "{reply}");
        });
        fewest = fewest.min(used.await.statements);
    }
    Some(fewest)
}

/// Returns the median time of a page.
async fn p50(browser: &Browser, page: &str) -> Duration {
    let mut times = Vec::new();
    for _ in 0..TIMED {
        let began = Instant::now();
        browser.open_call(page).await.expect(200);
        times.push(began.elapsed());
    }
    median(&times)
}

async fn pages_need_no_more_statements_in_a_large_installation(shape: Shape) {
    let world = World::builder(shape).postgres_proxy().start().await;
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let app = world.app().register();
    app.tokens(&user, "posts:read").await;
    let failed = user.anonymous().login(&user.email, "not the password").await;
    let failed = failed.expect(401);
    // The page reads the names of apps if an event of it has one.
    let events = "INSERT INTO security_events (at, name, outcome, user_id, client_id, trace_id)
                  VALUES ($1, 'authn_login_success', 'success', $2, $3, 'few'),
                         ($1, 'authn_login_fail', 'failure', $2, $3, 'few')";
    let (db, now) = (world.db().await, world.now());
    execute!(db.writer(), events, now, user.id, app.id.as_str()).unwrap();
    db.close().await;
    let pages = [
        "/admin".to_owned(),
        "/admin?window=week".to_owned(),
        "/admin/keys".to_owned(),
        "/admin/users".to_owned(),
        "/admin/users?order=desc".to_owned(),
        "/admin/users?role=admin".to_owned(),
        "/admin/users?search=large99".to_owned(),
        // No user fits both.
        "/admin/users?search=large&role=admin".to_owned(),
        "/admin/users?role=editor&disabled=true".to_owned(),
        format!("/admin/users?email={}", user.email),
        format!("/admin/users/{}", user.id),
        "/admin/sessions".to_owned(),
        "/admin/sessions?order=asc".to_owned(),
        format!("/admin/sessions?user_id={}", user.id),
        "/admin/clients".to_owned(),
        "/admin/clients?order=desc".to_owned(),
        "/admin/clients?search=large+app+99".to_owned(),
        "/admin/clients?search=large+app&type=service".to_owned(),
        "/admin/clients?type=service".to_owned(),
        "/admin/clients?first_party=true&disabled=true".to_owned(),
        "/admin/clients?type=web&first_party=false&disabled=true".to_owned(),
        format!("/admin/clients/{}", app.id),
        "/admin/apps/new".to_owned(),
        "/admin/token-preview".to_owned(),
        format!("/admin/token-preview?client_id={}&email={}", app.id, user.email),
        "/admin/consents".to_owned(),
        "/admin/consents?order=desc".to_owned(),
        format!("/admin/consents?client_id={}", app.id),
        format!("/admin/consents?user_id={}", user.id),
        "/admin/events".to_owned(),
        "/admin/events?order=asc".to_owned(),
        format!("/admin/events?user_id={}", user.id),
        format!("/admin/events?trace_id={}", failed.correlation_id()),
        "/admin/events?outcome=failure".to_owned(),
        // No event fits both, and many fit each.
        "/admin/events?name=authn_login_success&outcome=failure".to_owned(),
        "/admin/events?name=authn_login_success&outcome=failure&order=asc".to_owned(),
        format!("/admin/events?client_id={}&outcome=failure", app.id),
        format!("/admin/events?user_id={}&name=authn_login_success", user.id),
        "/admin/events?view=refusals".to_owned(),
        "/admin/events?view=refusals&name=authn_login_success&since=2020-01-01T00:00".to_owned(),
    ];
    let (browser, names) = (admin.browser(), statement_names());
    let mut small = Vec::new();
    for page in &pages {
        small.push(statements(&world, &browser, page, &names).await);
    }
    fill(&world, &user, &app).await;
    let mut large = Vec::new();
    let mut lines = format!("The pages for administrators of a large installation, {shape:?}:");
    for page in &pages {
        let (count, time) = (
            statements(&world, &browser, page, &names).await,
            p50(&browser, page).await,
        );
        let shown = count.map(|count| format!("{count} statements, "));
        let shown = shown.unwrap_or_default();
        let _ = write!(lines, "\n  {page}: {shown}p50 {time:?}");
        large.push((count, time));
    }
    print_figure(&lines);
    for ((page, small), (large, time)) in pages.iter().zip(&small).zip(&large) {
        assert!(large <= small, "{page}: {large:?} statements, before {small:?}");
        assert!(*time < MAX_P50, "{page}: p50 {time:?}");
    }
}

on_shapes!(pages_need_no_more_statements_in_a_large_installation: ; long: sqlite Sqlite, split Split);
