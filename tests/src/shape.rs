//! Deployment shapes, and the macros that run a test on each of them.

use crate::world::World;

/// The architecture of a deployment. [`on_every_shape!`](crate::on_every_shape) lists them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One process with an SQLite file.
    Sqlite,
    /// One process with a PostgreSQL database.
    Postgres,
    /// Two issuers and two APIs behind one origin, on PostgreSQL and Redis.
    Split,
}

/// The argument of a test function.
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
pub fn run<G: TestArgument, F: Future<Output = ()>>(shape: Shape, test: impl FnOnce(G) -> F) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(async { test(G::for_shape(shape).await).await });
}

/// Defines a `#[test]` per shape for each named function. This is the only list of shapes.
#[macro_export]
macro_rules! on_every_shape {
    ($($test:ident),+ $(,)?) => {
        $($crate::on_shapes!($test: sqlite Sqlite, postgres Postgres, split Split);)+
    };
}

/// Defines tests for features of the single-process program only: its first start and its demo.
#[macro_export]
macro_rules! on_one_process {
    ($($test:ident),+ $(,)?) => { $($crate::on_shapes!($test: sqlite Sqlite, postgres Postgres);)+ };
}

/// Defines tests that need several processes.
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
