//! Macros that declare statements and run them on either engine.
//!
//! The argument `on` of a macro that runs a statement is the result of `Db::reader`, `Db::writer` or `Tx::on`. The
//! macro awaits the statement and evaluates to a `Result` whose error is `db::Error`.

/// Declares statements as constants, and their list `STATEMENTS`, which a test prepares on both engines.
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
            $crate::db::Engine::Sqlite(on) => $crate::db::sqlx::query($sql)
                $(.bind($bind))*
                .execute(on)
                .await
                .map(|done| done.rows_affected()),
            $crate::db::Engine::Postgres(on) => $crate::db::sqlx::query($sql)
                $(.bind($bind))*
                .execute(on)
                .await
                .map(|done| done.rows_affected()),
        }
        .map_err($crate::db::Error::from)
    };
}

/// The common implementation of the `fetch_…!` macros.
#[doc(hidden)]
#[macro_export]
macro_rules! __fetch {
    ($fetch:ident, query_as::<_, $row:ty>, $on:expr, $sql:expr $(, $bind:expr)*) => {
        match $on {
            $crate::db::Engine::Sqlite(on) => {
                $crate::db::sqlx::query_as::<_, $row>($sql)$(.bind($bind))*.$fetch(on).await
            }
            $crate::db::Engine::Postgres(on) => {
                $crate::db::sqlx::query_as::<_, $row>($sql)$(.bind($bind))*.$fetch(on).await
            }
        }
        .map_err($crate::db::Error::from)
    };
}
