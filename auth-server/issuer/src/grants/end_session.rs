//! The request of a client to sign the user out (OpenID Connect RP-Initiated Logout 1.0).

use super::{EndSessionRequest, Grants, IdTokenHint};
use crate::clients::redirect_uris;
use crate::params::{check_return_length, with_query};
use foundation::clock::Timestamp;
use identity::sessions::Session;
use storage::db;

/// The reason why a logout request is not followed.
#[derive(Debug, thiserror::Error)]
pub enum EndSessionError {
    /// The request is invalid. The message belongs on a page: a redirect would be open to abuse (§3).
    #[error("{0}")]
    Invalid(&'static str),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// A valid logout request.
#[derive(Debug)]
pub struct CheckedLogout {
    /// The user and the session that the client names by an ID token, if it does.
    hint: Option<IdTokenHint>,
    /// The URI for the redirect to the client after the logout, with the `state`.
    pub redirect: Option<String>,
}

impl CheckedLogout {
    /// Returns whether the client has shown an ID token of this very session, so that the user need not
    /// confirm the logout (§2). That of an earlier session is not enough, because an ID token that was
    /// found could then end every later session.
    pub fn names(&self, session: &Session) -> bool {
        self.hint
            .is_some_and(|hint| (hint.user_id, hint.session_id) == (session.user.id, Some(session.id)))
    }
}

impl Grants {
    /// Validates a logout request (§2). With a hint that cannot be verified, for example because its key was
    /// retired long ago or was compromised, the user must confirm, and there is no redirect. Fails if the
    /// client is unknown or disabled, or has not registered the redirect URI.
    pub async fn check_logout(
        &self,
        request: &EndSessionRequest,
        now: Timestamp,
    ) -> Result<CheckedLogout, EndSessionError> {
        let read = match &request.id_token_hint {
            Some(token) => self.read_id_token(token, now).await?,
            None => None,
        };
        let is_unreadable = request.id_token_hint.is_some() && read.is_none();
        let (hinted_client, hint) = read.unzip();
        let client_id = match (&request.client_id, &hinted_client) {
            (Some(named), Some(hinted)) if named != hinted => {
                return Err(EndSessionError::Invalid(
                    "The client_id is not that of the ID token in id_token_hint.",
                ));
            }
            (named, hinted) => named.as_ref().or(hinted.as_ref()),
        };
        let redirect = match &request.post_logout_redirect_uri {
            Some(uri) if !is_unreadable => {
                self.check_post_logout_uri(client_id, uri, now).await?;
                let state = request.state.as_deref().map(|state| ("state", state));
                let redirect = with_query(uri, state.as_slice());
                check_return_length(&redirect).map_err(EndSessionError::Invalid)?;
                Some(redirect)
            }
            Some(_) | None => None,
        };
        Ok(CheckedLogout { hint, redirect })
    }

    async fn check_post_logout_uri(
        &self,
        client_id: Option<&String>,
        uri: &str,
        now: Timestamp,
    ) -> Result<(), EndSessionError> {
        let client_id = client_id.ok_or(EndSessionError::Invalid(
            "The request has a post_logout_redirect_uri, but neither a client_id nor an id_token_hint.",
        ))?;
        let client = self.clients.find(client_id, now).await?;
        let client = client.filter(|client| client.disabled_at.is_none());
        let unknown = EndSessionError::Invalid("No enabled application is registered with this client_id.");
        let Some(client) = client else {
            return Err(unknown);
        };
        if !(self.documents.accepts(&client) && self.documents.is_current(&client, now).await?) {
            return Err(unknown);
        }
        let mut registered = client.post_logout_redirect_uris.iter();
        match registered.any(|registered| redirect_uris::matches(registered, uri)) {
            true => Ok(()),
            false => Err(EndSessionError::Invalid(
                "The application has not registered this post_logout_redirect_uri.",
            )),
        }
    }
}
