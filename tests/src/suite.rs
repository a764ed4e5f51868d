//! The program of a test binary: runs the tests that the macros of [`shape`](crate::shape) registered.

use crate::polling::print_revocations;
use crate::statistics::print_figure;
use crate::world::end_shared_deployments;
use foundation::time_limits;
use libtest_mimic::{Arguments, Failed, Trial};
use std::any::Any;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The environment variable with a number that determines another order of the tests.
const SHUFFLE: &str = "TESTS_SHUFFLE";
/// The environment variable with the number of tests that run at once, as for the other test binaries.
const THREADS: &str = "RUST_TEST_THREADS";
/// The factor of the time limits of statements that tests run themselves. They may insert many rows, so the
/// limit is five minutes.
const TIME_LIMIT_FACTOR: u32 = 120;
/// The number of slowest tests that are listed at the end.
const LISTED: usize = 20;
/// The stack of a test, which holds its whole future.
const STACK: usize = 8 << 20;

/// The modules whose tests take a minute or more. They begin first, so that no core waits for one of them at
/// the end.
const LONGEST: [&str; 6] = [
    "http::crawling_readers::",
    "http::openapi_tools::",
    "operations::from_a_clone::",
    "operations::round_trips::",
    "pages::appearance::",
    "pages::large_installation::",
];

/// Whether this run includes the tests of the long tier.
static IS_LONG: AtomicBool = AtomicBool::new(false);
/// The tests that have ended, with their times.
static TIMES: Mutex<Vec<(Duration, &str)>> = Mutex::new(Vec::new());

/// A test on one shape.
#[derive(Debug)]
pub struct Test {
    /// The path of its module, with the name of the test binary, and its own name.
    pub path: &'static str,
    /// Whether it runs in every run.
    pub tier: Tier,
    /// Runs it. Panics if it fails.
    pub run: fn(&'static str),
}

/// The runs of which a test is part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Every run.
    Gate,
    /// Only `tests/run --long`.
    Long,
}

inventory::collect!(Test);

impl Test {
    /// Its path without the name of the test binary, under which it is listed.
    fn name(&self) -> &'static str {
        self.path.split_once("::").map_or(self.path, |(_, name)| name)
    }

    /// Runs it in a thread of its name, which panics report.
    fn run_in_thread(&self) -> Result<(), Failed> {
        let (run, name) = (self.run, self.name());
        let began = Instant::now();
        let thread = thread::Builder::new().name(name.to_owned()).stack_size(STACK);
        let result = thread.spawn(move || run(name)).unwrap().join();
        TIMES.lock().unwrap().push((began.elapsed(), name));
        result.map_err(|panic| message(panic.as_ref()).into())
    }
}

/// Returns the first argument, or the second one in a run that includes the long tier. Use it for numbers of
/// rounds.
pub fn rounds<T>(gate: T, long: T) -> T {
    if IS_LONG.load(Ordering::Relaxed) {
        long
    } else {
        gate
    }
}

/// Runs the registered tests of a binary, which takes the options of `cargo test`. The tests of the long tier
/// run with `--include-ignored`. Afterwards it ends the shared deployments, whose logs and data must contain
/// no secret of any test. Prints the slowest tests, and the times of revocations.
pub fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    let threads = environment(THREADS).and_then(|count| count.parse().ok());
    arguments.test_threads = arguments.test_threads.or(threads);
    IS_LONG.store(arguments.include_ignored || arguments.ignored, Ordering::Relaxed);
    time_limits::set_factor(TIME_LIMIT_FACTOR);
    let tests = libtest_mimic::run(&arguments, trials());
    if arguments.list {
        return ExitCode::SUCCESS;
    }
    let ends = libtest_mimic::run(&Arguments::default(), end_shared_deployments());
    print_slowest();
    print_revocations();
    match tests.has_failed() || ends.has_failed() {
        true => ExitCode::from(101),
        false => ExitCode::SUCCESS,
    }
}

/// The registered tests, those of [`LONGEST`] first, in an order that [`SHUFFLE`] determines. It is never
/// that of their names, because neighbors resemble each other, and those that wait should run beside those
/// that compute.
fn trials() -> Vec<Trial> {
    let seed = environment(SHUFFLE).unwrap_or_default();
    let mut tests: Vec<&Test> = inventory::iter::<Test>().collect();
    tests.sort_by_cached_key(|test| {
        let mut hasher = DefaultHasher::new();
        (&seed, test.name()).hash(&mut hasher);
        let is_long = LONGEST.iter().any(|module| test.name().starts_with(module));
        (!is_long, hasher.finish())
    });
    let trial = |test: &'static Test| {
        let trial = Trial::test(test.name(), move || test.run_in_thread());
        trial.with_ignored_flag(test.tier == Tier::Long)
    };
    tests.into_iter().map(trial).collect()
}

fn environment(name: &str) -> Option<String> {
    std::env::var_os(name)?.into_string().ok()
}

fn print_slowest() {
    let mut times = std::mem::take(&mut *TIMES.lock().unwrap());
    times.sort();
    let all: Duration = times.iter().map(|(time, _)| time).sum();
    print_figure(&format!(
        "The slowest of {} tests, which took {:.0} s in all:",
        times.len(),
        all.as_secs_f64()
    ));
    for (time, name) in times.iter().rev().take(LISTED) {
        print_figure(&format!("{:8.1} s  {name}", time.as_secs_f64()));
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("the test panicked").to_owned()
}
