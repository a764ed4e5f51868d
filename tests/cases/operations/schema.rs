//! Both database engines have the same schema and run the same SQL.

use sqlx::AssertSqlSafe;
use std::collections::{BTreeMap, BTreeSet};
use storage::db::{Db, Engine};
use storage::fetch_all;
use tests::{Shape, SharedWorld, World, on_every_shape, on_shapes, root, without_deployment};

/// Column name, type, and whether it is NOT NULL.
type Column = (String, String, bool);
/// Index name, uniqueness, and columns with condition.
type Index = (String, bool, String);

#[derive(Debug, Default, PartialEq)]
struct Table {
    columns: BTreeSet<Column>,
    primary_key: BTreeSet<String>,
    indexes: BTreeSet<Index>,
}

type Schema = BTreeMap<String, Table>;

/// The common name of column types that the program treats alike.
fn common_type(declared: &str) -> &'static str {
    match declared.to_ascii_uppercase().as_str() {
        "BIGINT" | "INTEGER" => "integer",
        "TEXT" => "text",
        "BYTEA" | "BLOB" => "bytes",
        "BOOLEAN" => "boolean",
        other => panic!("the engines do not share the column type {other}"),
    }
}

/// The columns and the condition of an index, without the differences in notation between the engines.
fn index_columns(definition: &str) -> String {
    let (_, rest) = definition.split_once(" ON ").unwrap();
    let rest = &rest[rest.find('(').unwrap()..];
    let plain: String = rest.chars().filter(|c| !"()'\" \n".contains(*c)).collect();
    plain.replace("::text", "")
}

async fn sqlite_schema(db: &Db) -> Schema {
    let columns = "SELECT m.name, p.name, p.type, p.\"notnull\" <> 0, p.pk <> 0
                   FROM sqlite_schema m JOIN pragma_table_info(m.name) p WHERE m.type = 'table'";
    let mut schema = Schema::new();
    for (table, column, kind, not_null, in_key) in
        fetch_all!(db.reader(), (String, String, String, bool, bool), columns).unwrap()
    {
        if table.starts_with("sqlite_") || table.starts_with("_sqlx") {
            continue;
        }
        let table = schema.entry(table).or_default();
        // SQLite does not report NOT NULL for an INTEGER PRIMARY KEY, which is never NULL.
        table
            .columns
            .insert((column.clone(), common_type(&kind).to_owned(), not_null || in_key));
        if in_key {
            table.primary_key.insert(column);
        }
    }
    let indexes = "SELECT tbl_name, name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL";
    for (table, name, sql) in fetch_all!(db.reader(), (String, String, String), indexes).unwrap() {
        let index = (name, sql.contains("UNIQUE"), index_columns(&sql));
        schema.get_mut(&table).unwrap().indexes.insert(index);
    }
    schema
}

/// The schema on PostgreSQL without the column `transaction_id`, which SQLite has no equivalent of.
async fn postgres_schema(db: &Db) -> Schema {
    let columns = "SELECT c.table_name::text, c.column_name::text, c.data_type::text, c.is_nullable = 'NO',
                          EXISTS (SELECT 1 FROM pg_index i JOIN pg_attribute a
                                  ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
                                  WHERE i.indisprimary AND i.indrelid = quote_ident(c.table_name)::regclass
                                    AND a.attname = c.column_name)
                   FROM information_schema.columns c
                   WHERE c.table_schema = 'public' AND c.column_name <> 'transaction_id'";
    let mut schema = Schema::new();
    for (table, column, kind, not_null, in_key) in
        fetch_all!(db.reader(), (String, String, String, bool, bool), columns).unwrap()
    {
        if table.starts_with("_sqlx") {
            continue;
        }
        let table = schema.entry(table).or_default();
        table
            .columns
            .insert((column.clone(), common_type(&kind).to_owned(), not_null));
        if in_key {
            table.primary_key.insert(column);
        }
    }
    let indexes = "SELECT x.tablename::text, x.indexname::text, x.indexdef, i.indisunique
                   FROM pg_indexes x JOIN pg_index i ON i.indexrelid = quote_ident(x.indexname)::regclass
                   WHERE x.schemaname = 'public' AND NOT i.indisprimary AND x.indexname <> 'revocations_transaction_id'";
    for (table, name, definition, unique) in
        fetch_all!(db.reader(), (String, String, String, bool), indexes).unwrap()
    {
        schema
            .get_mut(&table)
            .unwrap()
            .indexes
            .insert((name, unique, index_columns(&definition)));
    }
    schema
}

async fn both_engines_have_the_same_tables_columns_and_indexes(sqlite: World) {
    let postgres = World::start(Shape::Postgres).await;
    let sqlite = sqlite_schema(&sqlite.db().await).await;
    let postgres = postgres_schema(&postgres.db().await).await;
    assert_eq!(
        sqlite.keys().collect::<Vec<_>>(),
        postgres.keys().collect::<Vec<_>>()
    );
    assert!(sqlite.len() >= 9, "{sqlite:?}");
    for (name, table) in &sqlite {
        assert_eq!(
            table, &postgres[name],
            "table {name}: left: SQLite, right: PostgreSQL"
        );
    }
}

fn the_migrations_have_the_same_names() {
    let names = |engine: &str| {
        let dir = root().join("migrations").join(engine);
        let mut names: Vec<_> = std::fs::read_dir(dir)
            .unwrap()
            .map(|file| file.unwrap().file_name())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names("sqlite"), names("postgres"));
}

async fn every_sql_statement_is_valid(world: SharedWorld) {
    let statements = super::statements();
    assert!(statements.len() > 30, "{} statements", statements.len());
    let db = world.db().await;
    for (name, text) in statements {
        let is_for_another_engine = match db.engine() {
            Engine::Sqlite(()) => name.ends_with("_POSTGRES"),
            Engine::Postgres(()) => name.ends_with("_SQLITE"),
        };
        if is_for_another_engine {
            continue;
        }
        let prepared = db.prepare(AssertSqlSafe(text)).await;
        assert!(prepared.is_ok(), "{name}: {prepared:?}");
    }
}

on_every_shape!(every_sql_statement_is_valid);

on_shapes!(both_engines_have_the_same_tables_columns_and_indexes: sqlite Sqlite);
without_deployment!(the_migrations_have_the_same_names);
