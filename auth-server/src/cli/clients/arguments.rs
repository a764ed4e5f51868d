//! The arguments of the commands for clients.

use super::registration_tokens;
use crate::cli::{parse_order, parse_text};
use clap::{ArgGroup, Args, Subcommand};
use foundation::duration;
use foundation::ids::TextId;
use foundation::list_query::{Order, PageRequest};
use foundation::scope::Scope;
use identity::clients::ClientType;
use identity::clients::list::ListQuery;
use issuer::clients::{MAX_OVERLAP, MAX_RETRY_WINDOW};
use std::path::PathBuf;
use std::time::Duration;

/// The commands for client applications.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Register a client. The secret of a confidential client is printed once and not stored.
    Create(CreateArgs),
    /// List the clients, by id, or by name if a text selects them.
    List(ListArgs),
    /// Show one client.
    Show(ClientArgs),
    /// Change the registration of a client. An option that is left out changes nothing. If the scope loses a
    /// part, all tokens of the client end.
    #[command(group(ArgGroup::new("changes").required(true).multiple(true)))]
    Update(UpdateArgs),
    /// Give a confidential client a new secret, which is printed once and not stored. A client has at most
    /// two valid secrets: another rotation within the overlap ends the oldest one.
    RotateSecret {
        #[command(flatten)]
        args: ClientArgs,
        /// The time for which the former secret stays valid; 24h by default, 0s ends it at once, 30d at most.
        #[arg(long, value_name = "TIME", value_parser = parse_overlap)]
        overlap: Option<Duration>,
    },
    /// Disable a client: all its codes and tokens end, and it can neither begin a flow nor authenticate.
    Disable(ClientArgs),
    /// Enable a disabled client. Its former tokens stay revoked.
    Enable(ClientArgs),
    /// Create, list and revoke the initial access tokens with which others register clients.
    #[command(subcommand)]
    RegistrationTokens(registration_tokens::Command),
}

/// The selection of clients.
#[derive(Args, Debug)]
pub struct ListArgs {
    /// Only the client with this id, and those whose names begin with this text.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = parse_text)]
    search: Option<String>,
    /// Only clients of this type.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<ClientType>,
    /// Only clients of the operator of this issuer (`true`), or only those of third parties (`false`).
    #[arg(long, value_name = "BOOL")]
    first_party: Option<bool>,
    /// Only disabled clients (`true`), or only enabled ones (`false`).
    #[arg(long, value_name = "BOOL")]
    disabled: Option<bool>,
    /// The order: `desc` lists the largest ids or the last names first.
    #[arg(long, value_parser = parse_order)]
    order: Option<Order>,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

impl ListArgs {
    /// Returns the query of the page after the cursor.
    pub(super) fn query(&self, cursor: Option<TextId>) -> ListQuery {
        ListQuery {
            search: self.search.clone(),
            kind: self.kind,
            first_party: self.first_party,
            disabled: self.disabled,
            page: PageRequest::after(cursor, self.order),
            refused: Vec::new(),
        }
    }
}

/// The registration of a client.
#[derive(Args, Debug)]
pub struct CreateArgs {
    /// `client_id`.
    #[arg(long, allow_hyphen_values = true)]
    pub(super) id: String,
    /// The name on the consent page.
    #[arg(long)]
    pub(super) name: String,
    /// The type of client.
    #[arg(long = "type", value_name = "TYPE")]
    pub(super) kind: ClientType,
    /// A redirect URI; may be repeated.
    #[arg(long = "redirect-uri", value_name = "URI", num_args = 1..)]
    pub(super) redirect_uris: Vec<String>,
    /// A URI to which the browser may return after a logout; may be repeated.
    #[arg(long = "post-logout-redirect-uri", value_name = "URI", num_args = 1..)]
    pub(super) post_logout_redirect_uris: Vec<String>,
    /// The URL that gets a logout token when a session of the client ends.
    #[arg(long, value_name = "URL")]
    pub(super) backchannel_logout_uri: Option<String>,
    /// The scope that the client may request, separated by spaces.
    #[arg(long)]
    pub(super) scope: Scope,
    /// The scope of a request that names no scope.
    #[arg(long)]
    pub(super) default_scope: Option<Scope>,
    /// The client belongs to the operator of this issuer, not to a third party.
    #[arg(long)]
    pub(super) first_party: bool,
    /// The issuer keeps the refresh token of a single-page app in a cookie that scripts cannot read.
    /// Every redirect URI must be same-site with the issuer.
    #[arg(long)]
    pub(super) refresh_cookie: bool,
    /// The time after a refresh in which the same refresh token gets the same successor again while that
    /// is unused, so that a lost response or a second tab does not end the grant; 60s at most. By default
    /// 10s with --refresh-cookie, otherwise 0s.
    #[arg(long, value_name = "TIME", value_parser = parse_retry_window)]
    pub(super) refresh_retry_window: Option<Duration>,
    /// A file with the public keys of a client that authenticates by signed assertions and not by a
    /// secret: a JWK set.
    #[arg(long, value_name = "FILE")]
    pub(super) jwks: Option<PathBuf>,
    /// The URL of such a JWK set, in place of a file. The issuer fetches it.
    #[arg(long, value_name = "URL", conflicts_with = "jwks")]
    pub(super) jwks_uri: Option<String>,
    /// The client must push its authorization requests (RFC 9126).
    #[arg(long)]
    pub(super) require_par: bool,
    /// The client gets only access tokens that are bound to a key, by DPoP.
    #[arg(long)]
    pub(super) dpop_bound: bool,
    /// The client, of the type native or web, may use the device authorization grant (RFC 8628). A native
    /// one then needs no redirect URI.
    #[arg(long)]
    pub(super) device: bool,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

/// The changes of a registration.
#[derive(Args, Debug)]
pub struct UpdateArgs {
    #[command(flatten)]
    pub(super) client: ClientArgs,
    /// The name on the consent page.
    #[arg(long, group = "changes")]
    pub(super) name: Option<String>,
    /// A redirect URI; may be repeated. Replaces all present ones.
    #[arg(long = "redirect-uri", value_name = "URI", num_args = 1.., group = "changes")]
    pub(super) redirect_uris: Option<Vec<String>>,
    /// A URI to which the browser may return after a logout; may be repeated. Replaces all present ones.
    #[arg(long = "post-logout-redirect-uri", value_name = "URI", num_args = 1.., group = "changes")]
    pub(super) post_logout_redirect_uris: Option<Vec<String>>,
    /// The URL that gets a logout token when a session of the client ends. An empty text removes it.
    #[arg(long, value_name = "URL", group = "changes")]
    pub(super) backchannel_logout_uri: Option<String>,
    /// The scope that the client may request, separated by spaces.
    #[arg(long, group = "changes")]
    pub(super) scope: Option<Scope>,
    /// The scope of a request that names no scope.
    #[arg(long, group = "changes")]
    pub(super) default_scope: Option<Scope>,
    /// Whether the client belongs to the operator of this issuer, not to a third party.
    #[arg(long, value_name = "BOOL", group = "changes")]
    pub(super) first_party: Option<bool>,
    /// Whether the issuer keeps the refresh token of a single-page app in a cookie that scripts cannot
    /// read.
    #[arg(long, value_name = "BOOL", group = "changes")]
    pub(super) refresh_cookie: Option<bool>,
    /// The time after a refresh in which the same refresh token gets the same successor again while that
    /// is unused; 60s at most. A client that gets the cookie, and had 0s, gets 10s by default.
    #[arg(long, value_name = "TIME", value_parser = parse_retry_window, group = "changes")]
    pub(super) refresh_retry_window: Option<Duration>,
    /// A file with the JWK set that replaces the present keys.
    #[arg(long, value_name = "FILE", group = "changes")]
    pub(super) jwks: Option<PathBuf>,
    /// The URL of the JWK set that replaces the present keys.
    #[arg(long, value_name = "URL", group = "changes", conflicts_with = "jwks")]
    pub(super) jwks_uri: Option<String>,
    /// Whether the client must push its authorization requests (RFC 9126).
    #[arg(long, value_name = "BOOL", group = "changes")]
    pub(super) require_par: Option<bool>,
    /// Whether the client gets only access tokens that are bound to a key, by DPoP.
    #[arg(long, value_name = "BOOL", group = "changes")]
    pub(super) dpop_bound: Option<bool>,
    /// Whether the client may use the device authorization grant (RFC 8628).
    #[arg(long, value_name = "BOOL", group = "changes")]
    pub(super) device: Option<bool>,
}

/// The arguments of a command for one client.
#[derive(Args, Debug)]
pub struct ClientArgs {
    /// `client_id`.
    #[arg(allow_hyphen_values = true)]
    pub(super) id: String,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

fn parse_overlap(text: &str) -> Result<Duration, String> {
    duration::parse_up_to(MAX_OVERLAP, text)
}

fn parse_retry_window(text: &str) -> Result<Duration, String> {
    duration::parse_up_to(MAX_RETRY_WINDOW, text)
}
