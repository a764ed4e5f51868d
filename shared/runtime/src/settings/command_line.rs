//! Parsing of the command line, with errors of one line.

mod config;
mod file;
mod healthcheck;
mod manual;
mod source;

pub use file::SETTINGS_OF_ONE_SERVICE;
pub use source::{RELOADED_SETTINGS, SettingsSource};

use super::network::NetworkSettings;
use clap::error::{ContextKind, ContextValue};
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches, Subcommand as _};
use config::{CommonCommand, ConfigCommand};
use file::Entry;
use foundation::settings::InvalidSetting;
use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// The exit code for an invalid command line or setting (`EX_USAGE` of sysexits.h).
pub const EX_USAGE: u8 = 64;

/// The reason why a program does not run.
enum Refusal {
    /// An error of the command line, or the output of `--help` or `--version`.
    CommandLine(clap::Error),
    Setting(InvalidSetting),
}

/// Parses a program's command line, its environment, and the settings file that they name. Returns also what
/// reads them again. If the program must not run, because of an error, `--help` or `--version`, prints the
/// message and returns the exit code as the error: 64 after an error, otherwise 0.
///
/// Also runs the commands that every program has, and returns their exit code as the error. `check` fails
/// with the setting for which the server would not start.
pub fn parse<T: CommandFactory + FromArgMatches + 'static>(
    args: impl IntoIterator<Item = OsString>,
    check: fn(&T) -> Result<(), InvalidSetting>,
) -> Result<(T, SettingsSource), u8> {
    let args: Vec<OsString> = args.into_iter().collect();
    let command = CommonCommand::augment_subcommands(T::command());
    let (matches, in_file) = find_values(&command, &args).map_err(|refusal| refusal.report())?;
    // The error means that no command is given, or one of the program's own.
    let common = CommonCommand::from_arg_matches(&matches).ok();
    let parsed = || parse_values::<T>(&matches).map_err(|refusal| refusal.report());
    let result = match common {
        None => return Ok((parsed()?, SettingsSource::new(command, args, matches, check))),
        Some(CommonCommand::Config(ConfigCommand::Check)) => {
            let checked = check(&parsed()?).map_err(Refusal::Setting);
            return Err(checked.map_or_else(|refusal| refusal.report(), |()| 0));
        }
        Some(CommonCommand::Config(ConfigCommand::Show { json })) => {
            config::show(&command, &matches, &in_file, json)
        }
        Some(CommonCommand::Healthcheck { ready }) => {
            let network = parse_values::<NetworkSettings>(&matches);
            let network = network.map_err(|refusal| refusal.report())?;
            let asked = network
                .own_address()
                .and_then(|address| healthcheck::run(address, ready));
            asked.map_err(io::Error::other)
        }
        Some(CommonCommand::Completions { shell }) => manual::print_completions(shell, &command),
        Some(CommonCommand::Manpage) => manual::print_man_page(&command),
    };
    Err(match result {
        Ok(()) => 0,
        Err(error) => {
            report_error(&error.to_string());
            1
        }
    })
}

/// Returns the values of the command line and of the environment, and below them those of the settings file,
/// with the entries of the file.
fn find_values(
    command: &Command,
    args: &[OsString],
) -> Result<(ArgMatches, HashMap<String, Entry>), Refusal> {
    let given = command.clone().try_get_matches_from(args);
    let given = given.map_err(Refusal::CommandLine)?;
    let Some(path) = given.get_one::<PathBuf>("config") else {
        return Ok((given, HashMap::new()));
    };
    let in_file = file::read(path, command).map_err(Refusal::Setting)?;
    // As defaults they are below flags and variables.
    let command = command.clone().mut_args(|arg| {
        let entry = arg.get_long().and_then(|name| in_file.get(name));
        match entry {
            Some(entry) => arg.default_values(&entry.texts),
            None => arg,
        }
    });
    let values = command.try_get_matches_from(args);
    Ok((values.map_err(Refusal::CommandLine)?, in_file))
}

fn parse_values<T: FromArgMatches>(values: &ArgMatches) -> Result<T, Refusal> {
    T::from_arg_matches(values).map_err(Refusal::CommandLine)
}

impl Refusal {
    /// Prints the error or the output. Returns the exit code.
    fn report(&self) -> u8 {
        match self {
            Self::CommandLine(output) if !output.use_stderr() => {
                let _ = output.print();
                0
            }
            error => {
                report_error(&error.message());
                EX_USAGE
            }
        }
    }

    /// Describes the error on one line.
    fn message(&self) -> String {
        match self {
            Self::CommandLine(error) => message(error),
            Self::Setting(invalid) => invalid.to_string(),
        }
    }
}

/// Describes an error of the command line on one line.
fn message(error: &clap::Error) -> String {
    let text = message_without_value(error).unwrap_or_else(|| error.render().to_string());
    let message = text.split("\n\n").next();
    let message = message.unwrap_or(&text).replace("\n  ", " ").replace('\n', " ");
    message.trim_start_matches("error: ").to_owned()
}

/// Describes an invalid value without repeating it, because it may contain a password. Returns `None` for
/// other errors.
fn message_without_value(error: &clap::Error) -> Option<String> {
    let cause = std::error::Error::source(error)?;
    match error.get(ContextKind::InvalidArg)? {
        ContextValue::String(setting) => Some(format!("{setting}: {cause}")),
        _ => None,
    }
}

/// Prints an error message to standard error.
pub fn report_error(message: &str) {
    #[allow(
        clippy::print_stderr,
        reason = "start-up errors go to the operator, before logging starts"
    )]
    {
        eprintln!("error: {message}");
    }
}
