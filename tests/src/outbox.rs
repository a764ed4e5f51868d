//! The mails that a world wrote into its outbox.

use crate::tokens::parameter;
use crate::world::World;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use url::Url;

/// How long a mail may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A mail as it was written.
#[derive(Clone, Debug)]
pub struct Letter {
    /// The file it is in.
    pub file: PathBuf,
    headers: Vec<(String, String)>,
    /// What it says.
    pub text: String,
}

impl World {
    /// Where its mails are.
    pub fn outbox(&self) -> PathBuf {
        self.data_dir().join("outbox")
    }

    /// All mails to an address so far, oldest first.
    pub fn letters(&self, to: &str) -> Vec<Letter> {
        let mut letters: Vec<_> = files(&self.outbox())
            .iter()
            .map(|file| Letter::read(file))
            .collect();
        letters.retain(|letter| letter.header("to").eq_ignore_ascii_case(to));
        letters.sort_by_key(Letter::number);
        letters
    }

    /// The nth mail, counted from one, with this subject to an address; waits for it.
    pub async fn letter(&self, to: &str, subject: &str, nth: usize) -> Letter {
        let began = Instant::now();
        loop {
            let letters = self.letters(to);
            let mut with_subject = letters
                .iter()
                .filter(|letter| letter.header("subject") == subject);
            if let Some(letter) = with_subject.nth(nth - 1) {
                if let Some(link) = letter.find_link() {
                    self.keep_secret(&parameter(&link, "token").unwrap());
                }
                return letter.clone();
            }
            assert!(
                began.elapsed() < PATIENCE,
                "no mail {nth} {subject:?} to {to}: {letters:?}"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until every mail that was queued so far is out.
    pub async fn until_mailed(&self) {
        let (began, db) = (Instant::now(), self.db().await);
        let count = "SELECT COUNT(*) FROM mails";
        while storage::fetch_one!(db.reader(), (i64,), count).unwrap().0 > 0 {
            assert!(began.elapsed() < PATIENCE, "mails stay");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Whole mails; what is being written has another ending.
fn files(outbox: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(outbox).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    files
        .filter(|file| file.extension().is_some_and(|extension| extension == "eml"))
        .collect()
}

impl Letter {
    fn read(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
            ..Self::parse(&std::fs::read_to_string(file).unwrap())
        }
    }

    /// Takes apart what travels.
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

    /// The one value of a header that must be there.
    pub fn header(&self, name: &str) -> &str {
        let mut values = self.headers.iter().filter(|(found, _)| found == name);
        match (values.next(), values.next()) {
            (Some((_, value)), None) => value,
            _ => panic!("expected one header {name}: {self:?}"),
        }
    }

    /// The link in it.
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

    /// Its place in the order in which mails were queued.
    fn number(&self) -> u64 {
        let stem = self.file.file_stem().unwrap().to_str().unwrap();
        stem.rsplit('-').next().unwrap().parse().unwrap()
    }
}
