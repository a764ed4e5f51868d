//! The lists under `/admin/`.

use super::{List, ROWS, arguments, expect_bounded, insert};
use storage::db::Engine;
use tests::{World, on_shapes};

/// The values of filters that select many rows, one row or few, and none.
struct Selected {
    user_id: i64,
    administrator_id: i64,
    role: &'static str,
    client_id: &'static str,
    client_type: &'static str,
    client_name: &'static str,
    event: &'static str,
    key_state: &'static str,
}

const SELECTED: [Selected; 3] = [
    Selected {
        user_id: 1,
        administrator_id: 1,
        role: "user",
        client_id: "a",
        client_type: "spa",
        client_name: "app 5000",
        event: "common",
        key_state: "deleted",
    },
    Selected {
        user_id: 3,
        administrator_id: 3,
        role: "editor",
        client_id: "b",
        client_type: "service",
        client_name: "app 99999",
        event: "rare",
        key_state: "active",
    },
    Selected {
        user_id: 1_000_000_000,
        administrator_id: 1_000_000_000,
        role: "admin",
        client_id: "none",
        client_type: "native",
        client_name: "none",
        event: "none",
        key_state: "none",
    },
];

impl Selected {
    /// Returns the value of a column in the comparisons of a statement, as an SQL literal. An anchor is in
    /// the middle of the list.
    fn value(&self, column: &str) -> String {
        match column {
            "id" | "at" | "number" => (ROWS / 2).to_string(),
            "last_seen_at" | "expires_at" => "0".to_owned(),
            "user_id" | "consents.user_id" => self.user_id.to_string(),
            "administrator_id" => self.administrator_id.to_string(),
            "address" => format!("'address of {}'", self.event),
            "detail" => format!("'detail of {}'", self.event),
            "trace_id" => format!("'trace {}'", ROWS / 6),
            "outcome" => match self.event {
                "common" => "'success'".to_owned(),
                _ => "'failure'".to_owned(),
            },
            "role" => format!("'{}'", self.role),
            "client_id" | "consents.client_id" => format!("'{}'", self.client_id),
            "name" => format!("'{}'", self.event),
            "type" => format!("'{}'", self.client_type),
            "state" => format!("'{}'", self.key_state),
            "registration_tokens.expires_at" => (ROWS / 2).to_string(),
            "registration_tokens.id" => format!("'token {}'", ROWS / 2),
            "email_key" => format!("'key{}'", self.user_id),
            other => panic!("no value for {other}"),
        }
    }
}

/// The statements with a limit of a page, without those whose names have this end.
fn lists(other_engine: &str) -> Vec<List> {
    let statements = [
        audit::statements(),
        identity::statements(),
        auth_server::statements(),
    ]
    .concat();
    let lists = statements.into_iter().filter(|(name, text)| {
        // A search reads more rows than a page, and ends after a number of them.
        let is_search = name.contains("::search ");
        let is_page = name.contains("::list") && text.contains(" LIMIT 21") && !is_search;
        let is_list = is_page || name.contains("::list::changes::");
        is_list && !name.ends_with(other_engine)
    });
    let with_pages = lists.map(|(name, text)| {
        let is_of_clients = name.contains("clients::list");
        let is_prefix = name.contains("Prefix");
        let pages = SELECTED.iter().map(|selected| {
            arguments(&text, |column| match column {
                "id" if is_of_clients => format!("'client {}'", ROWS / 2),
                "email_key" if is_prefix => "'key5000'".to_owned(),
                "name" if is_of_clients => format!("'{}'", selected.client_name),
                // That of the anchor, beside its id. The pages of a search begin with what it finds.
                "name)" if name.contains("search: Name") => format!("'{}'", selected.client_name),
                "name)" => format!("'app {}'", ROWS / 2),
                _ => selected.value(column),
            })
        });
        List {
            pages: pages.collect(),
            name,
            text,
        }
    });
    with_pages.collect()
}

/// The statements that read the details of the sessions or consents on a page, whose ids are in the middle of
/// the list.
fn details(engine: &Engine<(), ()>) -> Vec<List> {
    let other_engine = engine.choose("_POSTGRES", "_SQLITE");
    let (begin, end) = engine.choose(("[", "]"), ("{", "}"));
    let ids = |id: fn(usize) -> String| {
        let ids: Vec<String> = (ROWS / 2..).take(20).map(id).collect();
        format!("'{begin}{}{end}'", ids.join(","))
    };
    let statements = identity::statements().into_iter();
    let details = statements.filter(|(name, _)| name.contains("::DETAILS") && !name.ends_with(other_engine));
    let lists = details.map(|(name, text)| {
        let ids = match name.contains("::consents::") {
            true => ids(|n| format!("\"consent{n}\"")),
            false => ids(|n| n.to_string()),
        };
        let pages = vec![vec![ids, "1".to_owned()]];
        List { name, text, pages }
    });
    lists.collect()
}

/// Nearly all users are enabled and no administrators, nearly all clients are enabled single-page apps of
/// third parties, one client has nearly all consents, one user many sessions, all signing keys but two are
/// deleted, and nearly all initial access tokens are used up.
async fn lists_of_the_administration_read_one_page(world: World) {
    let fill = [
        (
            "users (email, email_key, email_verified, role, password_hash, epoch, password_change_required,
                    created_at, updated_at, disabled_at)",
            "'', 'key' || n, FALSE,
             CASE WHEN n % 50000 = 0 THEN 'admin' WHEN n % 1000 = 0 THEN 'editor' ELSE 'user' END, '', 1, FALSE, 1, 1,
             CASE WHEN n % 2000 = 7 THEN 1 END",
        ),
        (
            "sessions (sid_hash, user_id, created_at, last_seen_at, expires_at, amr)",
            "CAST(CAST(n AS TEXT) AS BYTEA), CASE WHEN n % 2 = 0 THEN 1 ELSE n END, n, n, n, 'pwd'",
        ),
        (
            "clients (id, name, type, redirect_uris, post_logout_redirect_uris, scope, default_scope, first_party, refresh_cookie,
                      refresh_retry_window, epoch, created_at, disabled_at)",
            "'client ' || n, 'App ' || n, CASE WHEN n % 20000 = 0 THEN 'service' ELSE 'spa' END, '[]', '[]', '', '', n % 5000 = 0,
             FALSE, 0, 0, 1, CASE WHEN n % 3000 = 7 THEN 1 END",
        ),
        (
            "consents (user_id, client_id, scope, granted_at, id)",
            "n, CASE WHEN n % 50000 = 0 THEN 'b' ELSE 'a' END, '', 1, 'consent' || n",
        ),
        (
            "security_events (at, name, outcome, user_id, administrator_id, client_id, address, detail,
                              trace_id)",
            "n, CASE WHEN n % 20000 = 0 THEN 'rare' WHEN n % 1000 = 1 THEN 'user_disabled' ELSE 'common' END,
             CASE WHEN n % 20000 = 0 THEN 'failure' ELSE 'success' END, CASE WHEN n % 2 = 0 THEN 1 ELSE n END,
             CASE WHEN n % 1000 = 0 THEN 1 END, CASE WHEN n % 20000 = 0 THEN 'b' ELSE 'a' END,
             CASE WHEN n % 20000 = 0 THEN 'address of rare' ELSE 'address of common' END,
             CASE WHEN n % 20000 = 0 THEN 'detail of rare' ELSE 'detail of common' END,
             'trace ' || n / 3",
        ),
        (
            "signing_keys (kid, number, state, public_jwk, created_at, sign_after, deleted_at, compromised)",
            "'key ' || n, 1000 + n, 'deleted', '{}', 1, 2, 3, TRUE",
        ),
        (
            "registration_tokens (id, token_hash, uses_left, created_at, expires_at)",
            "'token ' || n, CAST(CAST(n AS TEXT) AS BYTEA), CASE WHEN n % 20000 = 0 THEN 1 ELSE 0 END, 1, n",
        ),
    ];
    let mut fill = fill.map(|(into, values)| insert(ROWS, into, values)).to_vec();
    // The other tables are filled without triggers on PostgreSQL, and have none on SQLite.
    let engine = world.db().await.engine();
    if let Engine::Sqlite(_) = engine {
        fill.insert(0, "DROP TRIGGER signing_keys_begin".to_owned());
    }
    fill.push(
        "INSERT INTO clients (id, name, type, redirect_uris, post_logout_redirect_uris, scope, default_scope, first_party, refresh_cookie,
                              refresh_retry_window, epoch, created_at)
         VALUES ('a', '', 'spa', '[]', '[]', '', '', FALSE, FALSE, 0, 0, 1),
                ('b', '', 'spa', '[]', '[]', '', '', FALSE, FALSE, 0, 0, 1)"
            .to_owned(),
    );
    let mut lists = lists(engine.choose("_POSTGRES", "_SQLITE"));
    assert!(lists.len() > 70, "{} lists", lists.len());
    lists.extend(details(&engine));
    expect_bounded(&world, fill, &lists).await;
}

on_shapes!(lists_of_the_administration_read_one_page: sqlite Sqlite, postgres Postgres);
