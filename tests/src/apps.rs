//! Third-party apps: registered clients that send browsers to `/authorize` and call `/token`.

use crate::accounts::User;
use crate::base64url;
use crate::browser::Browser;
use crate::http::{Call, Caller};
use crate::tokens::{Grant, Tokens, basic};
use crate::world::World;
use foundation::context::RequestContext;
use identity::clients::ClientType;
use issuer::clients;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::runtime::Handle;
use tokio::task::block_in_place;

/// The redirect URI of an app that registers none.
pub const CALLBACK: &str = "https://app.test/cb";

/// Redirect URIs that no client may register.
pub const DANGEROUS_REDIRECT_URIS: [&str; 13] = [
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    // Another app may register a scheme that is no reversed domain name (RFC 8252 §7.1).
    "myapp:/cb",
    "http://app.test/cb",
    "https://*.app.test/cb",
    "https://app.test/*",
    "https://app.test/cb#f",
    "https://user@app.test/cb",
    "https://user:pw@app.test/cb",
    "/cb",
    "nonsense",
    "",
];

/// A builder of a client registration. [`World::app`] creates one.
#[derive(Debug)]
pub struct Registration<'a> {
    world: &'a World,
    kind: &'a str,
    redirect_uris: Vec<&'a str>,
    scope: &'a str,
    default_scope: Option<&'a str>,
    first_party: bool,
    options: Vec<&'a str>,
}

/// A registered client.
#[derive(Clone, Debug)]
pub struct App {
    /// `client_id`
    pub id: String,
    /// The client secret of a confidential client.
    pub secret: Option<String>,
    /// The first registered redirect URI. A service has none, and sends that of other apps.
    pub redirect_uri: String,
}

/// An authorization request (RFC 6749 §4.1.1) with its PKCE verifier.
#[derive(Clone, Debug)]
pub struct Authorization {
    /// `code_verifier`
    pub verifier: String,
    parameters: Vec<(String, String)>,
}

impl World {
    /// Creates a signed-in user, and a third-party app without their consent.
    pub async fn user_and_app(&self) -> (User, App) {
        (self.user().await, self.app().register())
    }

    /// Begins the registration of a single-page app that may request every scope.
    pub fn app(&self) -> Registration<'_> {
        Registration {
            world: self,
            kind: "spa",
            redirect_uris: Vec::new(),
            scope: "posts:read posts:write comments:write payments:read payments:write profile:read admin openid profile \
                    email",
            default_scope: None,
            first_party: false,
            options: Vec::new(),
        }
    }
}

impl<'a> Registration<'a> {
    /// Sets the client type: `spa`, `native`, `web` or `service`.
    #[must_use]
    pub fn kind(mut self, kind: &'a str) -> Self {
        self.kind = kind;
        self
    }

    /// Adds a redirect URI.
    #[must_use]
    pub fn redirect_uri(mut self, uri: &'a str) -> Self {
        self.redirect_uris.push(uri);
        self
    }

    /// Sets the scopes that the client may request.
    #[must_use]
    pub fn scope(mut self, scope: &'a str) -> Self {
        self.scope = scope;
        self
    }

    /// Sets the scopes of a request without `scope`.
    #[must_use]
    pub fn default_scope(mut self, scope: &'a str) -> Self {
        self.default_scope = Some(scope);
        self
    }

    /// Marks the client as a first-party app.
    #[must_use]
    pub fn first_party(mut self) -> Self {
        self.first_party = true;
        self
    }

    /// Adds an option of the command, with its value if it has one.
    #[must_use]
    pub fn option(mut self, option: &[&'a str]) -> Self {
        self.options.extend(option);
        self
    }

    /// Sets the file with the keys of a client that authenticates by signed assertions.
    #[must_use]
    pub fn jwks(self, file: &'a str) -> Self {
        self.option(&["--jwks", file])
    }

    /// Sets the URL of the keys of a client that authenticates by signed assertions.
    #[must_use]
    pub fn jwks_uri(self, uri: &'a str) -> Self {
        self.option(&["--jwks-uri", uri])
    }

    /// Registers the client: with further options by [`Registration::register_by_command`], otherwise by the
    /// function that the command calls, which takes less of the processor than a program.
    pub fn register(self) -> App {
        match self.options.is_empty() {
            true => self.register_directly(),
            false => self.register_by_command(),
        }
    }

    /// Registers the client with `latchkey clients create`.
    pub fn register_by_command(self) -> App {
        let (id, redirect_uris) = (new_id(), self.redirect_uris());
        let mut args = vec!["clients", "create", "--json", "--id", &id, "--name", "Some App"];
        args.extend(["--type", self.kind, "--scope", self.scope]);
        args.extend(redirect_uris.iter().flat_map(|uri| ["--redirect-uri", uri]));
        args.extend(
            self.default_scope
                .iter()
                .flat_map(|scope| ["--default-scope", scope]),
        );
        args.extend(&self.options);
        args.extend(self.first_party.then_some("--first-party"));
        let made = self.world.cli(&args, "");
        let secret = made["client_secret"].as_str().map(str::to_owned);
        App::new(id, secret, &redirect_uris)
    }

    /// The redirect URIs, or one by default. A service needs none.
    fn redirect_uris(&self) -> Vec<&'a str> {
        match self.redirect_uris.is_empty() && self.kind != "service" {
            true => vec![CALLBACK],
            false => self.redirect_uris.clone(),
        }
    }

    fn register_directly(self) -> App {
        let redirect_uris = self.redirect_uris();
        let kind = ClientType::named(self.kind).unwrap();
        let scope = self.scope.parse().unwrap();
        let registration = clients::Registration {
            redirect_uris: redirect_uris.iter().map(ToString::to_string).collect(),
            default_scope: self.default_scope.map(|scope| scope.parse().unwrap()),
            first_party: self.first_party,
            ..clients::Registration::new(new_id(), "Some App".to_owned(), kind, scope)
        };
        let world = self.world;
        let register = async {
            let context = RequestContext {
                now: world.now(),
                ..RequestContext::without_request()
            };
            let db = world.db().await;
            let registered = clients::register(&db, world.base(), registration, &context).await;
            db.close().await;
            registered.unwrap()
        };
        let (client, secret) = block_in_place(|| Handle::current().block_on(register));
        let secret = secret.map(|secret| secret.expose().to_owned());
        if let Some(secret) = &secret {
            world.register_secret(secret);
        }
        App::new(client.id.clone(), secret, &redirect_uris)
    }
}

/// An id that no other client of this test process has.
fn new_id() -> String {
    static APPS: AtomicU32 = AtomicU32::new(0);
    format!("app-{}", APPS.fetch_add(1, Ordering::Relaxed))
}

impl App {
    fn new(id: String, secret: Option<String>, redirect_uris: &[&str]) -> Self {
        Self {
            id,
            secret,
            redirect_uri: redirect_uris.first().unwrap_or(&CALLBACK).to_string(),
        }
    }

    /// A complete authorization request with a fresh verifier.
    pub fn authorization(&self) -> Authorization {
        let verifier = base64url(foundation::random::bytes::<32>());
        let challenge = base64url(foundation::secret::hash(&verifier));
        Authorization {
            verifier,
            parameters: Vec::new(),
        }
        .set("response_type", "code")
        .set("client_id", &self.id)
        .set("redirect_uri", &self.redirect_uri)
        .set("state", "some state")
        .set("code_challenge", &challenge)
        .set("code_challenge_method", "S256")
    }

    /// Sends a browser through sign-in and consent, which it allows. Returns the code and its verifier.
    pub async fn authorize(&self, browser: &mut Browser, user: &User, scope: &str) -> Grant {
        self.authorization()
            .set("scope", scope)
            .allow(browser, user)
            .await
    }

    /// Prepares the exchange of a code (RFC 6749 §4.1.3).
    pub fn exchange(&self, caller: &Caller, grant: &Grant) -> Call {
        self.token(
            caller,
            &[
                ("grant_type", "authorization_code"),
                ("code", &grant.code),
                ("redirect_uri", &self.redirect_uri),
                ("code_verifier", &grant.verifier),
            ],
        )
    }

    /// Prepares a refresh (RFC 6749 §6).
    pub fn refresh(&self, caller: &Caller, refresh_token: &str) -> Call {
        self.token(
            caller,
            &[("grant_type", "refresh_token"), ("refresh_token", refresh_token)],
        )
    }

    /// Prepares a token request with this client's authentication.
    pub fn token(&self, caller: &Caller, fields: &[(&str, &str)]) -> Call {
        self.client_call(caller, "/token", fields)
    }

    /// Prepares a request to an endpoint for clients, with this client's authentication.
    pub fn client_call(&self, caller: &Caller, path: &str, fields: &[(&str, &str)]) -> Call {
        let call = caller.post(path);
        match &self.secret {
            Some(secret) => call
                .form(fields)
                .header("authorization", &basic(&self.id, secret)),
            None => call.form(&[fields, &[("client_id", &self.id)]].concat()),
        }
    }

    /// Authorizes the app in a fresh browser and exchanges the code for tokens.
    pub async fn tokens(&self, user: &User, scope: &str) -> Tokens {
        let grant = self.authorize(&mut user.browser(), user, scope).await;
        Tokens::parse(self.exchange(&user.anonymous(), &grant).await)
    }
}

impl Authorization {
    /// Sets a parameter to this one value.
    #[must_use]
    pub fn set(self, name: &str, value: &str) -> Self {
        self.without(name).append(name, value)
    }

    /// Adds a parameter and keeps any with the same name.
    #[must_use]
    pub fn append(mut self, name: &str, value: &str) -> Self {
        self.parameters.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Removes a parameter.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.parameters.retain(|(present, _)| present != name);
        self
    }

    /// The parameters in order.
    pub fn parameters(&self) -> &[(String, String)] {
        &self.parameters
    }

    /// Sends a browser through sign-in and consent, which it allows. Returns the code and the verifier.
    pub async fn allow(&self, browser: &mut Browser, user: &User) -> Grant {
        match browser.complete_flow(&self.path(), user, "allow").await {
            Ok(redirect) => Grant::parse(redirect, self.verifier.clone()),
            Err(page) => panic!("the flow ended before the redirect to the app: {}", page.reply),
        }
    }

    /// The path with the query: `/authorize?…`.
    pub fn path(&self) -> String {
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(&self.parameters)
            .finish();
        format!("/authorize?{query}")
    }
}
