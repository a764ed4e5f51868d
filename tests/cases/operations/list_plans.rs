//! Every list reads about one page of rows, however the rows are distributed over users, statuses and pages.

mod administration;

use serde_json::Value;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, PgConnection, Row as _,
    SqliteConnection, raw_sql,
};
use std::str::FromStr as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use storage::db::POSTGRES_READS_BY_INDEX;
use tests::{Shape, World, on_shapes};

/// The number of rows in each table.
const ROWS: usize = 100_000;
/// The most rows that a list may read: a page and one row more, of each of two parts.
const MAX_ROWS: f64 = 2.0 * 21.0;
/// The most pages of 8 KiB that PostgreSQL may read: one for each row, and the path from the root of an index
/// to a leaf and its neighbor, for each of two parts.
const MAX_PAGES: f64 = MAX_ROWS + 2.0 * 5.0;
/// The most instructions that SQLite may execute. A page takes about 1,500, every row that is skipped takes
/// at least 3.
const MAX_INSTRUCTIONS: usize = 4_000;

/// A user who owns many rows, one who owns a single row or none, and one who does not exist.
const USERS: [i64; 3] = [1, 3, 1_000_000_000];

/// SQL expressions for the columns of the `n`th post.
struct Posts {
    author_id: &'static str,
    status: &'static str,
    deleted_at: &'static str,
}

const HALF_BY_ONE_AUTHOR: &str = "CASE WHEN n % 2 = 0 THEN 1 ELSE n END";
const HALF_DRAFTS: &str = "CASE WHEN n / 2 % 2 = 0 THEN 'draft' ELSE 'published' END";

/// A list statement and the parameters of the pages to read, as SQL literals.
struct List {
    name: String,
    text: String,
    pages: Vec<Vec<String>>,
}

impl List {
    /// Returns all lists of the API: the statements with a limit. For each of [`USERS`] there is the page
    /// that begins in the middle of the list.
    fn of_api() -> Vec<Self> {
        let statements = api_server::statements().into_iter();
        let lists = statements.filter(|(_, text)| text.contains(" LIMIT 2"));
        let with_pages = lists.map(|(name, text)| {
            let pages = USERS
                .map(|user_id| arguments(&text, |column| argument(column, user_id)))
                .into();
            Self { name, text, pages }
        });
        with_pages.collect()
    }

    /// The number of tables that the statement reads, by which the limits are multiplied.
    fn tables(&self) -> usize {
        self.text.matches("FROM ").count() + self.text.matches("JOIN ").count()
    }
}

/// Returns the parameter that is compared with a column, for the page of this user that begins in the middle
/// of a list of the API.
fn argument(column: &str, user_id: i64) -> String {
    let middle = ROWS / 2;
    match column {
        "author_id" | "user_id" | "post_id" => user_id.to_string(),
        "created_at" | "id" => middle.to_string(),
        "title" => format!("'Title {middle}'"),
        other => panic!("no argument for {other}"),
    }
}

/// Returns the parameters of a statement. `argument` gives that which is compared with a column.
fn arguments(text: &str, argument: impl Fn(&str) -> String) -> Vec<String> {
    let column = |parameter: &str| {
        let mut compared = comparisons(text).filter(|(_, value)| *value == parameter);
        compared.next().map(|(column, _)| column)
    };
    let columns = (1..).map_while(|n| column(&format!("${n}")));
    columns.map(argument).collect()
}

/// Returns the pairs of a column and a value in all comparisons, such as `(created_at, id) < ($1, $2)`.
fn comparisons(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let operators = [" = ", " < ", " > ", " <= ", " >= "];
    let sides = operators.into_iter().flat_map(move |operator| {
        text.match_indices(operator)
            .map(move |(at, _)| (&text[..at], &text[at + operator.len()..]))
    });
    sides.flat_map(|(left, right)| {
        let columns = match left.strip_suffix(')') {
            Some(row) => row.rsplit('(').next(),
            None => left.rsplit([' ', '(']).next(),
        };
        let values = match right.strip_prefix('(') {
            Some(row) => row.split(')').next(),
            None => right.split([' ', '\n', ')']).next(),
        };
        columns.unwrap().split(", ").zip(values.unwrap().split(", "))
    })
}

/// Returns the statement that inserts rows with these values, in which `n` is the number of the row.
fn insert(rows: usize, into: &str, values: &str) -> String {
    format!(
        "WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < {rows})
         INSERT INTO {into} SELECT {values} FROM series"
    )
}

/// Returns the statements that fill the tables: `posts`, and comments and payments of which user 1 owns half.
fn fill(rows: usize, posts: &Posts) -> Vec<String> {
    let insert = |into: &str, values: &str| insert(rows, into, values);
    let Posts {
        author_id,
        status,
        deleted_at,
    } = posts;
    vec![
        insert(
            "posts (author_id, title, body, status, version, created_at, updated_at, deleted_at)",
            &format!("{author_id}, 'Title ' || (n * 7919 % 100003), 'Body', {status}, 1, n * 31 % 100003, 1, {deleted_at}"),
        ),
        insert(
            "comments (post_id, author_id, body, created_at)",
            &format!("{HALF_BY_ONE_AUTHOR}, CASE WHEN n % 4 = 0 THEN 1 ELSE n END, 'Body', n * 31 % 100003"),
        ),
        insert(
            "payments (public_id, user_id, status, amount, amount_captured, amount_refunded, currency, metadata,
                       created_at, updated_at)",
            &format!("'p' || n, {HALF_BY_ONE_AUTHOR}, 'created', 1, 0, 0, 'EUR', '{{}}', n * 31 % 100003, 1"),
        ),
    ]
}

/// Returns the rows that a plan's scans read from tables and indexes.
fn rows_read(plan: &Value) -> f64 {
    let number = |name: &str| plan[name].as_f64().unwrap_or_default();
    let is_scan = plan.get("Relation Name").is_some() || plan.get("Index Name").is_some();
    let read =
        number("Actual Rows") + number("Rows Removed by Filter") + number("Rows Removed by Index Recheck");
    let here = if is_scan {
        read * number("Actual Loops")
    } else {
        0.0
    };
    let below = plan["Plans"].as_array().into_iter().flatten().map(rows_read);
    here + below.sum::<f64>()
}

async fn expect_bounded_lists_on_postgres(world: &World, fill: Vec<String>, lists: &[List]) {
    let mut connection = PgConnection::connect(&world.database_url()).await.unwrap();
    let settings = POSTGRES_READS_BY_INDEX.map(|(name, value)| format!("SET {name} = {value}"));
    let mut run = settings.to_vec();
    // Rows without their users, and no triggers.
    run.push("SET session_replication_role = replica".to_owned());
    run.extend(fill);
    run.push("ANALYZE".to_owned());
    for statement in run {
        raw_sql(AssertSqlSafe(statement))
            .execute(&mut connection)
            .await
            .unwrap();
    }
    for list in lists {
        raw_sql(AssertSqlSafe(format!("PREPARE list AS {}", list.text)))
            .execute(&mut connection)
            .await
            .unwrap();
        for page in &list.pages {
            let arguments = match page.is_empty() {
                true => String::new(),
                false => format!("({})", page.join(", ")),
            };
            let explain =
                format!("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE list {arguments}");
            let row = connection
                .fetch_one(raw_sql(AssertSqlSafe(explain)))
                .await
                .unwrap();
            let explained: Value = serde_json::from_str(row.get_unchecked(0)).unwrap();
            let plan = &explained[0]["Plan"];
            let blocks = |name: &str| plan[name].as_f64().unwrap();
            let pages = blocks("Shared Hit Blocks") + blocks("Shared Read Blocks");
            let (read, tables) = (rows_read(plan), list.tables() as f64);
            // PostgreSQL ends such a scan at the end of the index entries of the value, and reads no row
            // beyond the end of the period.
            let has_end = list.name.ends_with(" with an end");
            assert!(
                read <= MAX_ROWS * tables && (has_end || pages <= MAX_PAGES * tables),
                "{} {arguments} read {read} rows and {pages} pages: {plan:#}",
                list.name
            );
        }
        raw_sql("DEALLOCATE list").execute(&mut connection).await.unwrap();
    }
}

async fn expect_bounded_lists_on_sqlite(world: &World, fill: Vec<String>, lists: &[List]) {
    let options = SqliteConnectOptions::from_str(&world.database_url()).unwrap();
    let mut connection: SqliteConnection = options.foreign_keys(false).connect().await.unwrap();
    for statement in fill {
        raw_sql(AssertSqlSafe(statement))
            .execute(&mut connection)
            .await
            .unwrap();
    }
    let executed = Arc::<AtomicUsize>::default();
    let counter = Arc::clone(&executed);
    let count = move || {
        counter.fetch_add(1, Ordering::Relaxed);
        true
    };
    connection
        .lock_handle()
        .await
        .unwrap()
        .set_progress_handler(1, count);
    for preparation in ["SELECT 1", "ANALYZE"] {
        raw_sql(preparation).execute(&mut connection).await.unwrap();
        for list in lists {
            for page in &list.pages {
                let mut text = list.text.clone();
                for (n, argument) in page.iter().enumerate() {
                    text = text.replace(&format!("${}", n + 1), argument);
                }
                executed.store(0, Ordering::Relaxed);
                connection.fetch_all(raw_sql(AssertSqlSafe(text))).await.unwrap();
                let executed = executed.load(Ordering::Relaxed);
                assert!(
                    (1..=MAX_INSTRUCTIONS * list.tables()).contains(&executed),
                    "{} {page:?} after {preparation} took {executed} instructions",
                    list.name
                );
            }
        }
    }
}

async fn expect_bounded(world: &World, fill: Vec<String>, lists: &[List]) {
    match world.shape {
        Shape::Sqlite => expect_bounded_lists_on_sqlite(world, fill, lists).await,
        _ => expect_bounded_lists_on_postgres(world, fill, lists).await,
    }
}

async fn lists_read_one_page_if_one_author_has_only_drafts(world: World) {
    let posts = Posts {
        author_id: "1",
        status: "'draft'",
        deleted_at: "NULL",
    };
    expect_bounded(&world, fill(ROWS, &posts), &List::of_api()).await;
}

async fn lists_read_one_page_if_one_author_published_all_posts(world: World) {
    let posts = Posts {
        author_id: "1",
        status: "'published'",
        deleted_at: "NULL",
    };
    expect_bounded(&world, fill(ROWS, &posts), &List::of_api()).await;
}

async fn lists_read_one_page_if_one_author_has_half_of_the_posts(world: World) {
    let posts = Posts {
        author_id: HALF_BY_ONE_AUTHOR,
        status: HALF_DRAFTS,
        deleted_at: "CASE WHEN n % 3 = 0 THEN 1 END",
    };
    expect_bounded(&world, fill(ROWS, &posts), &List::of_api()).await;
}

async fn lists_read_one_page_if_most_posts_are_deleted(world: World) {
    let posts = Posts {
        author_id: HALF_BY_ONE_AUTHOR,
        status: HALF_DRAFTS,
        deleted_at: "CASE WHEN n % 1000 > 0 THEN 1 END",
    };
    expect_bounded(&world, fill(ROWS, &posts), &List::of_api()).await;
}

/// In small tables the planner expects less than a page of rows from many conditions.
async fn lists_read_one_page_of_small_tables(world: World) {
    let posts = Posts {
        author_id: HALF_BY_ONE_AUTHOR,
        status: HALF_DRAFTS,
        deleted_at: "NULL",
    };
    expect_bounded(&world, fill(3_000, &posts), &List::of_api()).await;
}

on_shapes!(lists_read_one_page_if_one_author_has_only_drafts: sqlite Sqlite, postgres Postgres);
on_shapes!(lists_read_one_page_if_one_author_published_all_posts: sqlite Sqlite, postgres Postgres);
on_shapes!(lists_read_one_page_if_one_author_has_half_of_the_posts: sqlite Sqlite, postgres Postgres);
on_shapes!(lists_read_one_page_if_most_posts_are_deleted: sqlite Sqlite, postgres Postgres);
on_shapes!(lists_read_one_page_of_small_tables: sqlite Sqlite, postgres Postgres);
