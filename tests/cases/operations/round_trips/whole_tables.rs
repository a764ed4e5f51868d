//! No route and no deletion of expired rows reads a whole table on PostgreSQL, neither with the plans that it
//! made while the tables were small nor with those for large ones.

use super::{Fixture, WARM_UP, accounts, bearer, issuer, resources};
use serde_json::Value;
use sqlx::{
    AssertSqlSafe, Connection as _, Executor as _, PgConnection, Row as _, query_as, query_scalar, raw_sql,
};
use storage::db::POSTGRES_READS_BY_INDEX;
use tests::{Shape, eventually, on_shapes};

/// The rows of a small table: as many as must change before PostgreSQL makes statistics of its own accord.
const FEW: i64 = 50;
/// The rows of a large table.
const MANY: i64 = 20_000;
/// The large tables with their columns, and the values of the `n`th row. `CLIENT_ID` is that of an app.
/// Nothing expires.
const LARGE_TABLES: [(&str, &str); 21] = [
    (
        "users (id, email, email_key, email_verified, role, password_hash, epoch, password_change_required, created_at,
                updated_at)",
        "1000000 + n, '', 'key' || n, FALSE, 'user', '', 0, FALSE, 1, 1",
    ),
    (
        "sessions (sid_hash, user_id, created_at, last_seen_at, expires_at, amr)",
        "sha256(n::TEXT::BYTEA), 1000000 + n, 1, 5000000000000000, 5000000000000000, 'pwd'",
    ),
    (
        "ended_sessions (sid_hash, reason, ended_at, expires_at)",
        "sha256(n::TEXT::BYTEA), 'unused', 1, 5000000000000000",
    ),
    (
        "recovery_codes (user_id, code_hash)",
        "1000000 + n / 10, sha256(n::TEXT::BYTEA)",
    ),
    (
        "passkeys (user_id, credential_id, credential, name, is_synced, created_at, challenged_at)",
        "1000000 + n / 10, sha256(n::TEXT::BYTEA), '', '', FALSE, 1, 1",
    ),
    (
        "mailed_tokens (token_hash, user_id, purpose, email, email_key, created_at, expires_at)",
        "sha256(n::TEXT::BYTEA), 1000000 + n, 'password_reset', '', 'key' || n, 1, 5000000000000000",
    ),
    (
        "clients (id, name, type, redirect_uris, post_logout_redirect_uris, scope, default_scope, first_party, refresh_cookie,
                  refresh_retry_window, epoch, created_at, origin)",
        "'client' || n, '', 'web', '[]', '[]', 'posts:read', 'posts:read', FALSE, FALSE, 0, 0, 1, 'registration'",
    ),
    (
        "client_documents (client_id, fetched_at, fresh_until)",
        "'client' || n, 5000000000000000, 5000000000000000",
    ),
    (
        "consents (user_id, client_id, scope, granted_at, id)",
        "1000000 + n, 'CLIENT_ID', '', 1, 'consent' || n",
    ),
    (
        "authorization_codes (code_hash, family_id, client_id, client_epoch, user_id, session_id, consent_id,
                              redirect_uri, code_challenge, scope, expires_at, request_uri_hash)",
        "sha256(n::TEXT::BYTEA), 'f' || n, 'CLIENT_ID', 0, 1000000 + n, 1000000 + n, 'c' || n, '', '', '', 5000000000000000,
         sha256(n::TEXT::BYTEA)",
    ),
    (
        "finished_flows (id, expires_at)",
        "'flow' || n, 5000000000000000",
    ),
    (
        "pushed_requests (request_uri_hash, client_id, params, expires_at)",
        "sha256(n::TEXT::BYTEA), 'CLIENT_ID', '', 5000000000000000",
    ),
    (
        "refresh_families (id, client_id, user_id, session_id, user_epoch, client_epoch, scope, auth_time, amr,
                           generation, created_at, last_used_at, idle_expires_at, expires_at)",
        "'f' || n, 'CLIENT_ID', 1000000 + n, 1000000 + n, 0, 0, '', 1, 'pwd', 1, 1, 1, 5000000000000000, 5000000000000000",
    ),
    (
        "security_events (at, name, outcome, user_id, trace_id)",
        "EXTRACT(EPOCH FROM now() - INTERVAL '20 days') * 1000000, 'sign_in', 'success', 1000000 + n, ''",
    ),
    (
        "posts (id, author_id, title, body, status, version, created_at, updated_at)",
        "1000000 + n, 1000000 + n, 'Title ' || n, 'Body', CASE WHEN n % 2 = 0 THEN 'draft' ELSE 'published' END, 1, 1, 1",
    ),
    (
        "comments (post_id, author_id, body, created_at)",
        "1000000 + n, 1000000 + n, 'Body', 1",
    ),
    (
        "payments (public_id, user_id, status, amount, amount_captured, amount_refunded, currency, metadata,
                   created_at, updated_at)",
        "'p' || n, 1000000 + n, 'created', 1, 0, 0, 'EUR', '{}', 1, 1",
    ),
    (
        "idempotency_keys (id, user_id, fingerprint, receipt, expires_at)",
        "sha256(n::TEXT::BYTEA), 1000000 + n, '', '', 5000000000000000",
    ),
    ("storage_use (user_id, bytes)", "1000000 + n, 0"),
    ("figures (at)", "5000000000000000 + n"),
    (
        "device_requests (id, device_code_hash, user_code_mac, client_id, client_epoch, scope, created_at, expires_at,
                          poll_interval, next_poll_at)",
        "'d' || n, sha256(n::TEXT::BYTEA), sha256(n::TEXT::BYTEA), 'CLIENT_ID', 0, '', 1, 5000000000000000, 5, 1",
    ),
];

/// The programs on PostgreSQL, and a connection of the test.
struct Tables {
    fixture: Fixture,
    connection: PgConnection,
}

impl Tables {
    /// Starts the programs. New statistics make PostgreSQL plan anew, so there are none until
    /// [`analyze`](Self::analyze).
    async fn create(shape: Shape) -> Self {
        let fixture = Fixture::create(shape).await;
        let url = fixture.world.database_url();
        let connection = PgConnection::connect(&url).await.unwrap();
        let mut tables = Self { fixture, connection };
        for (setting, value) in POSTGRES_READS_BY_INDEX {
            tables.run(format!("SET {setting} = {value}")).await;
        }
        let names: Vec<String> = query_scalar("SELECT relname::TEXT FROM pg_stat_user_tables")
            .fetch_all(&mut tables.connection)
            .await
            .unwrap();
        for name in names {
            let statement = format!("ALTER TABLE {name} SET (autovacuum_enabled = off)");
            tables.run(statement).await;
        }
        tables
    }

    async fn run(&mut self, statement: String) {
        raw_sql(AssertSqlSafe(statement))
            .execute(&mut self.connection)
            .await
            .unwrap();
    }

    /// Makes the statistics of the planner.
    async fn analyze(&mut self) {
        self.run("ANALYZE".to_owned()).await;
    }

    /// Adds the rows with these numbers.
    async fn fill(&mut self, from: i64, to: i64) {
        // Without triggers, such as those of foreign keys.
        self.run("SET session_replication_role = replica".to_owned())
            .await;
        for (into, values) in LARGE_TABLES {
            let values = values.replace("CLIENT_ID", &self.fixture.app.id);
            self.run(format!(
                "INSERT INTO {into} SELECT {values} FROM generate_series({from}, {to}) AS n"
            ))
            .await;
        }
    }

    /// Sends several requests of every route, so that several connections have plans.
    async fn use_routes(&mut self) {
        for routes in [resources::ROUTES, accounts::ROUTES, issuer::ROUTES] {
            let fixture = &mut self.fixture;
            // All routes together may take longer on a busy machine than an access token is valid.
            fixture.bearer = bearer(&fixture.world, &fixture.app, &fixture.owner).await;
            for route in routes {
                for _ in 0..WARM_UP {
                    fixture.send(route).await;
                }
            }
        }
    }

    /// Fails the test if the plan of a statement that deletes expired rows has a scan without a condition for its
    /// index.
    async fn expect_deletions_by_range(&mut self) {
        let statements = crate::operations::statements().into_iter();
        for (name, sql) in statements.filter(|(name, _)| name.ends_with("::PRUNE")) {
            self.run(format!("PREPARE deletion AS {sql}")).await;
            let explain = "EXPLAIN (FORMAT JSON) EXECUTE deletion (0, 500)";
            let row = self.connection.fetch_one(raw_sql(explain)).await.unwrap();
            let plans: Value = serde_json::from_str(row.get_unchecked(0)).unwrap();
            assert!(are_bounded(&plans[0]["Plan"]), "{name}: {plans:#}");
            self.run("DEALLOCATE deletion".to_owned()).await;
        }
    }

    /// Stops the programs. Fails the test if they read as many rows of a table or entries of an index as a
    /// table has.
    async fn expect_few_reads(mut self) {
        self.fixture.world.stop().await;
        let db = self.fixture.world.db().await;
        // A connection that ends adds its counts to those of the tables.
        eventually("the connections of the programs do not end", async || {
            let open = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()
                        AND application_name = 'latchkey' AND pid <> pg_backend_pid()";
            let (open,): (i64,) = storage::fetch_one!(db.reader(), (i64,), open).unwrap();
            open == 0
        })
        .await;
        // A task in the background reads the latest security events again and again: those of 35 seconds
        // after each commit, and for each user who signed in meanwhile those of 15 minutes. `list_plans`
        // tests the lists of events.
        let many_reads = "
            SELECT relname::TEXT, seq_tup_read FROM pg_stat_user_tables WHERE seq_tup_read >= $1
            UNION ALL
            SELECT indexrelname::TEXT, idx_tup_read FROM pg_stat_user_indexes
            WHERE idx_tup_read >= $1 AND indexrelname NOT IN ('security_events_at', 'security_events_name', 'security_events_user_id')";
        let many_reads: Vec<(String, i64)> = query_as(many_reads)
            .bind(MANY)
            .fetch_all(&mut self.connection)
            .await
            .unwrap();
        assert!(
            many_reads.is_empty(),
            "the rows and entries read of tables and indexes: {many_reads:?}"
        );
    }
}

/// Returns whether each scan of a plan has a condition for an index.
fn are_bounded(plan: &Value) -> bool {
    let is_scan =
        plan["Node Type"].as_str().unwrap().ends_with("Scan") && plan.get("Relation Name").is_some();
    let mut below = plan["Plans"].as_array().into_iter().flatten();
    (!is_scan || plan.get("Index Cond").is_some()) && below.all(are_bounded)
}

/// The plan for a table of a few rows may differ with each row more.
async fn no_deletion_reads_a_whole_table(shape: Shape) {
    let mut tables = Tables::create(shape).await;
    let mut filled = 0;
    for rows in [5, 20, FEW, 1_000] {
        tables.fill(filled + 1, rows).await;
        tables.analyze().await;
        tables.expect_deletions_by_range().await;
        filled = rows;
    }
}

async fn no_route_reads_a_whole_table_by_a_plan_for_small_tables(shape: Shape) {
    let mut tables = Tables::create(shape).await;
    tables.fill(1, FEW).await;
    tables.analyze().await;
    tables.use_routes().await;
    tables.fill(FEW + 1, MANY).await;
    tables.use_routes().await;
    tables.expect_few_reads().await;
}

async fn no_route_reads_a_whole_table_by_a_plan_for_large_tables(shape: Shape) {
    let mut tables = Tables::create(shape).await;
    tables.fill(1, MANY).await;
    tables.analyze().await;
    tables.use_routes().await;
    tables.expect_few_reads().await;
}

on_shapes!(no_deletion_reads_a_whole_table: postgres Postgres);
on_shapes!(no_route_reads_a_whole_table_by_a_plan_for_small_tables: postgres Postgres);
on_shapes!(no_route_reads_a_whole_table_by_a_plan_for_large_tables: postgres Postgres);
