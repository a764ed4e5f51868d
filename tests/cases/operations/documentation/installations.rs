//! The installations that the pages describe: their commands and their proxies.

use super::{blocks, pages, read};
use serde_json::{Map, Value};
use tests::{is_of_issuer, without_deployment};

/// Without its proxy's network, all users of an installation share one address.
fn installations_behind_a_proxy_name_its_network() {
    let mut installations = 0;
    for page in pages() {
        let blocks = blocks(&page).into_iter();
        for block in blocks.filter(|block| block.text.contains("LATCHKEY_BASE_URL=https://")) {
            installations += 1;
            let place = format!("{}:{}", page.display(), block.line);
            assert!(block.text.contains("LATCHKEY_TRUSTED_PROXIES="), "{place}");
        }
    }
    assert!(installations >= 2, "the examples were not found");
}

/// Cargo puts the programs of each profile into a directory of its own. An installation builds all three, and
/// not the programs of the tests.
fn installations_take_the_programs_that_they_build() {
    let packages = "--package latchkey --package auth-server --package api-server";
    let mut installations = 0;
    for page in pages() {
        for block in blocks(&page) {
            for (profile, option) in [("release", "--release"), ("dist", "--locked --profile dist")] {
                if block.text.contains(&format!(" target/{profile}")) {
                    installations += 1;
                    let build = format!("cargo build {option} {packages}");
                    let place = format!("{}:{}", page.display(), block.line);
                    assert!(block.text.lines().any(|line| line == build), "{place}");
                }
            }
        }
    }
    assert!(installations >= 4, "the examples were not found");
}

/// The paths in the OpenAPI document of a program.
fn paths(program: &str) -> Map<String, Value> {
    let document = read(&format!("docs/apps/openapi/{program}.json"));
    let mut document: Value = serde_json::from_str(&document).unwrap();
    serde_json::from_value(document["paths"].take()).unwrap()
}

fn a_proxy_sends_each_path_to_the_program_that_has_it() {
    let (issuer, api) = (paths("auth-server"), paths("api-server"));
    for path in issuer.keys().chain(api.keys()) {
        // The API answers paths of both programs, such as `/readyz`.
        assert_eq!(is_of_issuer(path), !api.contains_key(path), "{path}");
    }
}

without_deployment!(
    a_proxy_sends_each_path_to_the_program_that_has_it,
    installations_behind_a_proxy_name_its_network,
    installations_take_the_programs_that_they_build,
);
