//! Third-party apps: registered clients that send browsers to `/authorize` and call `/token`.

use crate::base64url;
use crate::browser::Browser;
use crate::http::{Call, Caller};
use crate::people::Person;
use crate::tokens::{Grant, Tokens, basic};
use crate::world::World;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where the browser goes back to, if nothing else is registered.
pub const CALLBACK: &str = "https://app.test/cb";

/// What a client is to be registered with. Begin with [`World::app`].
#[derive(Debug)]
pub struct Registration<'a> {
    world: &'a World,
    kind: &'a str,
    redirect_uris: Vec<&'a str>,
    scope: &'a str,
    default_scope: Option<&'a str>,
    first_party: bool,
}

/// A registered client.
#[derive(Clone, Debug)]
pub struct App {
    /// `client_id`
    pub id: String,
    /// Of a confidential client.
    pub secret: Option<String>,
    /// The first one registered.
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
    /// Someone, and an app they have never seen.
    pub async fn person_and_app(&self) -> (Person, App) {
        (self.sign_up().await, self.app().register())
    }

    /// A client to be: a single-page app that may ask for every scope.
    pub fn app(&self) -> Registration<'_> {
        Registration {
            world: self,
            kind: "spa",
            redirect_uris: Vec::new(),
            scope: "posts:read posts:write comments:write payments:read payments:write profile:read admin",
            default_scope: None,
            first_party: false,
        }
    }
}

impl<'a> Registration<'a> {
    /// Its type.
    #[must_use]
    pub fn kind(mut self, kind: &'a str) -> Self {
        self.kind = kind;
        self
    }

    /// A redirect URI, beside any given before.
    #[must_use]
    pub fn redirect_uri(mut self, uri: &'a str) -> Self {
        self.redirect_uris.push(uri);
        self
    }

    /// What it may ask for.
    #[must_use]
    pub fn scope(mut self, scope: &'a str) -> Self {
        self.scope = scope;
        self
    }

    /// What it gets when it asks for nothing.
    #[must_use]
    pub fn default_scope(mut self, scope: &'a str) -> Self {
        self.default_scope = Some(scope);
        self
    }

    /// Ours rather than a third party's.
    #[must_use]
    pub fn first_party(mut self) -> Self {
        self.first_party = true;
        self
    }

    /// Registers it from the shell.
    pub fn register(mut self) -> App {
        static APPS: AtomicU32 = AtomicU32::new(0);
        let id = format!("app-{}", APPS.fetch_add(1, Ordering::Relaxed));
        if self.redirect_uris.is_empty() {
            self.redirect_uris.push(CALLBACK);
        }
        let mut args = vec!["clients", "create", "--json", "--id", &id, "--name", "Some App"];
        args.extend(["--type", self.kind, "--scope", self.scope]);
        args.extend(self.redirect_uris.iter().flat_map(|uri| ["--redirect-uri", uri]));
        args.extend(
            self.default_scope
                .iter()
                .flat_map(|scope| ["--default-scope", scope]),
        );
        args.extend(self.first_party.then_some("--first-party"));
        let made = self.world.cli(&args, "");
        App {
            secret: made["client_secret"].as_str().map(str::to_owned),
            redirect_uri: self.redirect_uris[0].to_owned(),
            id,
        }
    }
}

impl App {
    /// A whole authorization request, with a verifier of its own.
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

    /// Sends a browser through sign-in and consent, and gives what comes back.
    pub async fn authorize(&self, browser: &mut Browser, person: &Person, scope: &str) -> Grant {
        let request = self.authorization().set("scope", scope);
        let landing = match browser.walk(&request.path(), person, "allow").await {
            Ok(landing) => landing,
            Err(page) => panic!("the flow ended before the app: {}", page.reply),
        };
        Grant::read(landing, request.verifier)
    }

    /// The exchange of a code (RFC 6749 §4.1.3).
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

    /// A refresh (RFC 6749 §6).
    pub fn refresh(&self, caller: &Caller, refresh_token: &str) -> Call {
        self.token(
            caller,
            &[("grant_type", "refresh_token"), ("refresh_token", refresh_token)],
        )
    }

    /// A token request with this client's authentication.
    pub fn token(&self, caller: &Caller, fields: &[(&str, &str)]) -> Call {
        let call = caller.post("/token");
        match &self.secret {
            Some(secret) => call
                .form(fields)
                .header("authorization", &basic(&self.id, secret)),
            None => call.form(&[fields, &[("client_id", &self.id)]].concat()),
        }
    }

    /// The tokens of a person who has never seen this app before, or who has.
    pub async fn tokens(&self, person: &Person, scope: &str) -> Tokens {
        let grant = self.authorize(&mut person.browser(), person, scope).await;
        Tokens::of(self.exchange(&person.anonymous(), &grant).await)
    }
}

impl Authorization {
    /// Gives a parameter this one value.
    #[must_use]
    pub fn set(self, name: &str, value: &str) -> Self {
        self.without(name).also(name, value)
    }

    /// Adds a parameter, beside any of its name.
    #[must_use]
    pub fn also(mut self, name: &str, value: &str) -> Self {
        self.parameters.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Takes a parameter away.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.parameters.retain(|(present, _)| present != name);
        self
    }

    /// The parameters.
    pub fn parameters(&self) -> &[(String, String)] {
        &self.parameters
    }

    /// `/authorize?…`
    pub fn path(&self) -> String {
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(&self.parameters)
            .finish();
        format!("/authorize?{query}")
    }
}
