//! The management of a registration by its client (RFC 7592), with the registration access token.

use super::{ClientInformation, Error, Registrations};
use crate::clients::{ClientMetadata, MetadataError, differences, end_tokens};
use audit::events::{Event, EventName};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::secret::{self, Secret};
use identity::clients::{self, Client};
use revocation::RevokingTx;
use storage::db::Tx;

impl Registrations {
    /// Returns the client with this id to the holder of its registration access token. Fails with
    /// [`Error::InvalidToken`] if the token is not that of the client, or if there is no such client: the two
    /// cannot be told apart.
    pub async fn find(&self, id: &str, token: &Secret, now: Timestamp) -> Result<Client, Error> {
        admit(clients::find(&self.db, id).await?, token, now)
    }

    /// Returns the response to a request that reads a client (RFC 7592 §2.1). It has no secret, because only
    /// a hash is stored.
    pub fn describe(&self, client: &Client, token: &Secret) -> ClientInformation {
        ClientInformation::new(client, &self.issuer, token, None)
    }

    /// Replaces the metadata of a client by those in `body` (RFC 7592 §2.2), and records the event. The type
    /// of the client and the kind of its credentials stay. If the scope loses a part, all codes and tokens of
    /// the client end. After another name, redirect URI or key, users are asked for their consent again.
    /// Fails like [`find`](Self::find), or if the metadata are not acceptable.
    pub async fn replace(
        &self,
        id: &str,
        token: &Secret,
        body: &[u8],
        context: &RequestContext,
    ) -> Result<ClientInformation, Error> {
        let now = context.now;
        let metadata = ClientMetadata::parse(body);
        let mut tx = RevokingTx::begin(&self.db, &self.revocations).await?;
        let present = lock(&mut tx, id, token, now).await?;
        let metadata = metadata?;
        let secret = metadata.check_identity(&present, now)?;
        let (registration, method) = metadata.into_registration(present.id.clone(), &self.issuer)?;
        let (next, _) = self.checked(registration, method, now)?;
        let mut client = merge(&present, next, now)?;
        if !client.scope.covers(present.scope) {
            end_tokens(&mut tx, &mut client, context).await?;
        }
        clients::save(&mut tx, &client).await?;
        // A client can change itself in any number of requests.
        let event = differences::event(&present, &client);
        self.events.record_in(&mut tx, event, context).await?;
        tx.commit().await?;
        let (issuer, secret) = (&self.issuer, secret.as_deref());
        Ok(ClientInformation::new(&client, issuer, token, secret))
    }

    /// Deletes a client with its consents, and ends its codes and tokens (RFC 7592 §2.3). Records the event.
    /// Fails like [`find`](Self::find).
    pub async fn delete(&self, id: &str, token: &Secret, context: &RequestContext) -> Result<(), Error> {
        let mut tx = RevokingTx::begin(&self.db, &self.revocations).await?;
        let mut client = lock(&mut tx, id, token, context.now).await?;
        end_tokens(&mut tx, &mut client, context).await?;
        clients::delete(&mut tx, id).await?;
        let event = Event::success(EventName::ClientDeleted).client(id);
        event.record(&mut tx, context).await?;
        Ok(tx.commit().await?)
    }
}

/// Locks the client, so that its token is still valid when the transaction commits.
async fn lock(tx: &mut Tx, id: &str, token: &Secret, now: Timestamp) -> Result<Client, Error> {
    admit(clients::lock(tx, id).await?, token, now)
}

/// Returns the client if the token is its registration access token. The comparison takes the same time for
/// an unknown client.
fn admit(client: Option<Client>, token: &Secret, now: Timestamp) -> Result<Client, Error> {
    let found = client.as_ref();
    let stored = found.and_then(|client| client.registration_token_hash.as_deref());
    let is_equal = secret::equal(&token.hash(), stored.unwrap_or(&[0; 32]));
    let client = client.filter(|client| is_equal && !client.has_expired(now));
    let client = client.ok_or(Error::InvalidToken)?;
    match client.disabled_at {
        None => Ok(client),
        Some(_) => Err(Error::Disabled),
    }
}

/// Returns the present client with the metadata of the next one. Fails if the next one is of another type, or
/// has credentials of another kind.
fn merge(present: &Client, next: Client, now: Timestamp) -> Result<Client, MetadataError> {
    if (next.kind, next.has_keys()) != (present.kind, present.has_keys()) {
        return Err(MetadataError::Invalid(format!(
            "these metadata are those of a client of the type {} {} keys, and this client is of the type {} {} keys: \
             register another client",
            next.kind.as_str(),
            with(next.has_keys()),
            present.kind.as_str(),
            with(present.has_keys()),
        )));
    }
    let has_same_identity = present.name == next.name
        && present.redirect_uris == next.redirect_uris
        && present.jwks == next.jwks
        && present.jwks_uri == next.jwks_uri;
    let identity_changed_at = match has_same_identity {
        true => present.identity_changed_at,
        false => Some(now),
    };
    Ok(Client {
        name: next.name,
        redirect_uris: next.redirect_uris,
        post_logout_redirect_uris: next.post_logout_redirect_uris,
        backchannel_logout_uri: next.backchannel_logout_uri,
        jwks: next.jwks,
        jwks_uri: next.jwks_uri,
        scope: next.scope,
        default_scope: next.default_scope,
        require_pushed_authorization_requests: next.require_pushed_authorization_requests,
        dpop_bound_access_tokens: next.dpop_bound_access_tokens,
        token_endpoint_auth_method: next.token_endpoint_auth_method,
        signed_user_info: next.signed_user_info,
        identity_changed_at,
        ..present.clone()
    })
}

const fn with(has_keys: bool) -> &'static str {
    match has_keys {
        true => "with",
        false => "without",
    }
}
