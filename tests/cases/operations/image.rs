//! The container images of `deploy/Dockerfile`, as far as they can be checked without building them.

use std::path::{Path, PathBuf};
use std::process::Command;
use tests::{SharedWorld, on_shapes, tool, without_deployment};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn dockerfile() -> String {
    std::fs::read_to_string(root().join("deploy/Dockerfile")).unwrap()
}

/// The arguments of an instruction, wherever it stands.
fn arguments<'a>(dockerfile: &'a str, instruction: &str) -> Vec<&'a str> {
    let lines = dockerfile.lines().filter_map(|line| line.split_once(' '));
    let found = lines.filter(|(name, _)| *name == instruction);
    found.map(|(_, arguments)| arguments).collect()
}

fn hadolint_finds_nothing() {
    let hadolint = Command::new(tool("python/bin/hadolint"))
        .arg(root().join("deploy/Dockerfile"))
        .output()
        .unwrap();
    assert!(hadolint.status.success(), "{hadolint:?}");
}

fn the_bases_are_pinned_and_the_user_is_not_root() {
    let dockerfile = dockerfile();
    let bases = arguments(&dockerfile, "FROM").into_iter();
    for base in bases.filter(|base| !base.starts_with("base AS ")) {
        assert!(base.contains("_DIGEST} AS "), "{base}");
    }
    // Without a default.
    assert_eq!(arguments(&dockerfile, "ARG"), ["RUST_DIGEST", "BASE_DIGEST"]);
    assert_eq!(arguments(&dockerfile, "USER"), ["65532:65532"]);
    let toolchain = std::fs::read_to_string(root().join("rust-toolchain.toml")).unwrap();
    let (_, channel) = toolchain.split_once("channel = \"").unwrap();
    let channel = channel.split_once('"').unwrap().0;
    for place in [
        format!("library/rust:{channel}-"),
        format!("RUSTUP_TOOLCHAIN={channel}\n"),
    ] {
        assert!(dockerfile.contains(&place), "{place}");
    }
}

/// Each image starts and asks its own program.
async fn each_image_checks_its_program(world: SharedWorld) {
    let dockerfile = dockerfile();
    let images: Vec<_> = dockerfile.split("\nFROM base AS ").skip(1).collect();
    assert_eq!(images.len(), 3);
    for image in images {
        let program = image.lines().next().unwrap();
        let path = format!("/usr/local/bin/{program}");
        assert_eq!(arguments(image, "ENTRYPOINT"), [format!("[\"{path}\"]")]);
        let check = arguments(image, "HEALTHCHECK")[0];
        assert!(
            check.ends_with(&format!(" CMD [\"{path}\", \"healthcheck\"]")),
            "{check}"
        );
        assert!(
            image.contains(&format!("/out/{program} /usr/local/bin/\n")),
            "{image}"
        );
        let known = world.bash(&format!("{program} healthcheck --help"));
        assert!(known.status.success(), "{known:?}");
    }
}

on_shapes!(each_image_checks_its_program: sqlite Sqlite);

without_deployment!(
    hadolint_finds_nothing,
    the_bases_are_pinned_and_the_user_is_not_root
);
