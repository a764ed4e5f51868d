//! The quickstarts: their programs are short, and their commands lead from a fresh installation to tokens.
//! `oauth::quickstarts` runs the programs.

use super::{at_address, blocks, read};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};
use tests::{
    Chromium, Example, SUBMIT, Shape, World, on_shapes, print_figure, root, tool, without_deployment,
};

/// The page, relative to the repository.
pub(super) const PAGE: &str = "docs/apps/quickstarts.md";
/// The maximum number of lines of a program.
const MAX_LINES: usize = 60;
/// The maximum number of commands from a running server to the tokens of the apps that the test runs.
const MAX_COMMANDS: usize = 10;
/// The maximum time of these commands and of the sign-in.
const MAX_TIME: Duration = Duration::from_secs(180);

fn each_program_is_short_and_documented_and_tested() {
    let (page, cases) = (read(PAGE), read("tests/cases/oauth/quickstarts.rs"));
    let files = std::fs::read_dir(root().join("docs/apps/examples")).unwrap();
    let mut count = 0;
    for file in files.map(|file| file.unwrap().path()) {
        let name = file.file_name().unwrap().to_str().unwrap();
        let lines = std::fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= MAX_LINES, "{name} has {lines} lines");
        assert!(
            page.contains(&format!("](examples/{name})")),
            "{PAGE} lacks {name}"
        );
        assert!(cases.contains(&format!("\"{name}\"")), "no test runs {name}");
        count += 1;
    }
    assert_eq!(count, 5, "there is a program for each kind of app");
}

async fn a_newcomer_gets_tokens(shape: Shape) {
    walk(shape, false).await;
}

/// Needs the network.
async fn a_newcomer_installs_the_libraries_and_gets_tokens(shape: Shape) {
    walk(shape, true).await;
}

/// A newcomer runs the commands of the page on a fresh installation, with or without those that install
/// packages. In a browser the newcomer signs in as the user whom the page creates.
async fn walk(shape: Shape, installs: bool) {
    let world = World::builder(shape).empty().start().await;
    symlink(root().join("docs"), world.data_dir().with_file_name("docs")).unwrap();
    let blocks = blocks(Path::new(PAGE));
    let last = blocks.iter().rposition(|block| block.language == "sh").unwrap();
    let texts = |languages: &[&str]| {
        let chosen = blocks[..=last].iter();
        let chosen = chosen.filter(|block| languages.contains(&block.language.as_str()));
        chosen.map(|block| block.text.as_str()).collect::<String>()
    };
    let needed = texts(&["console", "sh"]);
    let lines = needed.lines();
    let commands = lines.filter(|line| !line.ends_with('\\'));
    let commands: usize = commands.map(|line| line.split(" && ").count()).sum();
    assert!(commands <= MAX_COMMANDS, "{commands} commands");

    let script = match installs {
        // The tests set `SSL_CERT_FILE` to an empty file, with which pip cannot connect.
        true => format!("unset SSL_CERT_FILE\n{needed}"),
        false => format!("PATH={}:$PATH\n{}", tool("authlib/bin").display(), texts(&["sh"])),
    };
    let chromium = Chromium::with_scripts().await;
    let began = Instant::now();
    let mut example = Example::spawn(world.prepare_bash(&at_address(&world, &script)));
    chromium.open(&example.url("/authorize?").await).await;
    chromium.expect("name=\"password\"").await;
    let fields = [("#email", "ann@example.org"), ("#password", "correct horse")];
    chromium.submit(&fields, SUBMIT, "value=\"allow\"").await;
    chromium.press("button[value=allow]").await;
    chromium.expect("You can close this page.").await;
    let printed = example.end().await;
    let time = began.elapsed();
    let packages = if installs { "with" } else { "without" };
    print_figure(&format!(
        "A newcomer's {commands} commands, {packages} the installation of packages, took {time:?} with the sign-in."
    ));
    assert!(time <= MAX_TIME, "{time:?}");
    for line in [
        "The token has the scope posts:read",
        "You are signed in as ann@example.org.",
    ] {
        assert!(printed.contains(line), "{printed}");
    }
}

on_shapes!(a_newcomer_gets_tokens: sqlite Sqlite);
on_shapes!(a_newcomer_installs_the_libraries_and_gets_tokens: ; long: sqlite Sqlite);
without_deployment!(each_program_is_short_and_documented_and_tested);
