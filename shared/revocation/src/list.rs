//! The list of revocations in Redis, beside the rows in the database, which stay the truth: a key for each
//! revoked subject, which a resource server in any language can look up, and a stream, which it can follow.

use super::kind::{Kind, LONGEST_LIFETIME, Revocation};
use ::redis::Script;
use foundation::clock::Timestamp;
use std::sync::Arc;
use storage::redis::{Redis, Unavailable, data_set_script};

/// Adds revocations, each to its key and to the stream unless its key exists. The keys of the script are
/// `data_set`, the stream, the mark of completeness, the mark of maintenance and the prefix of the subjects'
/// keys. The arguments are the expected id or an empty text, whether the mark of maintenance must exist,
/// whether to set both marks, and for each revocation its subject, its time in seconds and in microseconds,
/// and its lifetime in milliseconds or an empty text. Returns the number of revocations that the list lacked,
/// or nil, without effect, if the data set has another id or the mark does not exist.
///
/// The mark of completeness lasts for 0.7 s, which are three reads of an issuer: if the last issuer dies
/// between a commit and the list, whoever uses the list notices within a second of the commit. An issuer may
/// be late when its machine is busy, so it adds every revocation again only if the mark of maintenance, which
/// lasts for 2 s, is gone as well.
const ADD: &str = "
    if ARGV[1] ~= '' and data_set(KEYS[1]) ~= ARGV[1] then
        return false
    end
    if ARGV[2] == '1' and redis.call('EXISTS', KEYS[4]) == 0 then
        return false
    end
    local count = 0
    local now = redis.call('TIME')
    local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
    for i = 4, #ARGV, 4 do
        local key, added = KEYS[5] .. ARGV[i], false
        if ARGV[i + 3] == '' then
            added = redis.call('SET', key, ARGV[i + 1], 'NX')
        else
            added = redis.call('SET', key, ARGV[i + 1], 'NX', 'PX', ARGV[i + 3])
        end
        if added then
            redis.call('XADD', KEYS[2], '*', 'subject', ARGV[i], 'revoked_at', ARGV[i + 2])
            count = count + 1
        end
    end
    redis.call('XTRIM', KEYS[2], 'MINID', '~', now_ms - 600000)
    if ARGV[3] == '1' then
        redis.call('SET', KEYS[3], ARGV[1], 'PX', 700)
        redis.call('SET', KEYS[4], ARGV[1], 'PX', 2000)
    end
    return count";

/// Reads at most 1000 entries of the stream. The keys of the script are `data_set`, the stream and the mark
/// of completeness. The arguments are the fields of a [`StreamPosition`], or three empty texts to get the
/// position after the last entry. Returns the new position, and the subjects beyond the given one with their
/// times, or nil if the list is not complete, if the data set has another id, or if the position is older
/// than five minutes: [`ADD`] drops entries after ten minutes.
const READ: &str = "
    local present = data_set(KEYS[1])
    if not present or redis.call('GET', KEYS[3]) ~= present then
        return false
    end
    local now = redis.call('TIME')
    local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
    if ARGV[1] == '' then
        local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)
        return {present, last[1] and last[1][1] or '0-0', now_ms, {}, {}}
    end
    if ARGV[1] ~= present or now_ms - ARGV[3] > 300000 then
        return false
    end
    local entry, subjects, times = ARGV[2], {}, {}
    for i, found in ipairs(redis.call('XRANGE', KEYS[2], '(' .. entry, '+', 'COUNT', 1000)) do
        entry, subjects[i], times[i] = found[1], found[2][2], found[2][4] or ''
    end
    return {present, entry, now_ms, subjects, times}";

/// The largest number of revocations that one call of a script adds or reads, so that it returns soon.
const BATCH: usize = 1000;
/// The largest number of batches that are added at once, so that the reads of new revocations do not wait for
/// long.
const MAX_BATCHES: usize = 20;
/// The list. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct RevocationList {
    redis: Redis,
    add: Arc<Script>,
    read: Arc<Script>,
}

/// The state of Redis in which revocations may be added.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Expected<'a> {
    /// The id of the data set; empty if any will do.
    pub(super) data_set: &'a str,
    /// Whether the list must be marked as maintained.
    pub(super) is_marked: bool,
}

/// A position in the stream: all entries up to it were read.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamPosition {
    /// The id of the data set.
    data_set: String,
    /// The id of the last entry.
    entry: String,
    /// The time of the read, by the clock of Redis, in milliseconds, as text.
    read_at: String,
}

impl RevocationList {
    pub(super) fn new(redis: Redis) -> Self {
        Self {
            redis,
            add: Arc::new(data_set_script(ADD)),
            read: Arc::new(data_set_script(READ)),
        }
    }

    /// Returns the id of the data set. It changes when Redis is emptied, replaced or started again.
    pub(super) async fn data_set(&self) -> Result<String, Unavailable> {
        self.redis.data_set().await
    }

    /// Returns the number of failures of Redis that this process has met.
    pub(super) fn failures(&self) -> u64 {
        self.redis.failures()
    }

    /// Adds revocations whose rows are committed.
    pub(super) async fn add(&self, revocations: &[Revocation]) -> Result<(), Unavailable> {
        for batch in revocations.chunks(BATCH) {
            self.run(batch, Expected::default(), false).await?;
        }
        Ok(())
    }

    /// Adds revocations, at most 20,000, and removes those that it added from `missing`. If none are left,
    /// marks the list as complete for a moment: it has all that were committed when the caller read them.
    /// Returns the number of those that the list lacked, or `None` if Redis is not in the expected state.
    pub(super) async fn complete(
        &self,
        expected: Expected<'_>,
        missing: &mut Vec<Revocation>,
    ) -> Result<Option<u64>, Unavailable> {
        let mut lacked = 0;
        for _ in 0..MAX_BATCHES {
            let begin = missing.len().saturating_sub(BATCH);
            let is_last = begin == 0;
            let batch = missing.get(begin..).unwrap_or_default();
            match self.run(batch, expected, is_last).await? {
                None => return Ok(None),
                Some(added) => lacked += added,
            }
            missing.truncate(begin);
            if is_last {
                break;
            }
        }
        Ok(Some(lacked))
    }

    /// Returns the position after the last entry of the stream, or `None` if the list is not complete.
    pub(super) async fn end_of_stream(&self) -> Result<Option<StreamPosition>, Unavailable> {
        let read = self.read_batch(&StreamPosition::default()).await?;
        Ok(read.map(|(position, _)| position))
    }

    /// Returns the revocations of the entries beyond a position, and the position after them. A revocation
    /// without a time, from an older version of the program, gets the time `now`. Returns `None` if the
    /// stream may lack revocations, because the list is not complete, because Redis was emptied, replaced or
    /// started again, or because the position is old.
    pub(super) async fn read_stream(
        &self,
        from: &StreamPosition,
        now: Timestamp,
    ) -> Result<Option<(StreamPosition, Vec<Revocation>)>, Unavailable> {
        let mut position = from.clone();
        let mut revocations = Vec::new();
        loop {
            let Some((next, batch)) = self.read_batch(&position).await? else {
                return Ok(None);
            };
            let is_last = batch.len() < BATCH;
            // A kind that this version does not know is left out.
            revocations.extend(batch.into_iter().filter_map(|(text, revoked_at)| {
                let (kind, subject) = text.split_once(':')?;
                let revocation = Revocation::new(Kind::named(kind)?, subject.to_owned(), now);
                let revoked_at = revoked_at.parse().map(Timestamp::from_micros);
                Some(Revocation {
                    revoked_at: revoked_at.unwrap_or(now),
                    ..revocation
                })
            }));
            position = next;
            if is_last {
                return Ok(Some((position, revocations)));
            }
        }
    }

    /// Reads the subjects and the times of the next entries, which are the last ones if they are fewer than
    /// [`BATCH`]. Returns `None` like [`read_stream`](Self::read_stream).
    async fn read_batch(
        &self,
        from: &StreamPosition,
    ) -> Result<Option<(StreamPosition, Vec<(String, String)>)>, Unavailable> {
        let mut call = self.read.prepare_invoke();
        call.key(self.redis.key("data_set"))
            .key(self.stream())
            .key(self.mark());
        call.arg(&from.data_set).arg(&from.entry).arg(&from.read_at);
        type Reply = Option<(String, String, String, Vec<String>, Vec<String>)>;
        let reply: Reply = self.redis.script(&call).await?;
        Ok(reply.map(|(data_set, entry, read_at, subjects, times)| {
            let position = StreamPosition {
                data_set,
                entry,
                read_at,
            };
            (position, subjects.into_iter().zip(times).collect())
        }))
    }

    async fn run(
        &self,
        batch: &[Revocation],
        expected: Expected<'_>,
        is_complete: bool,
    ) -> Result<Option<u64>, Unavailable> {
        let mut call = self.add.prepare_invoke();
        call.key(self.redis.key("data_set"))
            .key(self.stream())
            .key(self.mark())
            .key(self.redis.key("revocations:maintained"))
            .key(self.redis.key("revoked:"));
        call.arg(expected.data_set)
            .arg(u8::from(expected.is_marked))
            .arg(u8::from(is_complete));
        for revocation in batch {
            call.arg(format!("{}:{}", revocation.kind.as_str(), revocation.subject));
            call.arg(revocation.revoked_at.seconds());
            call.arg(revocation.revoked_at.micros());
            call.arg(match revocation.kind {
                Kind::Key => String::new(),
                // Counted from now on, by the clock of Redis, so that no other clock matters.
                Kind::Jti | Kind::User | Kind::Client | Kind::Family => {
                    LONGEST_LIFETIME.as_millis().to_string()
                }
            });
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
