//! Clients that describe themselves by a client ID metadata document: their `client_id` is its URL
//! (draft-ietf-oauth-client-id-metadata-document).

mod client_id_url;
mod error;
mod fetcher;
mod fetches;
mod hosts;
mod logo;
pub mod metadata;
pub(crate) mod snapshots;

pub use client_id_url::{ClientIdUrl, authority_of};
pub use error::DocumentError;
pub use hosts::DocumentHosts;

use crate::flows;
use fetches::{Fetches, Turn};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use http_client::GuardedClient;
use identity::clients::{Client, Clients};
use revocation::RevocationMirror;
use snapshots::Times;
use std::sync::Arc;
use std::time::Duration;
use storage::db::{self, Db};
use storage::expiring::{ExpiringStore, Window};

/// The pause after a failed fetch of a document that is needed. A user may load the page again.
const RETRY: Duration = Duration::from_secs(1);
/// The pause after a failed fetch of a document whose former description still serves token requests.
const TOKEN_RETRY: Duration = Duration::from_secs(60);
/// The limit of fetches for one user.
const PER_USER: Window = Window::throttle(30, Duration::from_secs(3600));
/// The limit of fetches for all users of one network.
const PER_NETWORK: Window = Window::throttle(120, Duration::from_secs(3600));
/// The time from the last fetch after which a client is deleted that no user allows any more.
const UNUSED_FOR: Duration = Duration::from_secs(30 * 24 * 3600);

/// The settings of [`Documents`], and the services that fetch documents and keep their content.
#[derive(Clone)]
pub struct DocumentServices {
    /// The hosts whose documents are accepted.
    pub hosts: DocumentHosts,
    /// Fetches the documents.
    pub http: GuardedClient,
    /// The database of the descriptions.
    pub db: Db,
    /// The clients in memory.
    pub clients: Clients,
    /// Announces the revocations that a changed document causes.
    pub revocations: RevocationMirror,
    /// Counts the fetches for each user and network.
    pub store: ExpiringStore,
    /// The issuer's URL.
    pub issuer: String,
}

/// The clients that describe themselves.
pub struct Documents {
    services: DocumentServices,
    fetches: Fetches,
}

/// The step of an authorization flow at which the description of a client is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The consent page, or a response without one: the description must be fresh.
    Show,
    /// The decision of the user, on a page that showed the description: it may be older by the lifetime of a
    /// flow.
    Decide,
}

impl Documents {
    /// Creates the service.
    pub fn new(services: DocumentServices) -> Self {
        Self {
            services,
            fetches: Fetches::new(),
        }
    }

    /// Returns whether documents of any host are accepted.
    pub const fn is_on(&self) -> bool {
        !self.services.hosts.is_off()
    }

    /// Returns the URL of the document of a client; `None` if the `client_id` is not that of such a client,
    /// or if no documents are accepted. Fails with the reason if this URL is not accepted.
    pub(crate) fn url_of(&self, client_id: &str) -> Option<Result<ClientIdUrl, String>> {
        if !self.is_on() || !ClientIdUrl::is_url(client_id) {
            return None;
        }
        let url = ClientIdUrl::parse(client_id, self.services.http.guard());
        Some(url.and_then(|url| match self.services.hosts.allows(url.host()) {
            true => Ok(url),
            false => {
                Err("this service accepts no applications that describe themselves at this host".to_owned())
            }
        }))
    }

    /// Returns the client that the document at this URL describes, for a signed-in user. Fetches the document
    /// unless a fresh description is known. Fails if the document cannot be used, or was to be fetched too
    /// often.
    pub(crate) async fn describe(
        &self,
        url: &ClientIdUrl,
        step: Step,
        user_id: i64,
        context: &RequestContext,
    ) -> Result<Arc<Client>, DocumentError> {
        let tolerance = match step {
            Step::Show => Duration::ZERO,
            Step::Decide => flows::LIFETIME,
        };
        let usable = async || -> Result<Option<Arc<Client>>, db::Error> {
            let known = self.services.snapshot(url.as_str()).await?;
            let is_usable = |(client, times): &(Client, Times)| {
                context.now < times.fresh_until.after(tolerance) || client.disabled_at.is_some()
            };
            Ok(known.filter(is_usable).map(|(client, _)| Arc::new(client)))
        };
        let unusable = |reason| {
            DocumentError::Unusable(format!(
                "The document at {} cannot be used: {reason}.",
                url.as_str()
            ))
        };
        if let Some(client) = usable().await? {
            return Ok(client);
        }
        let turn = self.fetches.turn(url.as_str()).await;
        // Another caller may have fetched it meanwhile.
        if let Some(client) = usable().await? {
            return Ok(client);
        }
        if let Some(reason) = turn.recent_failure(RETRY, context.now) {
            return Err(unusable(reason));
        }
        self.count_fetch(user_id, context).await?;
        self.fetch(url, turn, context).await.map_err(unusable)?;
        usable()
            .await?
            .ok_or_else(|| unusable("its description was deleted meanwhile".to_owned()))
    }

    /// Returns the logo of a client that describes itself, as a `data:` URL; `None` if it has none, and for
    /// every other client.
    pub async fn logo(&self, client: &Client) -> Result<Option<String>, db::Error> {
        match client.has_document() {
            true => self.services.logo(&client.id).await,
            false => Ok(None),
        }
    }

    /// Returns a client for the checks of a request that do not depend on the document of its client: it has
    /// registered the redirect URI of the request, and may request whatever a document can give. Fails if no
    /// document may have the redirect URI.
    pub(crate) fn stand_in(
        &self,
        url: &ClientIdUrl,
        redirect_uri: &str,
        now: Timestamp,
    ) -> Result<Client, String> {
        metadata::stand_in(url, redirect_uri, &self.services.issuer, now)
    }

    /// Fetches the document of a client anew if its description is no longer fresh, unless another caller
    /// fetches it now or a fetch failed a moment ago. No effect on other clients and on those that no user
    /// has signed in with, so that strangers cause no fetch of URLs of their own. A failure changes nothing.
    pub async fn keep_fresh(&self, client_id: &str, context: &RequestContext) -> Result<(), db::Error> {
        let Some(Ok(url)) = self.url_of(client_id) else {
            return Ok(());
        };
        let stale = async || -> Result<Option<Times>, db::Error> {
            let times = self.services.times(client_id).await?;
            Ok(times.filter(|times| times.fresh_until <= context.now))
        };
        // Token requests that fail for want of a document succeed soon after it is back.
        let pause = |times: Times| match times.serve_token_requests(context.now) {
            true => TOKEN_RETRY,
            false => RETRY,
        };
        if stale().await?.is_none() {
            return Ok(());
        }
        // A token request does not wait for the fetch of another one: the known description serves it.
        if let Some(turn) = self.fetches.turn_if_free(client_id)
            && let Some(times) = stale().await?
            && turn.recent_failure(pause(times), context.now).is_none()
        {
            let _ = self.fetch(&url, turn, context).await;
        }
        Ok(())
    }

    /// Returns whether the setting accepts the document of a client; true for a client without one.
    pub(crate) fn accepts(&self, client: &Client) -> bool {
        !client.has_document() || matches!(self.url_of(&client.id), Some(Ok(_)))
    }

    /// Returns whether the document of a client was fetched in the last seven days; true for a client without
    /// one.
    pub(crate) async fn is_current(&self, client: &Client, now: Timestamp) -> Result<bool, db::Error> {
        if !client.has_document() {
            return Ok(true);
        }
        let times = self.services.times(&client.id).await?;
        Ok(times.is_some_and(|times| times.serve_token_requests(now)))
    }

    /// Counts a fetch. Fails if there were too many for the user or for the network.
    async fn count_fetch(&self, user_id: i64, context: &RequestContext) -> Result<(), DocumentError> {
        let counts = [
            PER_USER.count(format!("documents for user {user_id}")),
            PER_NETWORK.count(format!("documents for {}", context.network())),
        ];
        match self.services.store.take(&counts, context.now).await? {
            None => Ok(()),
            Some(retry_after) => Err(DocumentError::TooMany { retry_after }),
        }
    }

    /// Fetches and stores a document. Fails with the reason.
    async fn fetch(&self, url: &ClientIdUrl, turn: Turn, context: &RequestContext) -> Result<(), String> {
        let (services, url, context) = (self.services.clone(), url.clone(), context.clone());
        turn.run(async move { services.fetch(&url, &context).await })
            .await
    }
}

/// Deletes the clients with documents that no user allows any more, 30 days after the last fetch. Returns
/// their number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, db::Error> {
    identity::clients::documents::prune(db, now.before(UNUSED_FOR)).await
}
