//! Mails in the outbox directory of a world.

use crate::polling::TIMEOUT;
use crate::tokens::parameter;
use crate::world::World;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use url::Url;

/// A mail.
#[derive(Clone, Debug)]
pub struct Mail {
    /// The file of the mail. Empty for a mail that an SMTP server received.
    pub file: PathBuf,
    headers: Vec<(String, String)>,
    /// The decoded text.
    pub text: String,
}

impl World {
    /// The outbox directory.
    pub fn outbox(&self) -> PathBuf {
        self.data_dir().join("outbox")
    }

    /// All mails to an address, oldest first.
    pub fn mails(&self, to: &str) -> Vec<Mail> {
        let mut read = self.read_mails();
        for file in files(&self.outbox()) {
            read.entry(file).or_insert_with_key(|file| Mail::read(file));
        }
        let to_address = read
            .values()
            .filter(|mail| mail.header("to").eq_ignore_ascii_case(to));
        let mut mails: Vec<_> = to_address.cloned().collect();
        mails.sort_by_key(Mail::number);
        mails
    }

    /// Waits for the nth mail with this subject to an address, counted from one. Records the token in its
    /// link as a secret.
    pub async fn mail(&self, to: &str, subject: &str, nth: usize) -> Mail {
        let began = Instant::now();
        loop {
            let mails = self.mails(to);
            let mut with_subject = mails.iter().filter(|mail| mail.header("subject") == subject);
            if let Some(mail) = with_subject.nth(nth - 1) {
                if let Some(link) = mail.find_link() {
                    self.register_secret(&parameter(&link, "token").unwrap());
                }
                return mail.clone();
            }
            assert!(
                began.elapsed() < TIMEOUT,
                "no mail {nth} {subject:?} to {to}: {mails:?}"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until the mail queue is empty.
    pub async fn wait_until_mailed(&self) {
        let (began, db) = (Instant::now(), self.db().await);
        let count = "SELECT COUNT(*) FROM mails";
        while storage::fetch_one!(db.reader(), (i64,), count).unwrap().0 > 0 {
            assert!(began.elapsed() < TIMEOUT, "mails are still queued");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// The files of the complete mails. Unfinished files have another extension.
fn files(outbox: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(outbox).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    files
        .filter(|file| file.extension().is_some_and(|extension| extension == "eml"))
        .collect()
}

impl Mail {
    fn read(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
            ..Self::parse(&std::fs::read_to_string(file).unwrap())
        }
    }

    /// Parses the headers and the body of a message.
    pub(crate) fn parse(whole: &str) -> Self {
        let (head, text) = whole.split_once("\r\n\r\n").unwrap();
        let headers = head.replace("\r\n ", " ");
        let headers = headers.split("\r\n").filter_map(|line| line.split_once(": "));
        Self {
            file: PathBuf::new(),
            headers: headers
                .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
                .collect(),
            text: text.replace("\r\n", "\n"),
        }
    }

    /// The value of a header that must occur exactly once.
    pub fn header(&self, name: &str) -> &str {
        let mut values = self.headers.iter().filter(|(found, _)| found == name);
        match (values.next(), values.next()) {
            (Some((_, value)), None) => value,
            _ => panic!("expected exactly one header {name}: {self:?}"),
        }
    }

    /// The link in the text.
    pub fn link(&self) -> Url {
        self.find_link().unwrap_or_else(|| panic!("no link: {self:?}"))
    }

    /// The token in the link.
    pub fn token(&self) -> String {
        parameter(&self.link(), "token").unwrap()
    }

    fn find_link(&self) -> Option<Url> {
        let lines = self.text.lines();
        let mut links = lines.filter_map(|line| Url::parse(line).ok());
        links.find(|link| parameter(link, "token").is_some())
    }

    /// The sequence number of the mail, which ends the name of its file.
    fn number(&self) -> u64 {
        let stem = self.file.file_stem().unwrap().to_str().unwrap();
        stem.rsplit('-').next().unwrap().parse().unwrap()
    }
}
