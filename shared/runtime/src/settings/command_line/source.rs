//! Reading the settings again while the server runs.

use super::{Refusal, find_values, parse_values};
use crate::settings::CommonSettings;
use clap::{Arg, ArgMatches, Command, FromArgMatches};
use foundation::settings::InvalidSetting;
use std::ffi::OsString;

/// The settings that a running server takes over. All others need a restart.
pub const RELOADED_SETTINGS: [&str; 7] = [
    "trusted-proxies",
    "allowed-origins",
    "rate-limit-reads",
    "rate-limit-writes",
    "rate-limit-address",
    "rate-limit-client",
    "log-level",
];

/// Checks the settings as at the start of the server.
type Check = Box<dyn Fn(&ArgMatches) -> Result<(), Refusal> + Send>;

/// The command line of a running server, from which its settings can be read again.
pub struct SettingsSource {
    command: Command,
    args: Vec<OsString>,
    check: Check,
    at_start: ArgMatches,
    latest: ArgMatches,
}

/// The settings after they were read again.
pub(crate) struct Reading {
    pub(crate) common: CommonSettings,
    /// The names of the settings that a running server takes over and that differ from the reading before.
    pub(crate) changed: Vec<String>,
    /// The names of the settings that differ from those at the start and need a restart.
    pub(crate) pending: Vec<String>,
}

impl SettingsSource {
    pub(super) fn new<T: FromArgMatches + 'static>(
        command: Command,
        args: Vec<OsString>,
        values: ArgMatches,
        check: fn(&T) -> Result<(), InvalidSetting>,
    ) -> Self {
        Self {
            command,
            args,
            check: Box::new(move |values: &ArgMatches| {
                check(&parse_values(values)?).map_err(Refusal::Setting)
            }),
            at_start: values.clone(),
            latest: values,
        }
    }

    /// Returns the name of the program.
    pub fn program(&self) -> &str {
        self.command.get_name()
    }

    /// Reads the settings file again. Fails with a message of one line if the server would not start with it.
    pub(crate) fn read(&mut self) -> Result<Reading, String> {
        let (common, values) = self.values().map_err(|refusal| refusal.message())?;
        let is_reloaded = |arg: &&Arg| {
            arg.get_long()
                .is_some_and(|name| RELOADED_SETTINGS.contains(&name))
        };
        let (reloaded, others): (Vec<&Arg>, Vec<&Arg>) = self.command.get_arguments().partition(is_reloaded);
        let reading = Reading {
            common,
            changed: differing(&reloaded, &self.latest, &values),
            pending: differing(&others, &self.at_start, &values),
        };
        self.latest = values;
        Ok(reading)
    }

    fn values(&self) -> Result<(CommonSettings, ArgMatches), Refusal> {
        let (values, _) = find_values(&self.command, &self.args)?;
        (self.check)(&values)?;
        Ok((parse_values(&values)?, values))
    }
}

/// Returns the names of those settings whose values differ.
fn differing(settings: &[&Arg], one: &ArgMatches, other: &ArgMatches) -> Vec<String> {
    let values = |matches: &ArgMatches, arg: &Arg| -> Vec<OsString> {
        let values = matches.get_raw(arg.get_id().as_str());
        values.into_iter().flatten().map(OsString::from).collect()
    };
    let differing = settings
        .iter()
        .filter(|arg| values(one, arg) != values(other, arg));
    let names = differing.filter_map(|arg| arg.get_long());
    names.map(str::to_owned).collect()
}
