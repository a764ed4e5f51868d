//! The commands `completions` and `manpage`.

use clap::Command;
use clap_complete::aot::{Shell, generate};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::io::{self, Write as _};

/// Prints the script with which a shell completes the commands and flags of `command`.
pub(super) fn print_completions(shell: Shell, command: &Command) -> io::Result<()> {
    let name = command.get_name();
    let mut script = Vec::new();
    generate(shell, &mut command.clone(), name, &mut script);
    // The script for Bash of clap_complete 4.6 writes the hyphen of a program's name in two ways, and so finds no
    // command of auth-server.
    let script = String::from_utf8_lossy(&script);
    let script = script.replace(&name.replace('-', "__subcmd__"), &name.replace('-', "__"));
    io::stdout().lock().write_all(script.as_bytes())
}

/// Prints the man page of `command`. It has all commands on one page, which refers to their `--help`.
pub(super) fn print_man_page(command: &Command) -> io::Result<()> {
    // The generated synopsis would name every setting.
    let usage = format!("{} [OPTIONS] [COMMAND]", command.get_name());
    let man = Man::new(command.clone().override_usage(usage));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    let mut commands = Roff::default();
    commands.control("SH", ["COMMANDS"]);
    commands.text([roman("Each command has --help, which names its arguments.")]);
    add_commands(&mut commands, command, command.get_name());
    commands.to_writer(&mut page)?;
    man.render_options_section(&mut page)?;
    man.render_version_section(&mut page)?;
    io::stdout().lock().write_all(&page)
}

/// Adds the commands below `command`, which is called by `words`.
fn add_commands(page: &mut Roff, command: &Command, words: &str) {
    for command in command.get_subcommands() {
        let words = format!("{words} {}", command.get_name());
        if !command.has_subcommands() {
            let about = command.get_about().map(ToString::to_string);
            page.control("TP", []);
            page.text([bold(words.as_str())]);
            page.text([roman(about.unwrap_or_default())]);
        }
        add_commands(page, command, &words);
    }
}
