//! The commands `completions` and `manpage` of every program.

use clap::{Arg, Args as _, Command, Subcommand as _};
use runtime::settings::CommonSettings;
use std::process::Output;
use tests::{Shape, SharedWorld, World, on_every_shape};

/// The words of the commands that every program has.
const COMMON_COMMANDS: [&str; 6] = [
    "config check",
    "config show",
    "doctor",
    "healthcheck",
    "completions",
    "manpage",
];

/// The words of the commands that only `latchkey` has.
const COMMANDS_OF_LATCHKEY: [&str; 3] = ["backup", "restore", "copy"];

/// The words of the commands below this one.
fn commands(command: &Command) -> Vec<String> {
    let below = command.get_subcommands().flat_map(|command| {
        let name = command.get_name();
        match command.has_subcommands() {
            true => commands(command)
                .iter()
                .map(|words| format!("{name} {words}"))
                .collect(),
            false => vec![name.to_owned()],
        }
    });
    below.collect()
}

/// Runs a command of the program, and of the API's, each with the words of its other commands.
fn run(world: &World, arguments: &[&str]) -> [(Output, Vec<String>); 2] {
    let common = COMMON_COMMANDS.map(str::to_owned);
    let administration = auth_server::cli::Command::augment_subcommands(Command::new("program"));
    let administration = commands(&administration);
    assert!(administration.contains(&"clients registration-tokens create".to_owned()));
    let own = match world.shape {
        Shape::Split => Vec::new(),
        _ => COMMANDS_OF_LATCHKEY.map(str::to_owned).to_vec(),
    };
    [
        (
            world.run(arguments, ""),
            [&administration[..], &common, &own[..]].concat(),
        ),
        (world.run_api_without_settings(arguments), common.to_vec()),
    ]
}

/// The names of the settings of every program.
fn settings() -> Vec<String> {
    let settings = CommonSettings::augment_args(Command::new("program"));
    let names = settings.get_arguments().filter_map(Arg::get_long);
    names.map(str::to_owned).collect()
}

fn text(output: &Output) -> String {
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

async fn the_man_page_has_every_command_and_setting_and_no_value(world: SharedWorld) {
    for (output, commands) in run(&world, &["manpage"]) {
        let page = text(&output).replace("\\-", "-");
        assert!(page.contains(".SH COMMANDS"), "{page}");
        for words in commands {
            let line = format!(" {words}\\f");
            assert!(page.contains(&line), "{words} is missing: {page}");
        }
        for name in settings() {
            let variable = format!("LATCHKEY_{}", name.to_uppercase().replace('-', "_"));
            assert!(page.contains(&format!("--{name}")), "{name} is missing: {page}");
            assert!(page.contains(&variable), "{variable} is missing: {page}");
        }
        world.expect_no_secrets_in(&page, "the man page");
    }
}

async fn completions_have_every_command_and_setting_and_no_value(world: SharedWorld) {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        for (output, commands) in run(&world, &["completions", shell]) {
            let script = text(&output);
            for word in commands.iter().flat_map(|words| words.split(' ')) {
                assert!(script.contains(word), "{shell}: {word} is missing");
            }
            for name in settings() {
                assert!(script.contains(&name), "{shell}: {name} is missing");
            }
            world.expect_no_secrets_in(&script, "the completions");
        }
    }
    for output in [
        world.run_without_settings(&["completions", "tcsh"]),
        world.run_api_without_settings(&["completions"]),
    ] {
        assert_eq!(output.status.code(), Some(64), "{output:?}");
    }
}

/// The function that Bash calls, with the words of a line whose last one is to be completed.
async fn bash_completes_commands_and_their_options(world: SharedWorld) {
    for (words, completed) in [
        ("auth-server keys ro", "rotate"),
        ("api-server config ch", "check"),
        ("api-server doc", "doctor"),
        ("latchkey back", "backup"),
        ("latchkey resto", "restore"),
        ("latchkey cop", "copy"),
        ("latchkey clients registration-tokens re", "revoke"),
        ("latchkey --trusted-pro", "--trusted-proxies"),
        ("latchkey healthcheck --read", "--ready"),
        ("auth-server migrate --pla", "--plan"),
        ("api-server doctor --idl", "--idle"),
    ] {
        let script = format!(
            "words=({words})\n\
             \"${{words[0]}}\" completions bash > completions.bash\n\
             source completions.bash\n\
             function=$(complete -p \"${{words[0]}}\" | sed 's/.* -F \\([^ ]*\\) .*/\\1/')\n\
             COMP_WORDS=(\"${{words[@]}}\") COMP_CWORD=$((${{#words[@]}} - 1))\n\
             \"$function\" \"${{words[0]}}\" \"${{words[-1]}}\" \"${{words[-2]}}\"\n\
             echo \"${{COMPREPLY[@]}}\""
        );
        let output = world.bash(&script);
        assert_eq!(text(&output).trim_end(), completed, "{words}");
    }
}

on_every_shape!(
    the_man_page_has_every_command_and_setting_and_no_value,
    completions_have_every_command_and_setting_and_no_value,
    bash_completes_commands_and_their_options,
);
