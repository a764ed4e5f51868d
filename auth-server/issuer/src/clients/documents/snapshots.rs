//! The stored descriptions of clients: what a document said when it was last fetched is a row of `clients`,
//! so that codes, consents and tokens refer to it like those of every other client.

use super::DocumentServices;
use audit::events::{Event, EventName};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use identity::clients::{self, Client};
use identity::refresh_families;
use revocation::RevokingTx;
use std::collections::BTreeSet;
use std::time::Duration;
use storage::db::{Error, Tx, change_in_batches};
use storage::{execute, fetch_optional, sql};

sql! {
    FIND = "SELECT fetched_at, fresh_until FROM client_documents WHERE client_id = $1";
    LOGO = "SELECT logo FROM client_documents WHERE client_id = $1";
    UPSERT = "INSERT INTO client_documents (client_id, fetched_at, fresh_until, logo) VALUES ($1, $2, $3, $4)
              ON CONFLICT (client_id) DO UPDATE
              SET fetched_at = excluded.fetched_at, fresh_until = excluded.fresh_until, logo = excluded.logo";
}

/// The time after a fetch for which the description serves token requests while the document cannot be
/// fetched again.
const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 3600);

/// The times of a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::FromRow)]
pub(super) struct Times {
    /// The time of the fetch.
    pub(super) fetched_at: Timestamp,
    /// The time until which it counts without another fetch.
    pub(super) fresh_until: Timestamp,
}

impl Times {
    /// Returns whether the description serves token requests, also while the document cannot be fetched
    /// again.
    pub(super) fn serve_token_requests(self, now: Timestamp) -> bool {
        now < self.fetched_at.after(MAX_AGE)
    }
}

/// The content of a document that was just fetched.
#[derive(Debug)]
pub(super) struct Description {
    /// The client.
    pub(super) client: Client,
    /// Its logo, as a `data:` URL.
    pub(super) logo: Option<String>,
    /// The time until which it counts without another fetch.
    pub(super) fresh_until: Timestamp,
}

impl DocumentServices {
    /// Returns the times of the description of a client; `None` if its document was never fetched.
    pub(super) async fn times(&self, client_id: &str) -> Result<Option<Times>, Error> {
        fetch_optional!(self.db.reader(), Times, FIND, client_id)
    }

    /// Returns the stored description of a client.
    pub(super) async fn snapshot(&self, client_id: &str) -> Result<Option<(Client, Times)>, Error> {
        let client = clients::find(&self.db, client_id).await?;
        let times = self.times(client_id).await?;
        Ok(client.zip(times))
    }

    /// Returns the logo of a client, as a `data:` URL.
    pub(super) async fn logo(&self, client_id: &str) -> Result<Option<String>, Error> {
        let row = fetch_optional!(self.db.reader(), (Option<String>,), LOGO, client_id)?;
        Ok(row.and_then(|(logo,)| logo))
    }

    /// Stores the content of a document, fetched at the time of the context. A change that the user would see
    /// or rely on, of the name, the redirect URIs, the keys or the method of authentication, needs a new
    /// consent. Ends the refresh token families that began with a redirect URI which the document no longer
    /// has.
    pub(super) async fn keep(&self, described: &Description, context: &RequestContext) -> Result<(), Error> {
        let id = &described.client.id;
        let times = self.times(id).await?;
        if times.is_some_and(|times| times.fetched_at > context.now) {
            // Another process has stored a later document.
            return Ok(());
        }
        if let Some(former) = clients::find(&self.db, id).await? {
            // Before the new description, so that a failure leaves the difference for the next fetch.
            self.end_removed(&former, &described.client, context).await?;
        }
        let written = match self.write(described, context).await {
            // Another process has just stored the first description.
            Err(Error::Conflict) => self.write(described, context).await,
            written => written,
        };
        self.clients.forget(id);
        written
    }

    async fn write(&self, described: &Description, context: &RequestContext) -> Result<(), Error> {
        let Description {
            client,
            logo,
            fresh_until,
        } = described;
        let (id, now) = (client.id.as_str(), context.now);
        let mut tx = self.db.begin().await?;
        match clients::lock(&mut tx, id).await? {
            None => {
                clients::create(&mut tx, client).await?;
                record(&mut tx, EventName::ClientCreated, id, "its document", context).await?;
            }
            Some(former) => {
                let times = fetch_optional!(tx.on(), Times, FIND, id)?;
                if times.is_some_and(|times| times.fetched_at > now) {
                    return Ok(());
                }
                // A consent that was given before the new description counts is one to the old description.
                update(&mut tx, former, client, &context.at_present()).await?;
            }
        }
        execute!(tx.on(), UPSERT, id, now, *fresh_until, logo.as_deref())?;
        tx.commit().await
    }

    /// Ends the families that began with a redirect URI that the client no longer has.
    async fn end_removed(
        &self,
        former: &Client,
        described: &Client,
        context: &RequestContext,
    ) -> Result<(), Error> {
        for uri in &former.redirect_uris {
            if described.redirect_uris.contains(uri) {
                continue;
            }
            change_in_batches(|limit| async move {
                let mut tx = RevokingTx::begin(&self.db, &self.revocations).await?;
                let revoked =
                    refresh_families::revoke_of_redirect_uri(&mut tx, &former.id, uri, limit, context);
                let count = revoked.await?;
                tx.commit().await?;
                Ok(count)
            })
            .await?;
        }
        Ok(())
    }
}

/// Replaces the description of a client whose row is locked.
async fn update(
    tx: &mut Tx,
    former: Client,
    described: &Client,
    context: &RequestContext,
) -> Result<(), Error> {
    let changes = visible_changes(&former, described);
    if !changes.is_empty() {
        let detail = format!("its document changed: {}", changes.join(", "));
        record(tx, EventName::ClientUpdated, &former.id, &detail, context).await?;
    }
    let changed = Client {
        secrets: former.secrets,
        epoch: former.epoch,
        created_at: former.created_at,
        disabled_at: former.disabled_at,
        identity_changed_at: match changes.is_empty() {
            true => former.identity_changed_at,
            false => Some(context.now),
        },
        ..described.clone()
    };
    clients::save(tx, &changed).await
}

/// Returns the members whose change needs a new consent and that differ.
fn visible_changes(former: &Client, described: &Client) -> Vec<&'static str> {
    let uris = |client: &Client| BTreeSet::from_iter(client.redirect_uris.clone());
    let has_other_keys = former.jwks != described.jwks || former.jwks_uri != described.jwks_uri;
    let has_other_method = former.kind.is_confidential() != described.kind.is_confidential();
    let changes = [
        ("client_name", former.name != described.name),
        ("redirect_uris", uris(former) != uris(described)),
        ("jwks", has_other_keys),
        ("token_endpoint_auth_method", has_other_method),
    ];
    let changes = changes.into_iter().filter(|(_, has_changed)| *has_changed);
    changes.map(|(name, _)| name).collect()
}

async fn record(
    tx: &mut Tx,
    name: EventName,
    client_id: &str,
    detail: &str,
    context: &RequestContext,
) -> Result<(), Error> {
    let event = Event::success(name).client(client_id).detail(detail);
    event.record(tx, context).await
}
