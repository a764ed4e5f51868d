//! The shapes in which the system runs, and the running of a test on each.

use crate::world::World;

/// How the system is set up. [`on_every_shape!`](crate::on_every_shape) lists them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One process with an SQLite file.
    Sqlite,
    /// One process with a PostgreSQL database.
    Postgres,
    /// Two issuers and two APIs behind one origin, on PostgreSQL and Redis.
    Split,
}

/// What a test may ask for as its argument.
pub trait Given: Sized {
    /// Makes it.
    fn given(shape: Shape) -> impl Future<Output = Self>;
}

impl Given for Shape {
    async fn given(shape: Shape) -> Self {
        shape
    }
}

impl Given for World {
    async fn given(shape: Shape) -> Self {
        Self::start(shape).await
    }
}

/// Runs one test on one shape.
pub fn run<G: Given, F: Future<Output = ()>>(shape: Shape, test: impl FnOnce(G) -> F) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(async { test(G::given(shape).await).await });
}

/// Makes a `#[test]` of each named function for each shape. The one list of shapes.
#[macro_export]
macro_rules! on_every_shape {
    ($($test:ident),+ $(,)?) => {
        $($crate::on_shapes!($test: sqlite Sqlite, postgres Postgres, split Split);)+
    };
}

/// The same for what belongs to the program of one process alone: its first start and its demo.
#[macro_export]
macro_rules! on_one_process {
    ($($test:ident),+ $(,)?) => { $($crate::on_shapes!($test: sqlite Sqlite, postgres Postgres);)+ };
}

/// The same for what only several processes can show.
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
