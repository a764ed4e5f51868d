//! The mapping of metadata to the types of clients that this issuer has, and to their rules.

use super::{AuthMethod, CLIENT_CREDENTIALS, CODE_GRANTS, ClientMetadata, MetadataError};
use crate::clients::redirect_uris::is_of_issuer;
use crate::clients::{Registration, check_redirect_uris};
use foundation::scope::Scope;
use http_client::{ForeignUrl, Guard};
use identity::clients::ClientType;

/// The scopes that no client gets by registering itself.
const RESERVED: [&str; 2] = ["admin", "payments:write"];
/// The scopes about the identity of a user, of which a service has none.
const OF_USERS: [&str; 3] = ["openid", "profile", "email"];

impl ClientMetadata {
    /// Returns the registration of a client with this id at the issuer with the URL `issuer`, and the way in
    /// which it authenticates. The registration is still to be checked by the rules for all clients, except
    /// for its redirect URIs.
    pub(crate) fn into_registration(
        self,
        id: String,
        issuer: &str,
    ) -> Result<(Registration, AuthMethod), MetadataError> {
        let method = self.auth_method()?;
        let kind = self.client_type(method)?;
        let redirect_uris = self.redirect_uris.clone().unwrap_or_default();
        if kind != ClientType::Service {
            let checked = check_redirect_uris(&redirect_uris, kind, false);
            checked.map_err(|flaw| MetadataError::InvalidRedirectUri(flaw.reason))?;
            // The consent page would name the issuer's own host as that of the app.
            if let Some(uri) = redirect_uris.iter().find(|uri| is_of_issuer(uri, issuer)) {
                let reason = "only an administrator registers an app at the address of this issuer";
                return Err(MetadataError::InvalidRedirectUri(format!(
                    "redirect URI {uri:?}: {reason}"
                )));
            }
        }
        let mut registration = self.registration(id, kind, redirect_uris, issuer)?;
        if method != AuthMethod::PrivateKeyJwt {
            // Keys for other purposes, which this issuer does not have, would replace the secret.
            (registration.jwks, registration.jwks_uri) = (None, None);
        } else if registration.jwks.is_none() && registration.jwks_uri.is_none() {
            return Err("private_key_jwt needs jwks or jwks_uri".to_owned().into());
        }
        Ok((registration, method))
    }

    fn registration(
        self,
        id: String,
        kind: ClientType,
        redirect_uris: Vec<String>,
        issuer: &str,
    ) -> Result<Registration, String> {
        let signed_user_info = self.signed_user_info()?;
        let name = self.client_name.unwrap_or_else(|| id.clone());
        let must_push = self.require_pushed_authorization_requests;
        let backchannel_logout_uri = foreign("backchannel_logout_uri", self.backchannel_logout_uri, issuer)?;
        let scope = scope(self.scope.as_deref(), kind)?;
        Ok(Registration {
            redirect_uris,
            post_logout_redirect_uris: self.post_logout_redirect_uris.unwrap_or_default(),
            backchannel_logout_uri,
            jwks: self.jwks,
            jwks_uri: foreign("jwks_uri", self.jwks_uri, issuer)?,
            require_pushed_authorization_requests: must_push.unwrap_or_default(),
            dpop_bound_access_tokens: self.dpop_bound_access_tokens.unwrap_or_default(),
            signed_user_info,
            ..Registration::new(id, name, kind, scope)
        })
    }

    fn signed_user_info(&self) -> Result<bool, String> {
        match self.userinfo_signed_response_alg.as_deref() {
            None => Ok(false),
            Some("RS256") => Ok(true),
            Some(_) => Err("userinfo_signed_response_alg must be RS256, or absent".to_owned()),
        }
    }

    fn auth_method(&self) -> Result<AuthMethod, String> {
        let Some(name) = self.token_endpoint_auth_method.as_deref() else {
            return Ok(AuthMethod::ClientSecretBasic);
        };
        AuthMethod::named(name).ok_or_else(|| {
            let names = AuthMethod::ALL.map(AuthMethod::as_str).join(", ");
            format!("token_endpoint_auth_method must be one of {names}")
        })
    }

    /// Returns the type of the client. A public client is an installed app if it says so, or if it has a
    /// redirect URI that only such an app can have: on a loopback address, or with a private-use scheme (RFC
    /// 8252 §7).
    fn client_type(&self, method: AuthMethod) -> Result<ClientType, String> {
        let is_native = match self.application_type.as_deref() {
            None | Some("web") => false,
            Some("native") => true,
            Some(_) => return Err("application_type must be web or native".to_owned()),
        };
        let names = |list: &Option<Vec<String>>, name: &str| {
            list.as_ref().map(|list| list.iter().any(|one| one == name))
        };
        if names(&self.grant_types, CODE_GRANTS[0]) == Some(false) {
            return match (names(&self.grant_types, CLIENT_CREDENTIALS), method) {
                (Some(true), AuthMethod::None) => {
                    Err("a client of the grant type client_credentials must authenticate".to_owned())
                }
                (Some(true), _) => Ok(ClientType::Service),
                _ => Err("grant_types must have authorization_code or client_credentials".to_owned()),
            };
        }
        if names(&self.response_types, "code") == Some(false) {
            return Err("response_types must have code".to_owned());
        }
        let mut redirect_uris = self.redirect_uris.iter().flatten();
        Ok(match method {
            AuthMethod::None if is_native || redirect_uris.any(|uri| !uri.starts_with("https:")) => {
                ClientType::Native
            }
            AuthMethod::None => ClientType::Spa,
            _ => ClientType::Web,
        })
    }
}

/// Returns the requested part of the scope that a client of this type can register by itself. Unknown scopes
/// are ignored. Fails if nothing is left.
fn scope(requested: Option<&str>, kind: ClientType) -> Result<Scope, String> {
    let union = |names: &mut dyn Iterator<Item = &str>| {
        let known = names.filter_map(Scope::named);
        known.fold(Scope::default(), Scope::union)
    };
    let mut refused = RESERVED.to_vec();
    if kind == ClientType::Service {
        refused.extend(OF_USERS);
    }
    let allowed = Scope::all().difference(union(&mut refused.into_iter()));
    let scope = match requested {
        Some(requested) => allowed.intersection(union(&mut requested.split(' '))),
        None => allowed,
    };
    match scope.is_empty() {
        false => Ok(scope),
        true => Err(format!(
            "the scope has none of those that a client can register by itself: {allowed}"
        )),
    }
}

/// Parses a URL that the issuer will call.
fn foreign(name: &str, url: Option<String>, issuer: &str) -> Result<Option<ForeignUrl>, String> {
    let guard = Guard::of_server(issuer);
    let parse = |url: String| guard.parse(&url).map_err(|flaw| format!("{name}: {flaw}"));
    url.map(parse).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const ISSUER: &str = "https://issuer.test";

    fn map(metadata: &Value) -> Result<(Registration, AuthMethod), MetadataError> {
        let metadata = ClientMetadata::parse(metadata.to_string().as_bytes())?;
        metadata.into_registration("id".to_owned(), ISSUER)
    }

    #[test]
    fn the_type_follows_the_authentication_and_the_redirect_uris() {
        let jwks = json!({ "keys": [] });
        for (metadata, kind) in [
            (
                json!({ "redirect_uris": ["https://app.test/cb"] }),
                ClientType::Web,
            ),
            (
                json!({ "redirect_uris": ["http://127.0.0.1/cb"], "application_type": "native" }),
                ClientType::Web,
            ),
            (
                json!({ "redirect_uris": ["https://app.test/cb"], "token_endpoint_auth_method": "private_key_jwt", "jwks": jwks }),
                ClientType::Web,
            ),
            (
                json!({ "redirect_uris": ["https://app.test/cb"], "token_endpoint_auth_method": "none" }),
                ClientType::Spa,
            ),
            (
                json!({ "redirect_uris": ["https://app.test/cb"], "token_endpoint_auth_method": "none",
                        "application_type": "native" }),
                ClientType::Native,
            ),
            (
                json!({ "redirect_uris": ["https://app.test/cb", "http://localhost:3456/cb"],
                        "token_endpoint_auth_method": "none" }),
                ClientType::Native,
            ),
            (
                json!({ "redirect_uris": ["org.example.app:/cb"], "token_endpoint_auth_method": "none" }),
                ClientType::Native,
            ),
            (
                json!({ "redirect_uris": ["https://app.test/cb"], "grant_types": ["client_credentials", "authorization_code"] }),
                ClientType::Web,
            ),
            (
                json!({ "grant_types": ["client_credentials"] }),
                ClientType::Service,
            ),
        ] {
            let (registration, _) = map(&metadata).unwrap_or_else(|error| panic!("{metadata}: {error}"));
            assert_eq!(registration.kind, kind, "{metadata}");
        }
    }

    #[test]
    fn no_redirect_uri_leads_to_the_issuer() {
        for (uri, is_accepted) in [
            ("https://issuer.test/docs/try", false),
            ("https://issuer.test:8443/cb", true),
            ("https://app.issuer.test/cb", true),
        ] {
            let metadata = json!({ "redirect_uris": ["https://app.test/cb", uri] });
            let mapped = map(&metadata);
            assert_eq!(mapped.is_ok(), is_accepted, "{uri}");
            let is_refused = matches!(mapped, Err(MetadataError::InvalidRedirectUri(_)));
            assert_eq!(is_refused, !is_accepted, "{uri}");
        }
    }

    #[test]
    fn keys_are_kept_for_signed_assertions_only() {
        let jwks = json!({ "keys": [] });
        let mut metadata = json!({ "redirect_uris": ["https://app.test/cb"], "jwks": jwks });
        assert!(map(&metadata).unwrap().0.jwks.is_none());
        metadata["token_endpoint_auth_method"] = json!("private_key_jwt");
        assert_eq!(map(&metadata).unwrap().0.jwks, Some(jwks));
        metadata["jwks"] = json!(null);
        assert!(matches!(map(&metadata), Err(MetadataError::Invalid(_))));
    }

    #[test]
    fn reserved_and_unknown_scopes_are_left_out() {
        for (requested, kind, expected) in [
            (Some("admin posts:read unknown"), ClientType::Spa, "posts:read"),
            (Some("openid posts:read"), ClientType::Service, "posts:read"),
            (
                None,
                ClientType::Web,
                "comments:write email openid payments:read posts:read posts:write profile profile:read",
            ),
            (
                None,
                ClientType::Service,
                "comments:write payments:read posts:read posts:write profile:read",
            ),
        ] {
            let scope = scope(requested, kind).unwrap();
            assert_eq!(scope.to_string(), expected, "{requested:?}");
        }
        for refused in ["admin", "payments:write", "unknown"] {
            assert!(scope(Some(refused), ClientType::Spa).is_err(), "{refused}");
        }
    }

    proptest! {
        #[test]
        fn no_scope_is_gained(requested in "(admin|openid|posts:read|payments:write|x| ){0,6}") {
            if let Ok(scope) = scope(Some(&requested), ClientType::Web) {
                prop_assert!(scope.iter().all(|name| requested.contains(name) && !RESERVED.contains(&name)));
            }
        }
    }
}
