//! A clock that stands still until a test advances it. Only the programs and their database see it:
//! libfaketime replaces the wall clock of the programs and leaves their monotonic clock alone, and
//! `Database::set_clock` replaces that of PostgreSQL.

use crate::installed_programs::libfaketime;
use foundation::clock::Timestamp;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// The clock of one world.
#[derive(Debug)]
pub(crate) struct Clock {
    now: Mutex<Timestamp>,
    file: PathBuf,
}

/// Returns the environment variables that make a program use the clock of this machine plus an offset in the
/// form of libfaketime, such as `-1h`.
pub(crate) fn environment_with_offset(offset: &str) -> Vec<(String, String)> {
    faketime("FAKETIME", offset)
}

/// Removes the shared memory of libfaketime that a killed process leaves.
pub(crate) fn remove_shared_memory(process_id: u32) {
    for name in ["faketime_shm", "sem.faketime_sem"] {
        let _ = std::fs::remove_file(format!("/dev/shm/{name}_{process_id}"));
    }
}

/// Returns the environment variables that load libfaketime, and the variable that tells it the time.
fn faketime(variable: &str, value: &str) -> Vec<(String, String)> {
    [
        ("LD_PRELOAD", libfaketime().display().to_string()),
        (variable, value.to_owned()),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
        ("FAKETIME_NO_CACHE", "1".to_owned()),
        ("TZ", "UTC".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

impl Clock {
    /// Starts at the current second.
    pub(crate) fn start(dir: &Path) -> Self {
        let now = Timestamp::from_micros(foundation::clock::now().seconds() * 1_000_000);
        let clock = Self {
            now: Mutex::new(now),
            file: dir.join("clock"),
        };
        clock.write();
        clock
    }

    /// The time that the programs see.
    pub(crate) fn now(&self) -> Timestamp {
        *self.now.lock().unwrap()
    }

    /// Advances the clock.
    pub(crate) fn advance(&self, length: Duration) {
        self.set(self.now().after(length));
    }

    /// Sets the clock back.
    pub(crate) fn set_back(&self, length: Duration) {
        self.set(self.now().before(length));
    }

    /// Returns the environment variables that make a program use this clock.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        faketime("FAKETIME_TIMESTAMP_FILE", &self.file.display().to_string())
    }

    fn set(&self, now: Timestamp) {
        *self.now.lock().unwrap() = now;
        self.write();
    }

    /// Replaces the file atomically, so that a program never reads a partial time.
    fn write(&self) {
        let (day, time) = {
            let text = self.now().to_string();
            let (day, time) = text.split_once('T').unwrap();
            (day.to_owned(), time[..8].to_owned())
        };
        let new = self.file.with_extension("new");
        std::fs::write(&new, format!("{day} {time}\n")).unwrap();
        std::fs::rename(&new, &self.file).unwrap();
    }
}
