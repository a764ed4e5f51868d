//! A clock that stands still until a test moves it. Only the program sees it: libfaketime answers its
//! questions for the time of day, and leaves the monotonic clock alone.

use crate::lookup::libfaketime;
use foundation::clock::Timestamp;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The clock of one world.
#[derive(Debug)]
pub(crate) struct Clock {
    now: Cell<Timestamp>,
    file: PathBuf,
    library: PathBuf,
}

impl Clock {
    /// Stands at the present second.
    pub(crate) fn start(dir: &Path) -> Self {
        let now = Timestamp::from_micros(foundation::clock::now().seconds() * 1_000_000);
        let clock = Self {
            now: Cell::new(now),
            file: dir.join("clock"),
            library: libfaketime(),
        };
        clock.write();
        clock
    }

    /// What the program sees.
    pub(crate) fn now(&self) -> Timestamp {
        self.now.get()
    }

    /// Moves on.
    pub(crate) fn advance(&self, length: Duration) {
        self.now.set(self.now.get().after(length));
        self.write();
    }

    /// What makes a program see this clock.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        [
            ("LD_PRELOAD", self.library.display().to_string()),
            ("FAKETIME_TIMESTAMP_FILE", self.file.display().to_string()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
            ("FAKETIME_NO_CACHE", "1".to_owned()),
            ("TZ", "UTC".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    /// Replaced whole: the program must never read half a time.
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
