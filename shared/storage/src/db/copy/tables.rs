//! The tables of an installation, as both databases describe them, and the statements that copy one.
//!
//! A row passes as a line of the text format of PostgreSQL's `COPY`. SQLite computes the same line as
//! PostgreSQL, so that rows are compared by their lines.

use super::CopyError;
use crate::sql;
use sqlx::{PgConnection, Postgres, Sqlite, SqliteConnection};
use std::collections::BTreeSet;

sql! {
    // The columns of the tables, each table after those to which its rows refer. A name that begins with `_`
    // is that of a table about the database.
    COLUMNS_SQLITE = "WITH RECURSIVE tables (name) AS (
                          SELECT name FROM sqlite_schema
                          WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '_*'
                      ), levels (name, level) AS (
                          SELECT name, 0 FROM tables
                          UNION
                          SELECT t.name, l.level + 1
                          FROM levels l JOIN tables t JOIN pragma_foreign_key_list(t.name) r
                          WHERE r.\"table\" = l.name AND t.name <> l.name
                      )
                      SELECT t.name, c.name, c.type, c.pk
                      FROM (SELECT name, MAX(level) AS level FROM levels GROUP BY name) t JOIN pragma_table_info(t.name) c
                      ORDER BY t.level, t.name, c.cid";
    // PostgreSQL alone numbers its transactions, and fills the column with that of the copy.
    COLUMNS_POSTGRES = "SELECT table_name::text, column_name::text, data_type::text
                        FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
                        WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'
                          AND left(table_name, 1) <> '_' AND data_type <> 'xid8'";
}

/// The number of rows that a transaction copies.
pub(super) const BATCH: i64 = 10_000;

/// The characters that `COPY` writes as a backslash and another character. The backslash comes first, because
/// the others add some.
const ESCAPES: [(u8, &str); 7] = [
    (b'\\', r"\\"),
    (8, r"\b"),
    (b'\t', r"\t"),
    (b'\n', r"\n"),
    (11, r"\v"),
    (12, r"\f"),
    (b'\r', r"\r"),
];

/// A column of a table: the names of both, and the type.
type ColumnOfTable = (String, String, Option<Kind>);

/// A type that both engines have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Integer,
    Text,
    Bytes,
    Boolean,
}

#[derive(Debug)]
struct Column {
    name: String,
    kind: Kind,
    /// The position in the primary key, or 0.
    key: i64,
}

/// A table that both databases have.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: String,
    columns: Vec<Column>,
}

impl Kind {
    /// Returns the type of this name, or `None` if it has no equivalent.
    fn of(declared: &str) -> Option<Self> {
        match declared.to_ascii_uppercase().as_str() {
            "INTEGER" | "BIGINT" => Some(Self::Integer),
            "TEXT" => Some(Self::Text),
            "BLOB" | "BYTEA" => Some(Self::Bytes),
            "BOOLEAN" => Some(Self::Boolean),
            _ => None,
        }
    }
}

impl Column {
    /// Returns the expression of SQLite for the value in a line. It is null for a boolean that is none.
    fn text(&self) -> String {
        let name = quoted(&self.name);
        let text = match self.kind {
            Kind::Integer => format!("CAST({name} AS TEXT)"),
            Kind::Bytes => format!(r"'\\x' || lower(hex({name}))"),
            Kind::Boolean => format!("CASE {name} WHEN 0 THEN 'f' WHEN 1 THEN 't' END"),
            Kind::Text => ESCAPES.iter().fold(name.clone(), |text, (character, escape)| {
                format!("replace({text}, char({character}), '{escape}')")
            }),
        };
        format!(r"iif({name} IS NULL, '\N', {text})")
    }
}

impl Table {
    /// Returns the statement of SQLite for the next lines after the row with this number, each with its own.
    pub(super) fn batch(&self) -> String {
        let (line, name) = (self.line(), quoted(&self.name));
        format!("SELECT rowid, {line} FROM {name} WHERE rowid > $1 ORDER BY rowid LIMIT {BATCH}")
    }

    /// Returns the statement of SQLite for all lines, by their keys.
    pub(super) fn all_lines(&self) -> String {
        let (line, name, key) = (self.line(), quoted(&self.name), self.key(|_| ""));
        format!("SELECT {line} FROM {name} ORDER BY {key}")
    }

    /// Returns the statement of PostgreSQL that reads lines.
    pub(super) fn copy_in(&self) -> String {
        let (name, columns) = (quoted(&self.name), self.column_list());
        format!("COPY {name} ({columns}) FROM STDIN")
    }

    /// Returns the statement of PostgreSQL that writes all lines by their keys, in the order of SQLite.
    pub(super) fn copy_out(&self) -> String {
        let key = self.key(|kind| if kind == Kind::Text { " COLLATE \"C\"" } else { "" });
        let (name, columns) = (quoted(&self.name), self.column_list());
        format!("COPY (SELECT {columns} FROM {name} ORDER BY {key}) TO STDOUT")
    }

    /// Returns the statement of PostgreSQL that switches the triggers of the migrations off or on: those
    /// count what is stored, and refuse rows that did not begin in their first state. Foreign keys and checks
    /// apply.
    pub(super) fn switch_triggers(&self, switch: &str) -> String {
        format!("ALTER TABLE {} {switch} TRIGGER USER;", quoted(&self.name))
    }

    /// Returns the expression of SQLite for the line of a row.
    fn line(&self) -> String {
        let texts: Vec<String> = self.columns.iter().map(Column::text).collect();
        texts.join(" || char(9) || ")
    }

    fn column_list(&self) -> String {
        let names: Vec<String> = self.columns.iter().map(|column| quoted(&column.name)).collect();
        names.join(", ")
    }

    /// Returns the columns of the primary key in their order, each with the collation of its type.
    fn key(&self, collation: fn(Kind) -> &'static str) -> String {
        let mut key: Vec<&Column> = self.columns.iter().filter(|column| column.key > 0).collect();
        key.sort_by_key(|column| column.key);
        let names: Vec<String> = key
            .iter()
            .map(|column| format!("{}{}", quoted(&column.name), collation(column.kind)))
            .collect();
        names.join(", ")
    }
}

/// Returns the tables, each after those to which its rows refer. Fails with [`CopyError::OtherSchema`] unless
/// both databases have the same tables with the same columns and types.
pub(super) async fn tables(
    source: &mut SqliteConnection,
    target: &mut PgConnection,
) -> Result<Vec<Table>, CopyError> {
    let of_target = sqlx::query_as::<Postgres, (String, String, String)>(COLUMNS_POSTGRES);
    let of_target = of_target.fetch_all(target).await?.into_iter();
    let mut others: BTreeSet<ColumnOfTable> = of_target
        .map(|(table, column, declared)| (table, column, Kind::of(&declared)))
        .collect();
    let of_source = sqlx::query_as::<Sqlite, (String, String, String, i64)>(COLUMNS_SQLITE);
    let mut tables: Vec<Table> = Vec::new();
    for (table, name, declared, key) in of_source.fetch_all(source).await? {
        let is_in_both = |kind: &Kind| others.remove(&(table.clone(), name.clone(), Some(*kind)));
        let Some(kind) = Kind::of(&declared).filter(is_in_both) else {
            return Err(CopyError::OtherSchema(format!("{table}.{name}")));
        };
        let column = Column { name, kind, key };
        match tables.last_mut().filter(|last| last.name == table) {
            Some(last) => last.columns.push(column),
            None => tables.push(Table {
                name: table,
                columns: vec![column],
            }),
        }
    }
    match others.pop_first() {
        Some((table, column, _)) => Err(CopyError::OtherSchema(format!("{table}.{column}"))),
        None => Ok(tables),
    }
}

/// Returns a name as an identifier of SQL.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
