//! The client of an authorization request: a registered one, or one that describes itself by a document,
//! which is fetched only for a signed-in user.

use super::CheckedRequest;
use crate::clients::documents::{ClientIdUrl, Step};
use crate::grants::authorization_error::AuthorizationError;
use crate::grants::interaction::Demands;
use crate::grants::{AuthorizationRequest, Grants};
use crate::params::{Params, REPEATED};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use identity::clients::Client;
use std::sync::Arc;

impl Grants {
    /// Validates an authorization request for a signed-in user. May fetch the document of its client. Fails
    /// with [`AuthorizationError::Page`] or [`AuthorizationError::Redirect`] if the request is invalid, and
    /// with [`AuthorizationError::Document`] if the document cannot be used.
    pub async fn check_request(
        &self,
        params: &Params,
        step: Step,
        user_id: i64,
        context: &RequestContext,
    ) -> Result<CheckedRequest, AuthorizationError> {
        let request = self.read_request(params)?;
        let client = match self.document_of(&request)? {
            Some(url) => self.documents.describe(&url, step, user_id, context).await?,
            None => self.find_client(&request, context.now).await?,
        };
        self.check_request_of(client, request, params, context.now).await
    }

    /// Validates a request of a client whose registration or description is known. Fails like
    /// [`check_request`](Self::check_request).
    pub(in crate::grants) async fn check_known(
        &self,
        params: &Params,
        now: Timestamp,
    ) -> Result<CheckedRequest, AuthorizationError> {
        let request = self.read_request(params)?;
        let client = self.find_client(&request, now).await?;
        self.check_request_of(client, request, params, now).await
    }

    /// Validates a request as far as possible without the document of its client. Returns what it demands of
    /// the user; `None` if the client has no document. Fails with [`AuthorizationError::Page`] if the request
    /// is invalid: its redirect URI is not known to be that of the client.
    pub(in crate::grants) async fn check_without_document(
        &self,
        params: &Params,
        now: Timestamp,
    ) -> Result<Option<Demands>, AuthorizationError> {
        let request = self.read_request(params)?;
        let Some(url) = self.document_of(&request)? else {
            return Ok(None);
        };
        let stand_in = self.documents.stand_in(&url, &request.redirect_uri, now);
        let stand_in =
            stand_in.map_err(|flaw| page(&format!("The redirect_uri is not acceptable: {flaw}.")))?;
        match self
            .check_request_of(Arc::new(stand_in), request, params, now)
            .await
        {
            Ok(checked) => Ok(Some(checked.demands)),
            Err(AuthorizationError::Redirect(response)) => Err(page(&response.in_words())),
            Err(error) => Err(error),
        }
    }

    /// Returns the URL of the document of the client; `None` if the client has none.
    fn document_of(&self, request: &AuthorizationRequest) -> Result<Option<ClientIdUrl>, AuthorizationError> {
        let url = self.documents.url_of(&request.client_id).transpose();
        url.map_err(|flaw| {
            page(&format!(
                "The client_id is not acceptable as the URL of a client ID metadata document: {flaw}."
            ))
        })
    }

    /// Returns the client of a request. One that describes itself is unknown if no documents are accepted.
    async fn find_client(
        &self,
        request: &AuthorizationRequest,
        now: Timestamp,
    ) -> Result<Arc<Client>, AuthorizationError> {
        let client = self.clients.find(&request.client_id, now).await?;
        client
            .filter(|client| !client.has_document() || self.documents.is_on())
            .ok_or_else(|| page("No application is registered with this client_id."))
    }

    /// Reads the parameters. Fails if they are unreadable or name no client.
    fn read_request(&self, params: &Params) -> Result<AuthorizationRequest, AuthorizationError> {
        params.check_length().map_err(page)?;
        if let Some(flaw) = params.flaw().filter(|flaw| *flaw != REPEATED) {
            return Err(AuthorizationError::unreadable(flaw));
        }
        let mut request: AuthorizationRequest = params.read()?;
        if !self.proofs.is_on() {
            request.dpop_jkt = None;
        }
        match request.client_id.is_empty() {
            true => Err(page("The request has no client_id.")),
            false => Ok(request),
        }
    }
}

fn page(message: &str) -> AuthorizationError {
    AuthorizationError::page(message)
}
