//! Deployment shapes, and the macros that register a test on each of them.

use crate::world::World;
use std::time::Duration;

/// The maximum time of a test. Only a test that waits for ever takes so long.
const TIMEOUT: Duration = Duration::from_secs(3600);

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

/// The argument of a test function: the [`SharedWorld`](crate::SharedWorld) of its shape, a [`World`] of its
/// own with default settings, or the [`Shape`] of the world that the test starts itself.
pub trait TestArgument: Sized {
    /// Creates the argument for the test of this name on a shape.
    fn for_test(name: &'static str, shape: Shape) -> impl Future<Output = Self>;
}

impl TestArgument for Shape {
    async fn for_test(_: &'static str, shape: Shape) -> Self {
        shape
    }
}

impl TestArgument for World {
    async fn for_test(_: &'static str, shape: Shape) -> Self {
        Self::start(shape).await
    }
}

/// Runs the test of this name on one shape.
pub fn run<A: TestArgument, F: Future<Output = ()>>(
    name: &'static str,
    shape: Shape,
    test: impl FnOnce(A) -> F,
) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let ended = runtime.block_on(async {
        tokio::time::timeout(TIMEOUT, async { test(A::for_test(name, shape).await).await }).await
    });
    assert!(ended.is_ok(), "the test did not end within {TIMEOUT:?}");
}

/// Registers a test per shape for each named function. One process on PostgreSQL combines the SQL of one of
/// the other shapes with the process of the other one, so it is left to the long tier.
#[macro_export]
macro_rules! on_every_shape {
    ($($test:ident),+ $(,)?) => {
        $($crate::on_shapes!($test: sqlite Sqlite, split Split; long: postgres Postgres);)+
    };
}

/// Registers tests on the single-process program only: on SQLite, and in the long tier on PostgreSQL.
#[macro_export]
macro_rules! on_one_process {
    ($($test:ident),+ $(,)?) => { $($crate::on_shapes!($test: sqlite Sqlite; long: postgres Postgres);)+ };
}

/// Registers tests on several processes only.
#[macro_export]
macro_rules! on_many_processes {
    ($($test:ident),+ $(,)?) => { $($crate::on_shapes!($test: split Split);)+ };
}

/// Registers tests on PostgreSQL only: on several processes, and in the long tier on a single one.
#[macro_export]
macro_rules! on_postgresql {
    ($($test:ident),+ $(,)?) => { $($crate::on_shapes!($test: split Split; long: postgres Postgres);)+ };
}

/// Registers tests whose subject is the same on every shape, because neither the engine nor the number of
/// processes takes part: on a single process with SQLite, which takes a quarter of the processor time of
/// several, and in the long tier on the others. Use it for tests that are slow or start a deployment of their
/// own.
#[macro_export]
macro_rules! on_one_shape {
    ($($test:ident),+ $(,)?) => {
        $($crate::on_shapes!($test: sqlite Sqlite; long: split Split, postgres Postgres);)+
    };
}

/// Registers a test on these shapes, and in the long tier on those after `long:`.
#[macro_export]
macro_rules! on_shapes {
    ($test:ident: $($name:ident $shape:ident),* $(; long: $($long_name:ident $long_shape:ident),+)?) => {
        $($crate::register!(Gate, $test, $name, $shape);)*
        $($($crate::register!(Long, $test, $long_name, $long_shape);)+)?
    };
}

/// Registers tests that start no deployment.
#[macro_export]
macro_rules! without_deployment {
    ($($test:ident),+ $(,)?) => {
        $($crate::inventory::submit! {
            $crate::Test {
                path: concat!(module_path!(), "::", stringify!($test)),
                tier: $crate::Tier::Gate,
                run: |_| $test(),
            }
        })+
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! register {
    ($tier:ident, $test:ident, $name:ident, $shape:ident) => {
        $crate::inventory::submit! {
            $crate::Test {
                path: concat!(module_path!(), "::", stringify!($test), "::", stringify!($name)),
                tier: $crate::Tier::$tier,
                run: |name| $crate::run(name, $crate::Shape::$shape, $test),
            }
        }
    };
}
