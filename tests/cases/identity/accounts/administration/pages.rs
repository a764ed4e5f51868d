//! The lists under `/admin/` have the pages of the API's lists.

use sqlx::AssertSqlSafe;
use storage::execute;
use tests::{User, World, expect_pages_of_45, items, link, on_every_shape};

/// Inserts 45 rows with these values, in which `n` is the number of the row.
async fn insert(world: &World, into: &str, values: &str) {
    let sql = format!(
        "WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < 45)
         INSERT INTO {into} SELECT {values} FROM series"
    );
    let db = world.db().await;
    execute!(db.writer(), AssertSqlSafe(sql)).unwrap();
}

/// Fills the tables. Returns the paths of lists with 45 items.
async fn fill(world: &World, user: &User) -> [String; 9] {
    let (id, now) = (user.id, world.now().micros());
    let users = "users (email, email_key, email_verified, role, password_hash, epoch, password_change_required, created_at,
                        updated_at)";
    insert(
        world,
        users,
        "'', 'key' || n, FALSE, 'editor', '', 1, FALSE, n, 1",
    )
    .await;
    let clients = "clients (id, name, type, redirect_uris, post_logout_redirect_uris, scope, default_scope, first_party,
                            refresh_cookie, refresh_retry_window, epoch, created_at)";
    let client = "'many-' || n, '', 'native', '[]', '[]', '', '', FALSE, FALSE, 0, 0, 1";
    insert(world, clients, client).await;
    let sessions = "sessions (sid_hash, user_id, created_at, last_seen_at, expires_at, amr)";
    let session =
        format!("CAST(CAST(n AS TEXT) AS BYTEA), {id}, {now} + n, {now}, {now} + 3600000000, 'pwd'");
    // The session of the user's own sign-in is the 46th.
    execute!(
        world.db().await.writer(),
        "DELETE FROM sessions WHERE user_id = $1",
        id
    )
    .unwrap();
    insert(world, sessions, &session).await;
    let consents = "consents (user_id, client_id, scope, granted_at, id)";
    let of_user = format!("{id}, 'many-' || n, '', 1, 'by user ' || n");
    insert(world, consents, &of_user).await;
    let app = world.app().register().id;
    let of_client = format!("users.id, '{app}', '', 1, 'by client ' || users.id");
    let sql = format!("INSERT INTO {consents} SELECT {of_client} FROM users WHERE role = 'editor'");
    execute!(world.db().await.writer(), AssertSqlSafe(sql)).unwrap();
    let events = "security_events (at, name, outcome, user_id, trace_id)";
    // Twenty events have the same time each. An older one than a year could be deleted meanwhile.
    let event = format!("{now} + n / 20, 'rare', 'success', NULL, ''");
    insert(world, events, &event).await;
    insert_deleted_keys(world).await;
    // Five tokens end at the same time.
    let tokens = "registration_tokens (id, token_hash, uses_left, created_at, expires_at)";
    for (first, uses_left) in [(0, "n"), (100, "0")] {
        let number = format!("CAST({first} + n AS TEXT)");
        let token = format!("{number}, CAST({number} AS BYTEA), {uses_left}, 1, {now} + 3600000000 + n / 5");
        insert(world, tokens, &token).await;
    }
    [
        "/admin/users?role=editor&".to_owned(),
        "/admin/clients?type=native&".to_owned(),
        format!("/admin/sessions?user_id={id}&"),
        format!("/admin/consents?user_id={id}&"),
        format!("/admin/consents?client_id={app}&"),
        "/admin/events?name=rare&".to_owned(),
        "/admin/keys?state=deleted&".to_owned(),
        "/admin/registration-tokens?used_up=true&".to_owned(),
        "/admin/registration-tokens?used_up=false&".to_owned(),
    ]
}

/// Inserts keys in their last state, which a trigger prevents otherwise.
async fn insert_deleted_keys(world: &World) {
    let db = world.db().await;
    let without_trigger = db.engine().choose(
        "DROP TRIGGER signing_keys_begin",
        "DROP TRIGGER signing_keys_begin ON signing_keys",
    );
    execute!(db.writer(), without_trigger).unwrap();
    let keys =
        "signing_keys (kid, number, state, public_jwk, created_at, sign_after, deleted_at, compromised)";
    insert(
        world,
        keys,
        "'key ' || n, 1000 + n, 'deleted', '{}', 1, 2, 3, TRUE",
    )
    .await;
}

async fn every_list_is_paged_forward_and_backward_in_both_orders(world: World) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    for path in fill(&world, &user).await {
        let ascending = expect_pages_of_45(&admin, &format!("{path}order=asc")).await;
        let mut descending = expect_pages_of_45(&admin, &format!("{path}order=desc")).await;
        descending.reverse();
        assert_eq!(ascending, descending, "{path}");
        let by_default = items(&admin.get(&path).await.expect(200));
        let newest_first = ["sessions", "events", "keys"]
            .iter()
            .any(|list| path.contains(list));
        let expected = if newest_first { &descending } else { &ascending };
        let first = if newest_first { &expected[44] } else { &expected[0] };
        assert_eq!(&by_default[0], first, "{path}");
    }
}

async fn the_first_valid_value_of_a_repeated_parameter_counts(world: World) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    fill(&world, &user).await;
    for query in [
        "role=root&role=editor",
        "role=&role=editor&role=user",
        "order=up&order=asc&role=editor",
    ] {
        let page = admin.get(&format!("/admin/users?{query}")).await.expect(200);
        assert!(
            items(&page).iter().all(|user| user["role"] == "editor"),
            "{query}"
        );
        let next = link(&page, "next").unwrap();
        assert!(next.contains("role=editor") && !next.contains("root"), "{next}");
    }
}

/// The page of the keys links to the pages before and after it.
async fn the_pages_of_keys_are_linked(world: World) {
    insert_deleted_keys(&world).await;
    let mut browser = world.user_with_role("admin").await.browser();
    let mut page = browser.open("/admin/keys").await;
    for [shown, newer, older] in [[20, 0, 1], [20, 1, 1], [7, 1, 0]] {
        let links = page.links();
        let (back, on): (Vec<_>, Vec<_>) = links
            .iter()
            .filter(|link| {
                link.query()
                    .is_some_and(|query| query.contains("cursor=") && !query.contains("language="))
            })
            .partition(|link| link.query().unwrap().contains("dir=prev"));
        assert_eq!((back.len(), on.len()), (newer, older), "{}", page.reply);
        let html = page.reply.text();
        assert_eq!(html.matches("id=\"key-").count(), shown, "{}", page.reply);
        // Each page says what can be done now.
        assert!(html.contains("class=\"time-line\""), "{}", page.reply);
        if let Some(next) = on.first() {
            page = browser.open(next.as_str()).await;
        }
    }
}

on_every_shape!(
    the_pages_of_keys_are_linked,
    every_list_is_paged_forward_and_backward_in_both_orders,
    the_first_valid_value_of_a_repeated_parameter_counts,
);
