//! The list of revocations in Redis, beside the rows in the database, which stay the truth: a key for each revoked subject, which a
//! resource server in any language can look up, and a stream, which the processes of the API follow.

use super::{Kind, Revocation};
use ::redis::{Cmd, Script};
use foundation::clock::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use storage::redis::{Redis, Unavailable};

/// Adds revocations, each to its key and to the stream unless its key exists. The keys of the script are the data set's id, the
/// stream, the mark of completeness and the prefix of the subjects' keys. The arguments are the expected id or an empty text, whether
/// to mark the list as complete, and for each revocation its subject, its moment, and its expiry in milliseconds or an empty text.
/// Returns false, without effect, if the data set has another id.
const ADD: &str = "
    if ARGV[1] ~= '' and redis.call('GET', KEYS[1]) ~= ARGV[1] then
        return 0
    end
    local now = redis.call('TIME')
    local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
    for i = 3, #ARGV, 3 do
        local key, added = KEYS[4] .. ARGV[i], false
        if ARGV[i + 2] == '' then
            added = redis.call('SET', key, ARGV[i + 1], 'NX')
        elseif tonumber(ARGV[i + 2]) > now_ms then
            added = redis.call('SET', key, ARGV[i + 1], 'NX', 'PXAT', ARGV[i + 2])
        end
        if added then
            redis.call('XADD', KEYS[2], '*', 'subject', ARGV[i])
        end
    end
    redis.call('XTRIM', KEYS[2], 'MINID', '~', now_ms - 600000)
    if ARGV[2] == '1' then
        redis.call('SET', KEYS[3], ARGV[1], 'PX', 900)
    end
    return 1";

/// The largest number of revocations that one call of the script adds, so that it returns soon.
const BATCH: usize = 1000;
/// The largest number of entries of the stream that one read returns.
const READ_LIMIT: usize = 10_000;
/// The time for which a reader may rely on its position: older entries are removed from the stream after 10 minutes.
pub(super) const POSITION_LIFETIME: Duration = Duration::from_secs(300);
/// The time after a revocation at which the last access token that it covers has expired: 600 s, and a margin for tokens that are
/// issued meanwhile.
const LIFETIME: Duration = Duration::from_secs(660);

/// The list. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct RevocationList {
    redis: Redis,
    add: Arc<Script>,
}

/// The place in the stream up to which a reader knows the revocations.
#[derive(Clone, Debug)]
pub(super) struct StreamPosition {
    /// The id of the data set: another one has another stream.
    data_set: String,
    /// The id of the last entry.
    entry: String,
}

impl RevocationList {
    pub(super) fn new(redis: Redis) -> Self {
        Self {
            redis,
            add: Arc::new(Script::new(ADD)),
        }
    }

    /// Returns the id of the data set. It changes when Redis is emptied or replaced.
    pub(super) async fn data_set(&self) -> Result<String, Unavailable> {
        self.redis.epoch().await
    }

    /// Adds revocations whose rows are committed.
    pub(super) async fn add(&self, revocations: &[Revocation]) -> Result<(), Unavailable> {
        for batch in revocations.chunks(BATCH) {
            self.run(batch, "", false).await?;
        }
        Ok(())
    }

    /// Adds revocations, and then marks the list as complete for a moment: with them it has all that were committed when the caller
    /// read them. Returns false if the data set is not the one with this id any more, so that the list lacks earlier ones.
    pub(super) async fn complete(
        &self,
        data_set: &str,
        revocations: &[Revocation],
    ) -> Result<bool, Unavailable> {
        let mut batches = revocations.chunks(BATCH).peekable();
        loop {
            let batch = batches.next().unwrap_or_default();
            let is_last = batches.peek().is_none();
            if !self.run(batch, data_set, is_last).await? || is_last {
                return Ok(is_last);
            }
        }
    }

    /// Returns the present end of the stream.
    pub(super) async fn end(&self) -> Result<StreamPosition, Unavailable> {
        let data_set = self.data_set().await?;
        let mut last = ::redis::cmd("XREVRANGE");
        last.arg(self.stream()).arg("+").arg("-").arg("COUNT").arg(1);
        let entries: Vec<Entry> = self.redis.query(&last).await?;
        let entry = entries.into_iter().next();
        let entry = entry.map_or_else(|| "0-0".to_owned(), |(id, _)| id);
        Ok(StreamPosition { data_set, entry })
    }

    /// Returns the subjects that were added beyond a position, and moves the position behind them. Returns `None` if the list may not
    /// be complete: it is another data set, or no issuer has marked it recently.
    pub(super) async fn read_beyond(
        &self,
        position: &mut StreamPosition,
    ) -> Result<Option<Vec<(Kind, String)>>, Unavailable> {
        let mut entries = ::redis::cmd("XRANGE");
        let start = format!("({}", position.entry);
        entries
            .arg(self.stream())
            .arg(start)
            .arg("+")
            .arg("COUNT")
            .arg(READ_LIMIT);
        let mut both = ::redis::pipe();
        // The mark comes first: an entry that is added between the two is read.
        both.add_command(Cmd::get(self.mark())).add_command(entries);
        let (mark, entries): (Option<String>, Vec<Entry>) = self.redis.pipeline(&both).await?;
        if mark.as_deref() != Some(&position.data_set) || entries.len() == READ_LIMIT {
            return Ok(None);
        }
        if let Some((id, _)) = entries.last() {
            position.entry.clone_from(id);
        }
        let fields = entries.into_iter().flat_map(|(_, fields)| fields);
        Ok(Some(fields.filter_map(|(_, name)| parse(&name)).collect()))
    }

    async fn run(
        &self,
        batch: &[Revocation],
        data_set: &str,
        is_complete: bool,
    ) -> Result<bool, Unavailable> {
        let mut call = self.add.prepare_invoke();
        call.key(self.redis.key("epoch"))
            .key(self.stream())
            .key(self.mark());
        call.key(self.redis.key("revoked:"));
        call.arg(data_set).arg(u8::from(is_complete));
        for revocation in batch {
            call.arg(format!("{}:{}", revocation.kind.as_str(), revocation.subject));
            call.arg(revocation.revoked_at.seconds());
            call.arg(expiry(revocation).map_or_else(String::new, |at| (at.micros() / 1000).to_string()));
        }
        self.redis.script(&call).await
    }

    fn stream(&self) -> String {
        self.redis.key("revocations")
    }

    fn mark(&self) -> String {
        self.redis.key("revocations:complete")
    }
}

/// An entry of the stream: its id and its fields.
type Entry = (String, Vec<(String, String)>);

/// Returns the time at which the last token that a revocation covers has expired; `None` for a key, whose copy can sign at any time.
fn expiry(revocation: &Revocation) -> Option<Timestamp> {
    match revocation.kind {
        Kind::Key => None,
        Kind::Jti | Kind::User | Kind::Client | Kind::Family => Some(revocation.revoked_at.after(LIFETIME)),
    }
}

/// Parses the name of a subject, as in `user:42.7`. Returns `None` for a kind that this version does not know.
fn parse(name: &str) -> Option<(Kind, String)> {
    let (kind, subject) = name.split_once(':')?;
    let kind = Kind::named(kind)?;
    Some((kind, subject.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_name_is_parsed_or_refused(name in "\\PC{0,40}") {
            if let Some((kind, subject)) = parse(&name) {
                prop_assert_eq!(format!("{}:{subject}", kind.as_str()), name);
            }
        }
    }
}
