//! The fuzzer of one target, which the environment variable `FUZZ_TARGET` names. The arguments are those of
//! libFuzzer.
#![no_main]

use fuzz::TARGETS;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

#[allow(clippy::disallowed_methods, reason = "libFuzzer reads the command line")]
#[allow(clippy::panic, reason = "without a target there is nothing to fuzz")]
static CHECK: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let target = std::env::var("FUZZ_TARGET").unwrap_or_default();
    match TARGETS.iter().find(|(name, _)| *name == target) {
        Some((_, check)) => *check,
        None => panic!("FUZZ_TARGET must name a file of tests/fuzz/src/targets, not {target:?}"),
    }
});

fuzz_target!(|input: &[u8]| {
    CHECK(input);
});
