//! Calling the program: who calls ([`Caller`]), and what is asked ([`Call`]).

use crate::contract::Contract;
use crate::reply::Reply;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, redirect};
use serde_json::Value;
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex};

/// Secrets that went over the wire: none may appear in a log.
#[derive(Clone, Debug, Default)]
pub(crate) struct Canaries(Arc<Mutex<BTreeSet<String>>>);

impl Canaries {
    /// What is too short to be found by accident only is left out.
    pub(crate) fn add(&self, secret: &str) {
        if secret.len() >= 12 {
            self.0.lock().unwrap().insert(secret.to_owned());
        }
    }

    /// Those that appear in a text, as they are or in hexadecimal.
    pub(crate) fn found_in(&self, text: &str) -> Vec<String> {
        let all = self.0.lock().unwrap();
        let hex = |secret: &str| {
            secret
                .bytes()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>()
        };
        all.iter()
            .filter(|secret| text.contains(secret.as_str()) || text.contains(&hex(secret)))
            .cloned()
            .collect()
    }
}

/// Someone who calls the program at one address: anonymous, signed in, or with a bearer token.
#[derive(Clone, Debug)]
pub struct Caller {
    http: reqwest::Client,
    base: Arc<str>,
    canaries: Canaries,
    contract: Option<Arc<Contract>>,
    credentials: Vec<(HeaderName, HeaderValue)>,
}

impl Caller {
    /// Someone without credentials.
    pub(crate) fn new(base: String, canaries: Canaries) -> Self {
        let http = reqwest::Client::builder()
            .redirect(redirect::Policy::none())
            .no_proxy()
            .tls_certs_only([])
            .resolve("localhost", SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
            .build()
            .unwrap();
        Self {
            http,
            base: base.into(),
            canaries,
            contract: None,
            credentials: Vec::new(),
        }
    }

    /// The same, and every answer is held against this contract.
    pub(crate) fn under(self, contract: Arc<Contract>) -> Self {
        Self {
            contract: Some(contract),
            ..self
        }
    }

    /// What its answers are held against.
    pub fn contract(&self) -> &Contract {
        self.contract.as_ref().unwrap()
    }

    /// The same, at another program's base URL.
    #[must_use]
    pub fn at(&self, base: &str) -> Self {
        Self {
            base: base.into(),
            ..self.clone()
        }
    }

    /// The same address, without credentials.
    #[must_use]
    pub fn anonymous(&self) -> Self {
        Self {
            credentials: Vec::new(),
            ..self.clone()
        }
    }

    /// The same address, with one more header in every call.
    #[must_use]
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut caller = self.clone();
        caller
            .credentials
            .push((name.parse().unwrap(), value.parse().unwrap()));
        caller
    }

    /// The same address, with an access token and nothing else.
    #[must_use]
    pub fn bearer(&self, token: &str) -> Self {
        self.canaries.add(token);
        self.anonymous().with("authorization", &format!("Bearer {token}"))
    }

    /// The same address, with these cookies and nothing else.
    #[must_use]
    pub fn cookies(&self, cookies: &str) -> Self {
        self.anonymous().with("cookie", cookies)
    }

    /// A signed-in browser's calls: its session, and its anti-forgery token in cookie and header.
    #[must_use]
    pub fn session(&self, sid: &str, csrf: &str) -> Self {
        self.cookies(&format!("sid={sid}; csrf={csrf}"))
            .with("x-csrf-token", csrf)
    }

    /// Its credentials, as headers.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.credentials.iter();
        all.map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
    }

    /// Where it calls.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Begins a call; `path` may be a whole URL.
    pub fn call(&self, method: &str, path: &str) -> Call {
        let url = match path.starts_with('/') {
            true => format!("{}{path}", self.base),
            false => path.to_owned(),
        };
        let mut headers = HeaderMap::new();
        for (name, value) in &self.credentials {
            headers.append(name, value.clone());
        }
        Call {
            what: format!("{method} {path}"),
            method: method.to_owned(),
            request: self
                .http
                .request(Method::from_bytes(method.as_bytes()).unwrap(), url),
            headers,
            body: None,
            canaries: self.canaries.clone(),
            contract: self.contract.clone(),
            may_fail: false,
        }
    }

    /// `GET`
    pub fn get(&self, path: &str) -> Call {
        self.call("GET", path)
    }

    /// `POST`
    pub fn post(&self, path: &str) -> Call {
        self.call("POST", path)
    }

    /// `PATCH`
    pub fn patch(&self, path: &str) -> Call {
        self.call("PATCH", path)
    }

    /// `DELETE`
    pub fn delete(&self, path: &str) -> Call {
        self.call("DELETE", path)
    }

    pub(crate) fn canaries(&self) -> &Canaries {
        &self.canaries
    }
}

/// A request; `.await` sends it.
#[derive(Debug)]
pub struct Call {
    what: String,
    method: String,
    request: reqwest::RequestBuilder,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
    canaries: Canaries,
    contract: Option<Arc<Contract>>,
    may_fail: bool,
}

impl Call {
    /// Adds a header, beside any of its name.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let name: HeaderName = name.parse().unwrap();
        self.headers
            .append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        self
    }

    /// Takes a header away.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.headers.remove(name);
        self
    }

    /// Sends JSON.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        for member in ["password", "current_password", "new_password", "otp"] {
            if let Some(Value::String(secret)) = body.get(member) {
                self.canaries.add(secret);
            }
        }
        self.body("application/json", body.to_string())
    }

    /// Sends a form.
    #[must_use]
    pub fn form<N: AsRef<str>, V: AsRef<str>>(self, fields: &[(N, V)]) -> Self {
        for (name, value) in fields {
            let secret = [
                "password",
                "otp",
                "code",
                "code_verifier",
                "refresh_token",
                "client_secret",
            ];
            if secret.contains(&name.as_ref()) {
                self.canaries.add(value.as_ref());
            }
        }
        let body = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        self.body("application/x-www-form-urlencoded", body)
    }

    /// Sends bytes.
    #[must_use]
    pub fn body(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self.without("content-type").header("content-type", content_type)
    }

    /// Lets the answer be a 5xx; any other call that gets one fails its test.
    #[must_use]
    pub fn may_fail(mut self) -> Self {
        self.may_fail = true;
        self
    }

    async fn send(self) -> Reply {
        let mut request = self.request.headers(self.headers);
        if let Some(body) = self.body {
            request = request.body(body);
        }
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => panic!("{}: {error:?}", self.what),
        };
        let path = response.url().path().to_owned();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = response.bytes().await.unwrap().to_vec();
        let reply = Reply {
            what: self.what,
            status,
            headers,
            body,
        };
        assert!(status < 500 || self.may_fail, "{reply}");
        reply.check(&self.canaries);
        if let Some(contract) = &self.contract {
            contract.check(&self.method, &path, &reply);
        }
        reply
    }
}

impl IntoFuture for Call {
    type Output = Reply;
    type IntoFuture = Pin<Box<dyn Future<Output = Reply> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}
