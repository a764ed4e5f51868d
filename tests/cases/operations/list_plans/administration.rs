//! The lists under `/admin/`, except that of the clients, of which there are few.

use super::{List, ROWS, expect_bounded, insert};
use tests::{World, on_one_process};

/// The first pages, and pages from the middle, of these lists: the end of the name of the statement, and its
/// parameters.
const PAGES: &[(&str, &[&[&str]])] = &[
    ("account::PAGE", &[&["0", "20"], &["50000", "20"]]),
    ("account::PAGE_ENABLED", &[&["50000", "20"]]),
    ("account::PAGE_DISABLED", &[&["0", "20"], &["50000", "20"]]),
    ("account::PAGE_BY_ROLE", BY_ROLE),
    ("account::PAGE_ENABLED_BY_ROLE", BY_ROLE),
    ("account::PAGE_DISABLED_BY_ROLE", BY_ROLE),
    ("sessions::PAGE", &[&["0", "0", "50000", "20"]]),
    (
        "sessions::PAGE_OF_USER",
        &[
            &["0", "0", "50000", "20", "1"],
            &["0", "0", "50000", "20", "3"],
            &["0", "0", "50000", "20", "1000000000"],
        ],
    ),
    ("consents::PAGE", &[&["0", "''", "20"], &["50000", "'a'", "20"]]),
    (
        "consents::PAGE_OF_USER",
        &[&["50000", "''", "20"], &["1000000000", "''", "20"]],
    ),
    (
        "consents::PAGE_OF_CLIENT",
        &[
            &["50000", "'a'", "20"],
            &["0", "'b'", "20"],
            &["0", "'none'", "20"],
        ],
    ),
    ("consents::PAGE_OF_USER_AND_CLIENT", &[&["50000", "'a'", "20"]]),
    ("events::list::LIST", &[&["50000", "50000", "20"]]),
    (
        "events::list::LIST_BY_NAME",
        &[&["50000", "50000", "20", "'rare'"]],
    ),
    ("events::list::LIST_BY_USER", &[&["50000", "50000", "20", "1"]]),
    (
        "events::list::LIST_BY_USER_AND_NAME",
        &[&["50000", "50000", "20", "1", "'common'"]],
    ),
    (
        "events::list::LIST_BY_ADMINISTRATOR",
        &[
            &["50000", "50000", "20", "1", "NULL", "NULL"],
            &["50000", "50000", "20", "1000000000", "1", "'common'"],
        ],
    ),
];

const BY_ROLE: &[&[&str]] = &[
    &["50000", "20", "'user'"],
    &["0", "20", "'editor'"],
    &["0", "20", "'admin'"],
];

/// The lists, with the statements that are for this engine or for both.
fn lists(engine: &str) -> Vec<List> {
    let statements = [audit::statements(), identity::statements()].concat();
    let list = |(end, pages): &(&str, &[&[&str]])| {
        let mut named = statements
            .iter()
            .filter(|(name, _)| name.strip_suffix(engine).unwrap_or(name).ends_with(end));
        let (name, text) = named.next().unwrap_or_else(|| panic!("no statement {end}"));
        let literals = |page: &&[&str]| page.iter().map(|literal| (*literal).to_owned()).collect();
        List {
            name: (*name).to_owned(),
            text: (*text).to_owned(),
            pages: pages.iter().map(literals).collect(),
        }
    };
    PAGES.iter().map(list).collect()
}

/// Nearly all users are enabled and no administrators, one client has nearly all consents, and one user many sessions.
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
            "consents (user_id, client_id, scope, granted_at, id)",
            "n, CASE WHEN n % 50000 = 0 THEN 'b' ELSE 'a' END, '', 1, 'consent' || n",
        ),
        (
            "security_events (at, name, outcome, user_id, administrator_id, trace_id)",
            "n, CASE WHEN n % 20000 = 0 THEN 'rare' ELSE 'common' END, 'success', CASE WHEN n % 2 = 0 THEN 1 ELSE n END,
             CASE WHEN n % 1000 = 0 THEN 1 END, ''",
        ),
    ];
    let mut fill = fill.map(|(into, values)| insert(ROWS, into, values)).to_vec();
    fill.push(
        "INSERT INTO clients (id, name, type, redirect_uris, post_logout_redirect_uris, scope, default_scope, first_party, refresh_cookie,
                              refresh_retry_window, epoch, created_at)
         VALUES ('a', '', 'spa', '[]', '[]', '', '', FALSE, FALSE, 0, 0, 1),
                ('b', '', 'spa', '[]', '[]', '', '', FALSE, FALSE, 0, 0, 1)"
            .to_owned(),
    );
    let engine = world.db().await.engine().choose("_SQLITE", "_POSTGRES");
    expect_bounded(&world, fill, &lists(engine)).await;
}

on_one_process!(lists_of_the_administration_read_one_page);
