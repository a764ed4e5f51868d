//! Macros that declare statements and run them on either engine.
//!
//! The argument `on` of a macro that runs a statement is the result of `Db::reader`, `Db::writer` or `Tx::on`. The
//! macro awaits the statement and evaluates to a `Result` whose error is `db::Error`.

/// Declares statements as constants, and their list `STATEMENTS`, which a test prepares on both engines. A statement
/// for one engine only has a name that ends in `_SQLITE` or `_POSTGRES`.
#[macro_export]
macro_rules! sql {
    ($($(#[$doc:meta])* $name:ident = $text:expr;)+) => {
        $($(#[$doc])* const $name: &str = $text;)+

        /// The statements of this module with their names.
        pub const STATEMENTS: &[(&str, &str)] =
            &[$((concat!(module_path!(), "::", stringify!($name)), $name)),+];
    };
}

/// `fetch_one!(on, Row, SQL, bind…)` returns the first row, or an error if there is none.
#[macro_export]
macro_rules! fetch_one {
    ($on:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        $crate::__fetch!(fetch_one, query_as::<_, $row>, $on, $sql $(, $bind)*)
    };
}

/// `fetch_optional!(on, Row, SQL, bind…)` returns the first row, or `None` if there is none.
#[macro_export]
macro_rules! fetch_optional {
    ($on:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        $crate::__fetch!(fetch_optional, query_as::<_, $row>, $on, $sql $(, $bind)*)
    };
}

/// `fetch_all!(on, Row, SQL, bind…)` returns all rows.
#[macro_export]
macro_rules! fetch_all {
    ($on:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        $crate::__fetch!(fetch_all, query_as::<_, $row>, $on, $sql $(, $bind)*)
    };
}

/// `execute!(on, SQL, bind…)` runs a statement without result rows and returns the number of changed rows.
#[macro_export]
macro_rules! execute {
    ($on:expr, $sql:expr $(, $bind:expr)* $(,)?) => {
        match $on {
            $crate::db::Engine::Sqlite(on) => {
                $crate::__run!(on, execute, $crate::db::sqlx::query($sql)$(.bind($bind))*)
                    .map(|done| done.rows_affected())
            }
            $crate::db::Engine::Postgres(on) => {
                $crate::__run!(on, execute, $crate::db::sqlx::query($sql)$(.bind($bind))*)
                    .map(|done| done.rows_affected())
            }
        }
    };
}

/// The common implementation of the `fetch_…!` macros.
#[doc(hidden)]
#[macro_export]
macro_rules! __fetch {
    ($fetch:ident, query_as::<_, $row:ty>, $on:expr, $sql:expr $(, $bind:expr)*) => {
        match $on {
            $crate::db::Engine::Sqlite(on) => {
                $crate::__run!(on, $fetch, $crate::db::sqlx::query_as::<_, $row>($sql)$(.bind($bind))*)
            }
            $crate::db::Engine::Postgres(on) => {
                $crate::__run!(on, $fetch, $crate::db::sqlx::query_as::<_, $row>($sql)$(.bind($bind))*)
            }
        }
    };
}

/// Runs a query on the connection that `on` stands for, within the time limit of statements.
#[doc(hidden)]
#[macro_export]
macro_rules! __run {
    ($on:ident, $run:ident, $query:expr) => {
        match $on.acquire().await {
            Ok(mut lease) => {
                let limit = lease.statement_timeout();
                let result = match lease.begin_statement() {
                    Ok(connection) => limit.apply($query.$run(connection)).await,
                    Err(error) => Err(error),
                };
                lease.end_statement(result)
            }
            Err(error) => Err(error),
        }
    };
}
