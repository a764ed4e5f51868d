//! The counts of requests in responses, and what they tell of two clients.

use super::{BATCH, OTHERS, Reply};
use web::headers::single;

/// The count in a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    quota: u32,
    pub(super) remaining: u32,
    /// The seconds until a new minute begins.
    resets_in: u32,
}

/// How the server counts two clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counting {
    Apart,
    Together,
    /// By something else than the address of the client.
    ByConnection,
    Unclear,
}

impl Count {
    /// Returns the count in a response; `None` if it counts no requests.
    pub(super) fn of(reply: &Reply) -> Option<Self> {
        let number = |header: &str, parameter: &str| -> Option<u32> {
            let mut parameters = single(&reply.headers, header)?.split(';');
            let text = parameters.find_map(|text| text.strip_prefix(parameter))?;
            text.parse().ok()
        };
        Some(Self {
            quota: number("ratelimit-policy", "q=")?,
            remaining: number("ratelimit", "r=")?,
            resets_in: number("ratelimit", "t=")?,
        })
    }

    /// Returns whether the request was the first one from the address that the server sees.
    pub(super) fn is_first(self) -> bool {
        self.quota.checked_sub(1) == Some(self.remaining)
    }
}

impl Counting {
    /// Judges by the counts of the first client before and after the requests of the second one. At zero, the
    /// server counts no further.
    pub(super) fn of(before: Option<Count>, after: Option<Count>) -> Self {
        let Some((before, after)) = before.zip(after) else {
            return Self::Unclear;
        };
        let is_one_minute = after.resets_in <= before.resets_in;
        match before.remaining.checked_sub(after.remaining) {
            Some(OTHERS..) if is_one_minute && after.remaining > 0 => Self::Together,
            Some(BATCH..OTHERS) if is_one_minute && after.remaining > 0 => Self::Apart,
            _ => Self::Unclear,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_together_if_the_requests_of_one_count_for_the_other() {
        let own = 2 * BATCH;
        let count = |remaining, resets_in| Count {
            quota: 600,
            remaining,
            resets_in,
        };
        let counting = |remaining| Counting::of(Some(count(600, 30)), Some(count(remaining, 28)));
        assert_eq!(counting(600 - own), Counting::Apart);
        // Some of the former requests had not been shared.
        assert_eq!(counting(600 - own - BATCH), Counting::Apart);
        assert_eq!(counting(600 - own - OTHERS), Counting::Together);
        // The limit is reached, others answered, or a new minute has begun.
        for remaining in [0, 600, 601] {
            assert_eq!(counting(remaining), Counting::Unclear, "{remaining}");
        }
        let next_minute = Counting::of(Some(count(580, 1)), Some(count(572, 60)));
        assert_eq!(next_minute, Counting::Unclear);
        assert_eq!(Counting::of(None, Some(count(600, 30))), Counting::Unclear);
    }
}
