//! Whether the verifiers of tokens have the next signing key.

use super::Error;
use super::table::{Key, State, in_state};
use access_tokens::verifiers::{self, Kind, KnownVerifier};
use foundation::clock::Timestamp;
use foundation::secret;
use serde::Serialize;
use storage::db::{self, Db};
use utoipa::ToSchema;

/// The largest number of verifiers that an error or a command names.
const NAMED: usize = 5;

/// The verifiers of the issuer's tokens, and how many of them have the staged key.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = KeyReadiness)]
pub struct Readiness {
    /// The `kid` of the staged key; null if no key is staged.
    #[schema(required)]
    pub staged: Option<String>,
    /// The replicas of the API that reported within the last day and were not stopped since.
    pub api: Share,
    /// The other clients that fetched the key set within the last day.
    pub clients: Share,
    /// The verifiers, at most 1,000: first those without the staged key. Of them, and of the others, the
    /// replicas of the API come first, and of each kind the one that was seen last.
    pub verifiers: Vec<KnownVerifier>,
}

/// The share of the verifiers of a kind that have the staged key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = VerifierCount)]
pub struct Share {
    /// The number of those that have the staged key.
    pub ready: usize,
    /// The number of all verifiers of the kind.
    pub all: usize,
}

impl Readiness {
    pub(super) fn of(staged: Option<&Key>, mut verifiers: Vec<KnownVerifier>) -> Self {
        let staged = staged.map(|key| key.kid.clone());
        let is_ready = |verifier: &KnownVerifier| staged.as_deref().is_some_and(|kid| verifier.has(kid));
        let share = |kind| {
            let of_kind = verifiers.iter().filter(|verifier| verifier.kind == kind);
            Share {
                ready: of_kind.clone().filter(|verifier| is_ready(verifier)).count(),
                all: of_kind.count(),
            }
        };
        let (api, clients) = (share(Kind::Api), share(Kind::Client));
        verifiers.sort_by_key(is_ready);
        Self {
            staged,
            api,
            clients,
            verifiers,
        }
    }

    /// Returns the verifiers that lack the staged key. There are none if no key is staged.
    pub fn unready(&self) -> &[KnownVerifier] {
        let ready = self.api.ready + self.clients.ready;
        let unready = self.verifiers.len().saturating_sub(ready);
        match self.staged {
            Some(_) => &self.verifiers[..unready],
            None => &[],
        }
    }

    /// Returns whether the issuer may have forgotten a verifier that lacks the staged key. None lacks it if
    /// no key is staged.
    pub fn may_miss_unready(&self) -> bool {
        self.staged.is_some() && verifiers::is_truncated(&self.verifiers)
    }

    /// Returns the hash by which a form confirms a rotation although verifiers lack the staged key. It is that
    /// of these verifiers, in any order, and of whether the issuer may have forgotten others.
    pub fn unready_hash(&self) -> String {
        let unready = self.unready().iter();
        let mut unready: Vec<_> = unready
            .map(|verifier| (verifier.kind.as_str(), &verifier.name, &verifier.user_agent))
            .collect();
        unready.sort_unstable();
        let may_miss_unready = self.may_miss_unready();
        secret::encode(&secret::hash(&format!("{unready:?} {may_miss_unready}")))
    }

    /// Returns the number of verifiers of this kind that have the key with this `kid`.
    pub fn count_holders(&self, kind: Kind, kid: &str) -> usize {
        let of_kind = self.verifiers.iter().filter(|verifier| verifier.kind == kind);
        of_kind.filter(|verifier| verifier.has(kid)).count()
    }

    /// Fails with [`Error::Unready`] if a verifier lacks the staged key, or one that was forgotten may.
    pub fn require_all(&self) -> Result<(), Error> {
        let named = self.name_unready();
        if named.is_empty() {
            return Ok(());
        }
        Err(Error::Unready {
            kid: self.staged.clone().unwrap_or_default(),
            verifiers: named.join("; "),
        })
    }

    /// Names five of the verifiers that lack the staged key, and the number of the others, for the shell, and
    /// tells if more may lack it.
    pub fn name_unready(&self) -> Vec<String> {
        let unready = self.unready();
        let further = unready.len().saturating_sub(NAMED);
        let forgotten = "perhaps others, because more clients fetched the key set than are remembered";
        let named = unready.iter().take(NAMED).map(name);
        named
            .chain((further > 0).then(|| format!("{further} more")))
            .chain(self.may_miss_unready().then(|| forgotten.to_owned()))
            .collect()
    }
}

/// Names a verifier and the time at which it was seen last, for the shell.
fn name(verifier: &KnownVerifier) -> String {
    match verifier.kind {
        Kind::Api if verifier.silent => format!(
            "the API at {}, which is silent since {}",
            verifier.name, verifier.seen_at
        ),
        Kind::Api => format!(
            "the API at {}, which reported at {}",
            verifier.name, verifier.seen_at
        ),
        Kind::Client => format!(
            "{} ({}), which last fetched the keys at {}",
            verifier.name,
            match verifier.user_agent.as_str() {
                "" => "no user agent",
                user_agent => user_agent,
            },
            verifier.seen_at
        ),
    }
}

/// Returns the verifiers of the issuer's tokens. The staged key is among `keys`, if there is one.
pub async fn readiness(db: &Db, keys: &[Key], now: Timestamp) -> Result<Readiness, db::Error> {
    let verifiers = verifiers::list(db, now).await?;
    Ok(Readiness::of(in_state(keys, State::Staged), verifiers))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verifier(kind: Kind, name: &str, kids: &[&str]) -> KnownVerifier {
        KnownVerifier {
            kind,
            name: name.to_owned(),
            user_agent: String::new(),
            kids: kids.iter().map(|&kid| kid.to_owned()).collect(),
            dropped: Vec::new(),
            revalidates: false,
            seen_at: Timestamp::from_micros(0),
            silent: false,
        }
    }

    #[test]
    fn those_without_the_staged_key_are_counted_and_named_first() {
        let staged = Key {
            kid: "next".to_owned(),
            ..Key::example(State::Staged)
        };
        let verifiers = vec![
            verifier(Kind::Api, "api-1:8080", &["next", "now"]),
            verifier(Kind::Client, "192.0.2.1", &["now"]),
            verifier(Kind::Client, "192.0.2.2", &["now", "next"]),
        ];
        let readiness = Readiness::of(Some(&staged), verifiers.clone());
        assert_eq!(readiness.api, Share { ready: 1, all: 1 });
        assert_eq!(readiness.clients, Share { ready: 1, all: 2 });
        assert_eq!(readiness.unready(), [verifiers[1].clone()]);
        let error = readiness.require_all().unwrap_err().to_string();
        assert!(
            error.contains("192.0.2.1") && !error.contains("192.0.2.2"),
            "{error}"
        );
        let ready = Readiness::of(Some(&staged), verifiers[..1].to_vec());
        assert!(ready.require_all().is_ok());
    }

    #[test]
    fn a_silent_replica_is_named_and_counted() {
        let staged = Key {
            kid: "next".to_owned(),
            ..Key::example(State::Staged)
        };
        let silent = |kids| KnownVerifier {
            silent: true,
            ..verifier(Kind::Api, "api-1:8080", kids)
        };
        let lacks_it = Readiness::of(Some(&staged), vec![silent(&["now"])]);
        assert_eq!(lacks_it.api, Share { ready: 0, all: 1 });
        let error = lacks_it.require_all().unwrap_err().to_string();
        assert!(error.contains("api-1:8080, which is silent since"), "{error}");
        let has_it = Readiness::of(Some(&staged), vec![silent(&["next", "now"])]);
        assert!(has_it.require_all().is_ok());
    }

    #[test]
    fn the_hash_is_that_of_the_verifiers_without_the_staged_key() {
        let staged = Key {
            kid: "next".to_owned(),
            ..Key::example(State::Staged)
        };
        let client = |name| verifier(Kind::Client, name, &["now"]);
        let ready = verifier(Kind::Api, "api-1:8080", &["next", "now"]);
        let hash = |verifiers: &[KnownVerifier]| {
            let readiness = Readiness::of(Some(&staged), verifiers.to_vec());
            readiness.unready_hash()
        };
        let shown = hash(&[client("192.0.2.1"), client("192.0.2.2")]);
        assert_eq!(hash(&[client("192.0.2.2"), ready, client("192.0.2.1")]), shown);
        assert_ne!(hash(&[client("192.0.2.1"), client("192.0.2.3")]), shown);
        assert_ne!(hash(&[client("192.0.2.1")]), shown);
        // So many clients of a network that some may have been forgotten.
        let others = vec![verifier(Kind::Client, "192.0.2.4", &["next"]); 50];
        let full = [&others[..], &[client("192.0.2.1"), client("192.0.2.2")]].concat();
        assert_ne!(hash(&full), shown);
    }

    #[test]
    fn without_a_staged_key_nobody_lacks_it() {
        let readiness = Readiness::of(None, vec![verifier(Kind::Api, "api-1:8080", &["now"])]);
        assert_eq!(readiness.api, Share { ready: 0, all: 1 });
        assert!(readiness.require_all().is_ok());
    }
}
