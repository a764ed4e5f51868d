//! The command `copy`.

use crate::backup::{key_places, print};
use auth_server::cli::SealingKeys;
use auth_server::installation;
use auth_server::settings::IssuerSettings;
use clap::Args;
use foundation::settings::{InvalidSetting, read_parsed};
use foundation::time_limits;
use runtime::output::terminal_width;
use runtime::settings::CommonSettings;
use runtime::startup::Error;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use storage::db::DatabaseUrl;
use storage::db::copy::{CopyError, CopyProgress, CopyStep};

/// The number of rows after which a line tells the progress, if standard error is not a terminal.
const ROWS_PER_LINE: i64 = 100_000;
/// The width of the progress bar.
const BAR: usize = 20;

/// The arguments of `copy`.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// The URL of the empty PostgreSQL database, `postgres://…`.
    #[arg(long, value_name = "URL", required_unless_present = "to_file")]
    to: Option<DatabaseUrl>,
    /// A file that contains this URL.
    #[arg(long, value_name = "FILE")]
    to_file: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Copies the embedded installation to PostgreSQL, or resumes the copy, and says which settings belong to it.
pub(crate) async fn copy(
    arguments: &Arguments,
    common: &CommonSettings,
    issuer: &IssuerSettings,
    keys: SealingKeys,
) -> Result<(), Error> {
    common.check()?;
    time_limits::set_factor(common.time_limit_factor);
    let (master_keys, account_key) = (keys.master?, keys.account?);
    let target = read_parsed("TO", arguments.to.as_ref(), arguments.to_file.as_deref())?;
    let target = target.ok_or_else(|| InvalidSetting("TO: the URL is missing".to_owned()))?;
    let url = common.database.url(&common.data_dir)?;
    let copy = url.begin_copy(&target).await.map_err(failed)?;
    let db = copy.open_source().await?;
    let identified = installation::identify(&db, &master_keys, &account_key).await;
    db.close().await;
    drop(db);
    let installation = identified?;
    let copied = copy.run(&installation, &mut tell).await.map_err(failed)?;
    let next = "start the programs with DATABASE_URL of this database, and with the same BASE_URL, ISSUER, AUDIENCE, \
                MASTER_KEY, MASTER_KEY_PREVIOUS and ACCOUNT_KEY. All sessions and tokens are valid. No program \
                starts on the embedded database again: keep it as a backup";
    let [master, account] = key_places(common, issuer);
    print(
        arguments.json,
        &copied,
        &[master, account, ("next", next.to_owned())],
    )
}

/// Tells the progress on standard error: by a bar on a terminal, and by lines otherwise.
fn tell(progress: CopyProgress<'_>) {
    let CopyProgress {
        table, done, rows, ..
    } = progress;
    let verb = match progress.step {
        CopyStep::Copy => "copied",
        CopyStep::Compare => "compared",
    };
    let mut err = io::stderr().lock();
    let is_whole = done >= rows;
    // A copy continues also if nobody reads its progress.
    let _ = match err.is_terminal() {
        true => {
            let share = if is_whole { 100 } else { done * 100 / rows };
            let bar = "#".repeat(BAR * usize::try_from(share).unwrap_or_default() / 100);
            let line = format!("[{bar:<BAR$}] {share:>3}%  {verb}  {table}  {done} of {rows}");
            // The next line could not replace one that the terminal has wrapped.
            let width = terminal_width(&err).map_or(usize::MAX, usize::from);
            let line: String = line.chars().take(width).collect();
            let end = if is_whole { "\n" } else { "" };
            let written = write!(err, "\r\x1b[K{line}{end}");
            written.and_then(|()| err.flush())
        }
        false if is_whole || done % ROWS_PER_LINE == 0 => writeln!(err, "{verb}  {table}  {done} of {rows}"),
        false => Ok(()),
    };
}

#[allow(clippy::needless_pass_by_value, reason = "the signature that map_err needs")]
fn failed(error: CopyError) -> Error {
    Error::Other(error.to_string())
}
