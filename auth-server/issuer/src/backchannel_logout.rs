//! Logout tokens for the clients of sessions that ended (OpenID Connect Back-Channel Logout 1.0).

use crate::keys::Keyring;
use foundation::clock::{self, Timestamp};
use foundation::random;
use http_client::GuardedClient;
use identity::clients::Clients;
use identity::logout_notices::{self, FailedAttempt, LogoutNotice};
use serde::Serialize;
use serde_json::{Value, json};
use std::time::Duration;
use storage::clock_check::{ClockCheck, ClockDiffers};
use storage::db::{Db, Error};
use storage::outbox::{self, Due, Failure, Outbox};

/// The lifetime of a logout token, as recommended by §4.
const TOKEN_LIFETIME: Duration = Duration::from_secs(120);
/// The event that a logout token reports (§2.4).
const LOGOUT_EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// The delivery of the queued notices.
#[derive(Clone)]
pub struct LogoutDelivery {
    /// The database of the notices.
    pub db: Db,
    /// The registered clients.
    pub clients: Clients,
    /// Calls the URLs of the clients.
    pub http: GuardedClient,
    /// The keys that sign the tokens.
    pub keys: Keyring,
    /// The issuer's URL.
    pub issuer: String,
    /// The comparison of the clock, by which the tokens are valid, with that of the database.
    pub clock: ClockCheck,
}

/// The claims of a logout token (§2.4).
#[derive(Serialize)]
struct Claims<'a> {
    iss: &'a str,
    sub: String,
    aud: &'a str,
    iat: i64,
    exp: i64,
    jti: String,
    sid: String,
    events: Value,
}

impl LogoutDelivery {
    /// Signs a logout token.
    fn sign(&self, notice: &LogoutNotice, now: Timestamp) -> Result<String, String> {
        let claims = Claims {
            iss: &self.issuer,
            sub: notice.user_id.to_string(),
            aud: &notice.client_id,
            iat: now.seconds(),
            exp: now.after(TOKEN_LIFETIME).seconds(),
            jti: random::id(),
            sid: notice.session_id.to_string(),
            events: json!({ LOGOUT_EVENT: {} }),
        };
        let signed = self
            .keys
            .signer(now)
            .and_then(|key| key.sign("logout+jwt", &claims));
        signed.map_err(|error| error.to_string())
    }
}

impl Outbox for LogoutDelivery {
    const ITEM: &'static str = "logout token";
    const POLL_INTERVAL: Duration = Duration::from_secs(1);
    const CONCURRENCY: usize = 16;
    const CONCURRENCY_PER_RECIPIENT: usize = 4;
    const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10);
    const LEASE: Duration = Duration::from_secs(60);

    type Claimed = LogoutNotice;

    async fn due(&self, now: Timestamp) -> Result<Vec<Due>, Error> {
        logout_notices::due(&self.db, now).await
    }

    async fn claim(&self, due: Due, lease_end: Timestamp) -> Result<Option<LogoutNotice>, Error> {
        logout_notices::claim(&self.db, due, lease_end).await
    }

    /// Posts the token to the client (§2.5). A client that is disabled or has no URL any more is left out.
    async fn send(&self, notice: &LogoutNotice) -> Result<(), Failure> {
        let client = self.clients.find(&notice.client_id, clock::now()).await;
        let client = client.map_err(|error| error.to_string())?;
        let client = client.filter(|client| client.disabled_at.is_none());
        let Some(url) = client.and_then(|client| client.backchannel_logout_uri.clone()) else {
            return Ok(());
        };
        let url = self.http.guard().parse(&url)?;
        let clock = self.clock.clock_for_request().await;
        let clock = clock.ok().filter(|clock| !clock.differs());
        let now = clock.ok_or_else(|| ClockDiffers.to_string())?.now();
        // A JWT has no character that a form encodes.
        let form = format!("logout_token={}", self.sign(notice, now)?);
        let answered = self.http.post_form(&url, form).await;
        let status = answered.map_err(|error| Failure {
            reason: format!("{}: {}", error.reason, error.detail),
            is_unanswered: true,
        })?;
        match status.is_success() {
            true => Ok(()),
            false => Err(format!("its server answered with status {status}").into()),
        }
    }

    async fn record_success(&self, notice: &LogoutNotice, _: Timestamp) -> Result<(), Error> {
        logout_notices::delete(&self.db, notice).await
    }

    /// Postpones the notice or, if the client did not answer, all notices of the client that are due. Gives
    /// up those that would be older than [`GIVE_UP_AFTER`](outbox::GIVE_UP_AFTER) at the next attempt.
    async fn record_failure(
        &self,
        notice: &LogoutNotice,
        failure: &Failure,
        now: Timestamp,
    ) -> Result<(), Error> {
        let LogoutNotice {
            client_id, attempts, ..
        } = notice;
        let failed = FailedAttempt {
            notice,
            is_unanswered: failure.is_unanswered,
            at: now,
        };
        let (next, error) = (now.after(outbox::backoff(*attempts)), &failure.reason);
        let too_old = next.before(outbox::GIVE_UP_AFTER);
        if notice.created_at > too_old {
            tracing::warn!(
                error,
                client_id,
                attempts,
                "a logout token was not delivered and will be retried"
            );
        } else {
            tracing::error!(
                error,
                client_id,
                attempts,
                "a logout token was given up after three days"
            );
            failed.give_up(&self.db, too_old).await?;
        }
        failed.postpone(&self.db, next).await
    }
}
