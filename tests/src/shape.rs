//! Deployment shapes, and the macros that run a test on each of them.

use crate::world::World;

/// The architecture of a deployment. A new one must be added to [`on_every_shape!`](crate::on_every_shape).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One process with an SQLite file.
    Sqlite,
    /// One process with a PostgreSQL database.
    Postgres,
    /// Two issuers and two APIs behind one origin, on PostgreSQL and Redis.
    Split,
}

/// The argument of a test function: a [`World`] with default settings, or the [`Shape`] of the world that the
/// test starts itself.
pub trait TestArgument: Sized {
    /// Creates the argument for a shape.
    fn for_shape(shape: Shape) -> impl Future<Output = Self>;
}

impl TestArgument for Shape {
    async fn for_shape(shape: Shape) -> Self {
        shape
    }
}

impl TestArgument for World {
    async fn for_shape(shape: Shape) -> Self {
        Self::start(shape).await
    }
}

/// Runs one test on one shape.
pub fn run<A: TestArgument, F: Future<Output = ()>>(shape: Shape, test: impl FnOnce(A) -> F) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(async { test(A::for_shape(shape).await).await });
}

/// Defines a `#[test]` per shape for each named function.
#[macro_export]
macro_rules! on_every_shape {
    ($($test:ident),+ $(,)?) => {
        $($crate::on_shapes!($test: sqlite Sqlite, postgres Postgres, split Split);)+
    };
}

/// Defines tests on the single-process program only, on each database.
#[macro_export]
macro_rules! on_one_process {
    ($($test:ident),+ $(,)?) => { $($crate::on_shapes!($test: sqlite Sqlite, postgres Postgres);)+ };
}

/// Defines tests on several processes only.
#[macro_export]
macro_rules! on_many_processes {
    ($($test:ident),+ $(,)?) => { $($crate::on_shapes!($test: split Split);)+ };
}

#[doc(hidden)]
#[macro_export]
macro_rules! on_shapes {
    ($test:ident: $($name:ident $shape:ident),+) => {
        mod $test {
            $(
                #[test]
                fn $name() {
                    $crate::run($crate::Shape::$shape, super::$test);
                }
            )+
        }
    };
}
