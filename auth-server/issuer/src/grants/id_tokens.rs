//! ID tokens (OpenID Connect Core §2).

use super::Grants;
use super::tokens::{TokenGrant, TokenTerms};
use crate::keys;
use access_tokens::PublicKeys as _;
use foundation::clock::Timestamp;
use foundation::secret;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::{Deserialize, Serialize};
use storage::db;

/// The claims of OpenID Connect Core §2, and `sid` (OpenID Connect Back-Channel Logout 1.0 §2.1).
#[derive(Serialize)]
pub(super) struct Claims<'a> {
    iss: &'a str,
    sub: String,
    aud: &'a str,
    exp: i64,
    iat: i64,
    auth_time: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<&'a str>,
    acr: &'static str,
    amr: &'static [&'static str],
    at_hash: String,
    /// Absent if the tokens belong to no session.
    #[serde(skip_serializing_if = "Option::is_none")]
    sid: Option<String>,
}

/// An ID token of this issuer that a client sends back to name the user or the session. It may have expired.
#[derive(Clone, Copy, Debug)]
pub struct IdTokenHint {
    /// The id of the user.
    pub user_id: i64,
    /// The id of the session, if the ID token belongs to one.
    pub session_id: Option<i64>,
}

/// The claims of an ID token that a hint needs.
#[derive(Deserialize)]
struct HintClaims {
    aud: String,
    sub: String,
    sid: Option<String>,
    /// Required, because a signed UserInfo response has the other claims too.
    #[serde(rename = "auth_time")]
    _auth_time: i64,
}

impl<'a> TokenTerms<'a> {
    /// Returns the claims of a new ID token that belongs to an access token and has the same lifetime.
    pub(super) fn id_token_claims(
        self,
        grant: &TokenGrant<'a>,
        access_token: &str,
        now: Timestamp,
    ) -> Claims<'a> {
        let family = grant.family;
        Claims {
            iss: self.issuer,
            sub: family.user_id.to_string(),
            aud: &family.client_id,
            exp: now.after(self.lifetime).seconds(),
            iat: now.seconds(),
            auth_time: family.sign_in.at.seconds(),
            nonce: grant.nonce,
            acr: family.sign_in.methods.acr(),
            amr: family.sign_in.methods.amr(),
            at_hash: at_hash(access_token),
            sid: family.session_id.map(|id| id.to_string()),
        }
    }
}

impl Grants {
    /// Returns the client that an ID token was issued to, and the contents of the token, which may have
    /// expired (OpenID Connect RP-Initiated Logout 1.0 §4). Returns `None` if this issuer did not sign it
    /// with a key that is published or was retired within the longest lifetime of a session, or if it is
    /// another token, such as a signed UserInfo response. Fails if the database does.
    pub async fn read_id_token(
        &self,
        token: &str,
        now: Timestamp,
    ) -> Result<Option<(String, IdTokenHint)>, db::Error> {
        let Ok(header) = jsonwebtoken::decode_header(token) else {
            return Ok(None);
        };
        let (Some("JWT"), Some(kid)) = (header.typ.as_deref(), &header.kid) else {
            return Ok(None);
        };
        let key = match self.keys.key(kid).await.ok().flatten() {
            Some(published) => Some(published),
            None => keys::find_retired(&self.db, kid, now.before(self.session_lifetime)).await?,
        };
        Ok(key.and_then(|key| self.verify_hint(token, &key)))
    }

    fn verify_hint(&self, token: &str, key: &DecodingKey) -> Option<(String, IdTokenHint)> {
        let mut checks = Validation::new(Algorithm::RS256);
        checks.set_issuer(&[&self.issuer]);
        checks.set_required_spec_claims(&["iss", "exp"]);
        checks.validate_exp = false;
        checks.validate_aud = false;
        let claims = jsonwebtoken::decode::<HintClaims>(token, key, &checks);
        let HintClaims { aud, sub, sid, .. } = claims.ok()?.claims;
        let hint = IdTokenHint {
            user_id: sub.parse().ok()?,
            session_id: sid.map(|id| id.parse()).transpose().ok()?,
        };
        Some((aud, hint))
    }
}

/// Returns the left half of the hash of an access token (OpenID Connect Core §3.1.3.6).
fn at_hash(access_token: &str) -> String {
    let hash = secret::hash(access_token);
    secret::encode(&hash[..hash.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_hash_is_that_of_the_example_in_the_specification() {
        // OpenID Connect Core, appendix A.3.
        let access_token = "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y";
        assert_eq!(at_hash(access_token), "77QmUPtjPfzWtF2AnpK9RQ");
    }
}
