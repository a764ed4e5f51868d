//! The container images of `deploy/Dockerfile`. No engine builds them, but `deploy/image-root` lays out what an
//! image has.

use super::{first_token, read, run};
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use tests::{
    RootDirectory, Shape, SharedWorld, free_port, on_shapes, programs_dir, public_directory, root, tool,
    without_deployment,
};

/// The largest size of an image, in bytes.
const MAX_SIZE: u64 = 60_000_000;
/// The path of the program in the image.
const PROGRAM: &str = "/usr/local/bin/latchkey";
/// The number of the user of the images.
const USER: u32 = 65532;

fn dockerfile() -> String {
    read("deploy/Dockerfile")
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
    for base in bases.filter(|base| !base.starts_with("base AS ") && *base != "scratch AS base") {
        assert!(base.contains("_DIGEST} AS "), "{base}");
    }
    // Without a default.
    assert_eq!(arguments(&dockerfile, "ARG"), ["RUST_DIGEST"]);
    assert_eq!(arguments(&dockerfile, "USER"), [format!("{USER}:{USER}")]);
    let toolchain = read("rust-toolchain.toml");
    let (_, channel) = toolchain.split_once("channel = \"").unwrap();
    let channel = channel.split_once('"').unwrap().0;
    for place in [
        format!("library/rust:{channel}-"),
        format!("RUSTUP_TOOLCHAIN={channel}\n"),
    ] {
        assert!(dockerfile.contains(&place), "{place}");
    }
}

/// The page asks for the digests of the images that the files name.
fn the_documented_images_are_those_of_the_files() {
    let files = [dockerfile(), read("deploy/compose.yaml")].concat();
    let page = read("docs/operate/install.md");
    let named = page.split("docker.io/library/").skip(1);
    let named: Vec<&str> = named
        .map(|rest| rest.split([')', '\n']).next().unwrap())
        .collect();
    assert!(named.len() >= 5, "{named:?}");
    for image in named {
        assert!(files.contains(&format!("docker.io/library/{image}@")), "{image}");
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
            image.contains(&format!("COPY --from=build /out/{program} /\n")),
            "{image}"
        );
        let known = world.bash(&format!("{program} healthcheck --help"));
        assert!(known.status.success(), "{known:?}");
    }
}

/// The files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let below = paths.map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    below.flatten().collect()
}

/// A container of the image with these settings, whose server listens at this port.
fn container(path: &Path, settings: &[&str], port: u16) -> RootDirectory {
    let dockerfile = dockerfile();
    let variables = arguments(&dockerfile, "ENV").into_iter();
    let of_image = variables.filter(|variable| variable.starts_with("LATCHKEY_"));
    let settings = of_image.chain(settings.iter().copied());
    let settings = settings.map(|setting| setting.split_once('=').unwrap());
    RootDirectory {
        path: path.to_owned(),
        user: USER,
        shared: &[],
        environment: settings
            .map(|(name, value)| (name.to_owned(), value.replace(":8080", &format!(":{port}"))))
            .collect(),
    }
}

/// Gets a token by the documented commands that follow the start of a container, with the settings of the
/// latter.
async fn expect_first_token(path: &Path, began: Instant) {
    let commands = first_token::documented_end("Container images");
    let (start, commands) = commands.split_once('\n').unwrap();
    let settings = start.split(" --env ").skip(1);
    let settings: Vec<&str> = settings.map(|rest| rest.split(' ').next().unwrap()).collect();
    let port = free_port();
    let container = container(path, &settings, port);
    let _server = container.serve(PROGRAM).await;
    let commands = commands.replace(":8080", &format!(":{port}"));
    first_token::expect("the image, from the built programs", began, &commands, |script| {
        container.bash(&format!("docker() {{ shift 2; inside \"$@\"; }}\n{script}"))
    });
}

/// Lays out the root directory of an image, and expects that it is small, and has no other program. The size
/// is that of a program of the tests, which is larger than that of `deploy/Dockerfile`.
fn lay_out(program: &str, path: &Path) {
    let mut layout = Command::new(root().join("deploy/image-root"));
    run(layout.arg(programs_dir().join(program)).arg(path));
    let files = files(path);
    let is_program = |file: &&PathBuf| {
        let is_library = file.to_str().unwrap().contains(".so.");
        !is_library && file.metadata().unwrap().mode() & 0o111 != 0
    };
    let programs: Vec<_> = files.iter().filter(is_program).collect();
    assert_eq!(programs, [&path.join("usr/local/bin").join(program)]);
    let size: u64 = files.iter().map(|file| file.metadata().unwrap().len()).sum();
    assert!(size < MAX_SIZE, "{program}: {size}");
    for document in [
        "latchkey/LICENSE",
        "latchkey/crate-licenses",
        "latchkey/sbom.cdx.json",
        "libc6/copyright",
    ] {
        let document = path.join("usr/share/doc").join(document);
        assert!(document.metadata().unwrap().len() > 0, "{}", document.display());
    }
}

async fn an_image_has_what_its_program_needs_and_no_other_program(_: Shape) {
    let directory = public_directory();
    let path = directory.path().join("root");
    let began = first_token::begin();
    lay_out("latchkey", &path);
    expect_first_token(&path, began).await;
    for program in ["auth-server", "api-server"] {
        lay_out(program, &directory.path().join(program));
    }
    let production = container(&path, &["LATCHKEY_BASE_URL=https://id.example.org"], free_port());
    let _server = production.serve(PROGRAM).await;
}

/// Crates that only tests or build scripts use are no part of a program.
fn the_components_of_a_program_are_listed() {
    let directory = public_directory();
    let file = directory.path().join("sbom.json");
    let mut sbom = Command::new(root().join("deploy/sbom"));
    let listed = sbom.arg("latchkey").stdout(File::create(&file).unwrap());
    assert!(listed.status().unwrap().success());
    let checked = Command::new(tool("python/bin/python"))
        .arg(root().join("tests/tools/check_sbom.py"))
        .stdin(File::open(&file).unwrap())
        .output()
        .unwrap();
    assert!(checked.status.success(), "{checked:?}");
    let document: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let components = document["components"].as_array().unwrap();
    let lock = read("Cargo.lock");
    for component in components {
        let [name, version] = ["name", "version"].map(|field| component[field].as_str().unwrap());
        let locked = format!("name = \"{name}\"\nversion = \"{version}\"\n");
        assert!(lock.contains(&locked), "{locked}");
        assert!(component["licenses"].is_array(), "{component}");
    }
    let is_listed = |name: &str| components.iter().any(|component| component["name"] == *name);
    for name in [
        "auth-server",
        "api-server",
        "aws-lc-sys",
        "libsqlite3-sys",
        "tokio",
    ] {
        assert!(is_listed(name), "{name}");
    }
    for name in ["tests", "proptest", "cc"] {
        assert!(!is_listed(name), "{name}");
    }
}

on_shapes!(each_image_checks_its_program: sqlite Sqlite);
on_shapes!(an_image_has_what_its_program_needs_and_no_other_program: sqlite Sqlite);

without_deployment!(
    hadolint_finds_nothing,
    the_components_of_a_program_are_listed,
    the_bases_are_pinned_and_the_user_is_not_root,
    the_documented_images_are_those_of_the_files,
);
