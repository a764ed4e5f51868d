//! The access tokens of a drill.

use foundation::sync::lock;
use serde::Deserialize;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The time before its expiry at which a token is no longer used. It is longer than the time limit of a call
/// plus the second by which `exp` is rounded, so that a token is valid when its response arrives.
const MARGIN: Duration = Duration::from_secs(6);
/// The shortest usable lifetime of access tokens.
const LEAST_LIFETIME: Duration = Duration::from_secs(10);
/// The largest number of tokens that are kept, a few megabytes.
const CAPACITY: usize = 4_096;

/// An access token.
#[derive(Debug)]
pub(crate) struct Token {
    /// The key that signed it.
    pub(crate) kid: String,
    /// The token itself.
    pub(crate) value: String,
    /// The time from which it is no longer used.
    usable_until: Instant,
}

/// The tokens that may still be used, ordered by their expiry.
#[derive(Debug, Default)]
pub(crate) struct Pool(Mutex<VecDeque<Arc<Token>>>);

/// The members of a token response (RFC 6749 §5.1).
#[derive(Deserialize)]
struct Response {
    access_token: String,
    expires_in: u64,
}

/// The members of a token's header (RFC 7515 §4.1).
#[derive(Deserialize)]
struct Header {
    kid: String,
}

impl Token {
    /// Reads the response to a token request that was sent at `requested_at`. Fails with a message if it is
    /// malformed or the lifetime of the token is too short.
    pub(crate) fn parse(body: &[u8], requested_at: Instant) -> Result<Self, String> {
        let response: Response = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        let lifetime = Duration::from_secs(response.expires_in);
        if lifetime < LEAST_LIFETIME {
            return Err(format!(
                "ACCESS_TOKEN_LIFETIME is {} s: a drill needs at least {} s",
                lifetime.as_secs(),
                LEAST_LIFETIME.as_secs()
            ));
        }
        let expires_at = requested_at.checked_add(lifetime);
        let expires_at = expires_at.ok_or_else(|| format!("expires_in is {}", response.expires_in))?;
        let header = response.access_token.split('.').next().unwrap_or_default();
        let header = foundation::secret::decode(header).unwrap_or_default();
        let header: Header = serde_json::from_slice(&header).map_err(|error| error.to_string())?;
        Ok(Self {
            kid: header.kid,
            value: response.access_token,
            usable_until: expires_at - MARGIN,
        })
    }
}

impl Pool {
    /// Adds a token. Drops the one that expires first if there are too many.
    pub(crate) fn add(&self, token: Token) {
        let mut tokens = lock(&self.0);
        if tokens.len() >= CAPACITY {
            tokens.pop_front();
        }
        let place = tokens.partition_point(|other| other.usable_until <= token.usable_until);
        tokens.insert(place, Arc::new(token));
    }

    /// Returns a token that may still be used: the newest one for every second `call`, and each of them in
    /// turn for the others.
    pub(crate) fn choose(&self, call: usize) -> Option<Arc<Token>> {
        let (mut tokens, now) = (lock(&self.0), Instant::now());
        while tokens.pop_front_if(|token| token.usable_until <= now).is_some() {}
        match call % 2 {
            0 => tokens.back().cloned(),
            _ => tokens.get(call / 2 % tokens.len().max(1)).cloned(),
        }
    }

    /// Returns the newest token that this key signed.
    pub(crate) fn newest_of(&self, kid: &str) -> Option<Arc<Token>> {
        let (tokens, now) = (lock(&self.0), Instant::now());
        let mut usable = tokens.iter().rev().filter(|token| token.usable_until > now);
        usable.find(|token| token.kid == kid).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(lifetime: u64) -> Vec<u8> {
        let header = foundation::secret::encode(br#"{"alg":"RS256","kid":"key-1"}"#);
        format!(r#"{{"access_token":"{header}.e30.sig","expires_in":{lifetime}}}"#).into_bytes()
    }

    #[test]
    fn tokens_are_chosen_until_shortly_before_they_expire() {
        let (pool, now) = (Pool::default(), Instant::now());
        assert!(pool.choose(0).is_none() && pool.choose(1).is_none());
        pool.add(Token::parse(&response(600), now).unwrap());
        let almost_expired = now.checked_sub(Duration::from_secs(594)).unwrap_or(now);
        pool.add(Token::parse(&response(600), almost_expired).unwrap());
        for call in 0..4 {
            assert_eq!(
                pool.choose(call).unwrap().usable_until,
                now + Duration::from_secs(594)
            );
        }
        assert_eq!(pool.newest_of("key-1").unwrap().kid, "key-1");
        assert!(pool.newest_of("key-2").is_none());
    }

    #[test]
    fn every_usable_token_has_its_turn() {
        let (pool, now) = (Pool::default(), Instant::now());
        for lifetime in [600, 400, 500] {
            pool.add(Token::parse(&response(lifetime), now).unwrap());
        }
        let lifetimes = [1, 3, 5].map(|call| pool.choose(call).unwrap().usable_until - now);
        assert_eq!(lifetimes.map(|length| length.as_secs()), [394, 494, 594]);
        assert_eq!(
            pool.choose(0).unwrap().usable_until,
            now + Duration::from_secs(594)
        );
    }

    #[test]
    fn short_lifetimes_and_malformed_responses_are_refused() {
        let message = Token::parse(&response(9), Instant::now()).unwrap_err();
        assert!(message.contains("ACCESS_TOKEN_LIFETIME"), "{message}");
        let message = Token::parse(&response(u64::MAX), Instant::now()).unwrap_err();
        assert!(message.contains("expires_in"), "{message}");
        assert!(Token::parse(b"{}", Instant::now()).is_err());
        let no_header = br#"{"access_token":"a.b.c","expires_in":600}"#;
        assert!(Token::parse(no_header, Instant::now()).is_err());
    }
}
