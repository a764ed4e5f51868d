//! The bodies of requests about clients. A member that is added to a registration or to its changes is one
//! line here.

use foundation::scope::Scope;
use http_client::Guard;
use identity::clients::ClientType;
use issuer::clients::{ClientChanges, DEFAULT_OVERLAP, MAX_OVERLAP, MAX_RETRY_WINDOW, Registration};
use std::time::Duration;
use utoipa::ToSchema;
use web::{Error, JsonBody};

/// A rotation of the secret of a client.
#[derive(ToSchema)]
#[schema(as = ClientSecretRotation, example = json!({"overlap": 7200}))]
pub(super) struct SecretRotation {
    /// The time for which the former secret stays valid, in seconds; 0 ends it at once.
    #[schema(value_type = i64, required = false, minimum = 0, maximum = 2_592_000, default = 86400)]
    pub(super) overlap: Duration,
}

/// Reads a registration at the issuer with the URL `issuer`.
pub(super) fn read_registration(body: &JsonBody, issuer: &str) -> Result<Registration, Error> {
    let mut fields = body.fields()?;
    let names = fields.required("id", text).zip(fields.required("name", text));
    let limits = fields
        .required("type", client_type)
        .zip(fields.required("scope", scope));
    let redirect_uris = fields.optional_list("redirect_uris").unwrap_or_default();
    let post_logout_redirect_uris = fields
        .optional_list("post_logout_redirect_uris")
        .unwrap_or_default();
    let guard = Guard::of_server(issuer);
    let backchannel_logout_uri = fields.optional("backchannel_logout_uri", |uri| guard.parse(uri));
    let default_scope = fields.optional("default_scope", scope);
    let first_party = fields.optional_bool("first_party").unwrap_or_default();
    let refresh_cookie = fields.optional_bool("refresh_cookie").unwrap_or_default();
    let refresh_retry_window = fields.optional_integer("refresh_retry_window", retry_window);
    let jwks = fields.optional_object("jwks");
    let jwks_uri = fields.optional("jwks_uri", |uri| guard.parse(uri));
    let require_par = fields.optional_bool("require_pushed_authorization_requests");
    let dpop_bound_access_tokens = fields
        .optional_bool("dpop_bound_access_tokens")
        .unwrap_or_default();
    let device_authorization = fields.optional_bool("device_authorization").unwrap_or_default();
    let registration = names.zip(limits).map(|((id, name), (kind, scope))| Registration {
        redirect_uris,
        post_logout_redirect_uris,
        backchannel_logout_uri,
        default_scope,
        first_party,
        refresh_cookie,
        refresh_retry_window,
        jwks,
        jwks_uri,
        require_pushed_authorization_requests: require_par.unwrap_or_default(),
        dpop_bound_access_tokens,
        device_authorization,
        ..Registration::new(id, name, kind, scope)
    });
    fields.finish(registration)
}

/// Reads the changes of a registration at the issuer with the URL `issuer`.
pub(super) fn read_changes(body: &JsonBody, issuer: &str) -> Result<ClientChanges, Error> {
    let mut fields = body.fields()?;
    let guard = Guard::of_server(issuer);
    let changes = ClientChanges {
        name: fields.optional("name", text),
        redirect_uris: fields.optional_list("redirect_uris"),
        post_logout_redirect_uris: fields.optional_list("post_logout_redirect_uris"),
        backchannel_logout_uri: fields.optional("backchannel_logout_uri", |uri| match uri {
            "" => Ok(None),
            uri => guard.parse(uri).map(Some),
        }),
        scope: fields.optional("scope", scope),
        default_scope: fields.optional("default_scope", scope),
        first_party: fields.optional_bool("first_party"),
        refresh_cookie: fields.optional_bool("refresh_cookie"),
        refresh_retry_window: fields.optional_integer("refresh_retry_window", retry_window),
        jwks: fields.optional_object("jwks"),
        jwks_uri: fields.optional("jwks_uri", |uri| guard.parse(uri)),
        require_pushed_authorization_requests: fields.optional_bool("require_pushed_authorization_requests"),
        dpop_bound_access_tokens: fields.optional_bool("dpop_bound_access_tokens"),
        device_authorization: fields.optional_bool("device_authorization"),
    };
    fields.finish(Some(changes))
}

pub(super) fn read_rotation(body: &JsonBody) -> Result<SecretRotation, Error> {
    let mut fields = body.fields()?;
    let overlap = fields.optional_integer("overlap", overlap);
    fields.finish(Some(SecretRotation {
        overlap: overlap.unwrap_or(DEFAULT_OVERLAP),
    }))
}

fn overlap(seconds: i64) -> Result<Duration, String> {
    seconds_up_to(MAX_OVERLAP, seconds)
}

fn retry_window(seconds: i64) -> Result<Duration, String> {
    seconds_up_to(MAX_RETRY_WINDOW, seconds)
}

fn seconds_up_to(limit: Duration, seconds: i64) -> Result<Duration, String> {
    let length = u64::try_from(seconds).ok().map(Duration::from_secs);
    length
        .filter(|length| *length <= limit)
        .ok_or_else(|| format!("must be 0 to {} seconds", limit.as_secs()))
}

fn client_type(text: &str) -> Result<ClientType, &'static str> {
    ClientType::named(text).ok_or("must be spa, native, web or service")
}

fn scope(text: &str) -> Result<Scope, String> {
    text.parse::<Scope>().map_err(|error| format!("has an {error}"))
}

fn text(text: &str) -> Result<String, std::convert::Infallible> {
    Ok(text.to_owned())
}
