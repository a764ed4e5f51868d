//! Macros that declare statements and run them on either engine.
//!
//! The argument `on` of a macro that runs a statement is the result of `Db::reader`, `Db::writer` or
//! `Tx::on`. The macro awaits the statement and evaluates to a `Result` whose error is `db::Error`.

/// Declares statements as constants, and their list `STATEMENTS`, which a test prepares on both engines. A
/// statement for one engine only has a name that ends in `_SQLITE` or `_POSTGRES`.
///
/// A `SELECT` with two names, `NAME, LOCK_POSTGRES = "…"`, is declared twice. The second one locks the rows
/// until the transaction ends, as an `UPDATE` does. SQLite runs the first one: it has no row locks, and a
/// transaction excludes all other writers.
#[macro_export]
macro_rules! sql {
    ($($(#[$doc:meta])* $name:ident $(, $lock:ident)? = $text:expr;)+) => {
        $(
            $(#[$doc])* const $name: &str = $text;
            $(const $lock: &str = concat!($text, " FOR NO KEY UPDATE");)?
        )+

        /// The statements of this module with their names.
        pub const STATEMENTS: &[(&str, &str)] = &[$(
            (concat!(module_path!(), "::", stringify!($name)), $name),
            $((concat!(module_path!(), "::", stringify!($lock)), $lock),)?
        )+];
    };
}

/// `delete_expired!("table")` is the text of a statement for [`Db::prune`](crate::db::Db::prune): it deletes
/// the oldest `$2` rows of the table whose `expires_at` is at most `$1`, and those that expired in the same
/// microsecond as the last of them.
///
/// The condition is a range, because PostgreSQL may read a whole small table to find rows by a list of keys,
/// and keep that plan when the table is large.
///
/// The index for it is on the expression `expires_at + 0`, so that no other statement can use it. Most of them
/// have the condition `expires_at > now`, and in a table of one or two rows PostgreSQL might plan to find the
/// rows by it.
///
/// `delete_expired!("table", "time")` compares `time` in place of this expression: a column with an index.
#[macro_export]
macro_rules! delete_expired {
    ($table:literal) => {
        $crate::delete_expired!($table, "expires_at + 0")
    };
    ($table:literal, $time:literal) => {
        concat!(
            "DELETE FROM ",
            $table,
            " WHERE ",
            $time,
            " <= COALESCE((SELECT ",
            $time,
            " FROM ",
            $table,
            " WHERE ",
            $time,
            " <= $1 ORDER BY ",
            $time,
            " LIMIT 1 OFFSET $2 - 1), $1)"
        )
    };
}

/// `fetch_one!(on, Row, SQL, bind…)` returns the first row, or an error if there is none.
#[macro_export]
macro_rules! fetch_one {
    ($on:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        $crate::fetch_optional!($on, $row, $sql $(, $bind)*).and_then($crate::db::require_row)
    };
}

/// `fetch_optional!(on, Row, SQL, bind…)` returns the first row, or `None` if there is none.
#[macro_export]
macro_rules! fetch_optional {
    ($on:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        match $on {
            $crate::db::Engine::Sqlite(on) => {
                let call = on.fetch_optional($crate::__bind!(Sqlite, $sql $(, $bind)*));
                let row = $crate::__traced!("sqlite", $sql, call).await;
                $crate::db::decode_optional::<$row, _>(row)
            }
            $crate::db::Engine::Postgres(on) => {
                let call = on.fetch_optional($crate::__bind!(Postgres, $sql $(, $bind)*));
                let row = $crate::__traced!("postgresql", $sql, call).await;
                $crate::db::decode_optional::<$row, _>(row)
            }
        }
    };
}

/// `fetch_all!(on, Row, SQL, bind…)` returns all rows.
#[macro_export]
macro_rules! fetch_all {
    ($on:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        match $on {
            $crate::db::Engine::Sqlite(on) => {
                let call = on.fetch_all($crate::__bind!(Sqlite, $sql $(, $bind)*));
                let rows = $crate::__traced!("sqlite", $sql, call).await;
                $crate::db::decode_all::<$row, _>(rows)
            }
            $crate::db::Engine::Postgres(on) => {
                let call = on.fetch_all($crate::__bind!(Postgres, $sql $(, $bind)*));
                let rows = $crate::__traced!("postgresql", $sql, call).await;
                $crate::db::decode_all::<$row, _>(rows)
            }
        }
    };
}

/// `fetch_all_with!(on, Row, SQL, values)` returns all rows of a statement whose number of parameters varies.
/// `values` iterates over the [`Value`](crate::db::Value) of each.
#[macro_export]
macro_rules! fetch_all_with {
    ($on:expr, $row:ty, $sql:expr, $values:expr) => {
        match $on {
            $crate::db::Engine::Sqlite(on) => {
                let call = on.fetch_all($crate::__bind_each!(Sqlite, $sql, $values));
                let rows = $crate::__traced!("sqlite", $sql, call).await;
                $crate::db::decode_all::<$row, _>(rows)
            }
            $crate::db::Engine::Postgres(on) => {
                let call = on.fetch_all($crate::__bind_each!(Postgres, $sql, $values));
                let rows = $crate::__traced!("postgresql", $sql, call).await;
                $crate::db::decode_all::<$row, _>(rows)
            }
        }
    };
}

/// `execute!(on, SQL, bind…)` runs a statement without result rows and returns the number of changed rows.
#[macro_export]
macro_rules! execute {
    ($on:expr, $sql:expr $(, $bind:expr)* $(,)?) => {
        match $on {
            $crate::db::Engine::Sqlite(on) => {
                let call = on.execute($crate::__bind!(Sqlite, $sql $(, $bind)*));
                $crate::__traced!("sqlite", $sql, call).await
            }
            $crate::db::Engine::Postgres(on) => {
                let call = on.execute($crate::__bind!(Postgres, $sql $(, $bind)*));
                $crate::__traced!("postgresql", $sql, call).await
            }
        }
    };
}

/// Returns the call of a statement, in a span with the name of the statement if the caller runs in one.
#[doc(hidden)]
#[macro_export]
macro_rules! __traced {
    ($system:literal, $sql:expr, $call:expr) => {
        $crate::db::traced($system, module_path!(), stringify!($sql), $call)
    };
}

/// Returns a statement for one engine with its bound values.
#[doc(hidden)]
#[macro_export]
macro_rules! __bind {
    ($database:ident, $sql:expr $(, $bind:expr)*) => {
        $crate::db::sqlx::query::<$crate::db::sqlx::$database>($sql)$(.bind($bind))*
    };
}

/// Returns a statement for one engine with values whose number varies.
#[doc(hidden)]
#[macro_export]
macro_rules! __bind_each {
    ($database:ident, $sql:expr, $values:expr) => {
        $values.into_iter().fold(
            $crate::db::sqlx::query::<$crate::db::sqlx::$database>($sql),
            |query, value| match value {
                $crate::db::Value::Integer(value) => query.bind(value),
                $crate::db::Value::Text(value) => query.bind(value),
            },
        )
    };
}
