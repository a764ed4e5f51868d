//! The comparison of the API's settings with the metadata of the issuer (RFC 8414 §3): two services that
//! disagree about the issuer's URL or about the name of the API refuse each other's tokens and clients.

use crate::jwks::Jwks;
use http_client::{error_chain, read_body};
use reqwest::{Client, StatusCode};
use serde::Deserialize;
use std::time::Duration;

/// The maximum size of a response, in bytes.
const MAX_BODY: usize = 256 * 1024;
/// The pause between attempts while the issuer does not answer.
const RETRY: Duration = Duration::from_secs(1);

/// The settings of the API that the issuer must share.
#[derive(Clone, Debug)]
pub struct SharedSettings {
    /// The URL of the issuer (`iss`).
    pub issuer: String,
    /// The audience (`aud`) of the accepted access tokens.
    pub audience: String,
    /// The resource identifier in the metadata of the API (RFC 9728 §2), which clients send as `resource`.
    pub resource: String,
}

/// The members of the metadata that are compared.
#[derive(Debug, Deserialize)]
struct IssuerMetadata {
    issuer: String,
    /// The names of the API (RFC 9728 §4), first the `aud` of access tokens. Empty if the issuer does not
    /// say.
    #[serde(default)]
    protected_resources: Vec<String>,
}

impl SharedSettings {
    /// Reads the metadata of the issuer at `url` as soon as it answers, with the client that fetches its
    /// keys, and logs an error that says what disagrees and what to do.
    pub async fn compare_with_issuer(self, jwks: Jwks, url: String) {
        let disagreement = loop {
            match self.disagreement_with_issuer(&jwks, &url).await {
                Ok(disagreement) => break disagreement,
                Err(error) => tracing::debug!(error, "cannot read the metadata of the issuer"),
            }
            tokio::time::sleep(RETRY).await;
        };
        if let Some(disagreement) = disagreement {
            tracing::error!("{disagreement}");
        }
    }

    /// Reads the metadata of the issuer at `url`, with the client that fetches its keys. Returns the first
    /// disagreement, in words, with its remedy. Fails if the issuer does not answer.
    pub async fn disagreement_with_issuer(&self, jwks: &Jwks, url: &str) -> Result<Option<String>, String> {
        let metadata = download(jwks.client()?, url).await?;
        Ok(self.disagreement(&metadata))
    }

    /// Returns the first disagreement, in words, with its remedy.
    fn disagreement(&self, metadata: &IssuerMetadata) -> Option<String> {
        let Self {
            issuer,
            audience,
            resource,
        } = self;
        let without_slash = |uri: &str| uri.strip_suffix('/').unwrap_or(uri).to_owned();
        let accepts = |uri: &str| {
            let mut names = metadata.protected_resources.iter();
            names.any(|name| without_slash(name) == without_slash(uri))
        };
        if metadata.issuer != *issuer {
            return Some(format!(
                "this API refuses all access tokens: it accepts those of the issuer {issuer}, and the issuer calls itself {}. Set ISSUER \
                 to the same URL for both services",
                metadata.issuer
            ));
        }
        match metadata.protected_resources.first() {
            Some(first) if first != audience => Some(format!(
                "this API refuses all access tokens: it accepts those for the audience {audience}, and those of the issuer are for {first}. \
                 Set AUDIENCE to {resource} for both services"
            )),
            Some(_) if !accepts(resource) => Some(format!(
                "the issuer refuses clients that follow the metadata of this API: they ask for the resource {resource}, and the issuer \
                 knows {}. Set AUDIENCE to {resource} for both services",
                metadata.protected_resources.join(" and ")
            )),
            _ => None,
        }
    }
}

async fn download(client: &Client, url: &str) -> Result<IssuerMetadata, String> {
    let response = http_client::send(client.get(url)).await.map_err(error_chain)?;
    if response.status() != StatusCode::OK {
        return Err(format!(
            "{url}: the response has the status {}",
            response.status()
        ));
    }
    let body = read_body(response, MAX_BODY).await?;
    serde_json::from_slice(&body).map_err(|error| format!("{url}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_disagreement_is_named_with_its_remedy() {
        let api = |audience: &str| SharedSettings {
            issuer: "https://id.test".to_owned(),
            audience: audience.to_owned(),
            resource: "https://api.test".to_owned(),
        };
        let metadata = |issuer: &str, resources: &[&str]| IssuerMetadata {
            issuer: issuer.to_owned(),
            protected_resources: resources.iter().map(ToString::to_string).collect(),
        };
        let id = "https://id.test";
        for (audience, issuer, resources, expected) in [
            ("https://api.test", id, vec!["https://api.test", id], None),
            ("https://api.test/", id, vec!["https://api.test/", id], None),
            ("the-blog", id, vec!["the-blog", "https://api.test"], None),
            ("the-blog", id, vec![], None),
            (
                "https://api.test",
                "https://other.test",
                vec![],
                Some("Set ISSUER"),
            ),
            ("https://api.test", id, vec![id], Some("this API refuses all")),
            (
                "the-blog",
                id,
                vec!["the-blog", id],
                Some("the issuer refuses clients"),
            ),
        ] {
            let found = api(audience).disagreement(&metadata(issuer, &resources));
            match expected {
                None => assert_eq!(found, None, "{audience} {resources:?}"),
                Some(text) => assert!(found.unwrap().contains(text), "{audience} {resources:?}"),
            }
        }
    }
}
