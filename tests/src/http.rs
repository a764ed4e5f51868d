//! HTTP requests to the programs: [`Caller`] holds the credentials, [`Call`] is one request.

use crate::contract::Contract;
use crate::reply::Reply;
use crate::reverse_proxy::replica_behind_nginx;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, IF_MATCH};
use reqwest::{Certificate, Client, Method, Request, Response, redirect};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex};

/// Secrets seen in requests and responses of a deployment, each with the first test that sent or received it.
/// None may appear in a log, a database, Redis or a file name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Canaries {
    secrets: Arc<Mutex<BTreeMap<String, &'static str>>>,
    /// The test that records secrets with this handle. Empty if the deployment has no other.
    test: &'static str,
}

/// The number of bytes at the end of a secret that are searched first.
const SEARCHED_END: usize = 16;

/// The largest body of a response, in bytes. It ends a test of an endpoint that never stops writing.
const MAX_BODY: usize = 64 << 20;

/// The largest length of a header line with its end that nginx accepts, in bytes
/// (`large_client_header_buffers` in `deploy/nginx.conf`).
const NGINX_MAX_LINE: usize = 16 << 10;

/// The test of a caller, and the address from which its requests come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// The name of the test. Empty if its deployment has no other.
    pub(crate) test: &'static str,
    /// An address in 127.0.0.0/8.
    pub(crate) address: Ipv4Addr,
}

impl Default for Origin {
    fn default() -> Self {
        Self {
            test: "",
            address: Ipv4Addr::LOCALHOST,
        }
    }
}

/// The JSON members and form fields that hold secrets.
pub(crate) const SECRETS: [&str; 15] = [
    "password",
    "current_password",
    "new_password",
    "token",
    "access_token",
    "refresh_token",
    "code_verifier",
    "client_secret",
    "initial_password",
    "secret",
    "recovery_codes",
    "otp",
    "otpauth_url",
    "device_code",
    "registration_access_token",
];

impl Canaries {
    /// Adds a secret. Skips short ones, which may appear by accident, and keeps only the beginning of long
    /// ones.
    pub(crate) fn add(&self, secret: &str) {
        if secret.len() >= 12 {
            let beginning = secret.chars().take(200).collect();
            let mut secrets = self.secrets.lock().unwrap();
            secrets.entry(beginning).or_insert(self.test);
        }
    }

    pub(crate) fn remove(&self, text: &str) {
        self.secrets.lock().unwrap().remove(text);
    }

    /// Adds the secrets among the members of a body.
    pub(crate) fn add_members(&self, body: &Value) {
        for name in SECRETS {
            match &body[name] {
                Value::String(secret) => self.add(secret),
                Value::Array(secrets) => secrets
                    .iter()
                    .filter_map(Value::as_str)
                    .for_each(|one| self.add(one)),
                _ => {}
            }
        }
    }

    /// The secrets that appear in one of the texts, literally or in hexadecimal, each with its test and the
    /// name of the text.
    pub(crate) fn found_in(
        &self,
        texts: &[(&'static str, &str)],
    ) -> BTreeSet<(String, &'static str, &'static str)> {
        let all: Vec<(String, &str)> = self.secrets.lock().unwrap().clone().into_iter().collect();
        let hex = |secret: &String| -> String { secret.bytes().flat_map(digits).collect() };
        let forms: Vec<String> = all
            .iter()
            .flat_map(|(secret, _)| [secret.clone(), hex(secret)])
            .collect();
        // An automaton of whole secrets takes longer to build than the search.
        let ends = forms.iter().map(|form| {
            let bytes = form.as_bytes();
            &bytes[bytes.len().saturating_sub(SEARCHED_END)..]
        });
        let search = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(ends)
            .unwrap();
        let found = texts.iter().flat_map(|(name, text)| {
            let ends = search.find_overlapping_iter(text.as_bytes());
            let found = ends.filter_map(|end| {
                let index = end.pattern().as_usize();
                let is_whole = text.as_bytes()[..end.end()].ends_with(forms[index].as_bytes());
                is_whole.then(|| (all[index / 2].clone(), *name))
            });
            found.collect::<Vec<_>>()
        });
        found.map(|((secret, test), name)| (secret, test, name)).collect()
    }
}

/// The hexadecimal digits of a byte.
fn digits(byte: u8) -> [char; 2] {
    [byte >> 4, byte & 0xf].map(|digit| char::from_digit(digit.into(), 16).unwrap())
}

/// A client of one base URL: anonymous, with a session, or with a bearer token.
#[derive(Clone, Debug)]
pub struct Caller {
    http: Client,
    base: Arc<str>,
    canaries: Canaries,
    address: Ipv4Addr,
    contract: Option<Arc<Contract>>,
    credentials: Vec<(HeaderName, HeaderValue)>,
}

impl Caller {
    /// A caller without credentials.
    pub(crate) fn new(base: String, canaries: Canaries, origin: Origin) -> Self {
        Self {
            http: client(origin.address, None),
            base: base.into(),
            canaries: Canaries {
                test: origin.test,
                ..canaries
            },
            address: origin.address,
            contract: None,
            credentials: Vec::new(),
        }
    }

    /// A copy that trusts the server with this certificate.
    pub(crate) fn trusting(&self, certificate: Certificate) -> Self {
        Self {
            http: client(self.address, Some(certificate)),
            ..self.clone()
        }
    }

    /// A caller that validates every response against this contract.
    pub(crate) fn with_contract(self, contract: Arc<Contract>) -> Self {
        Self {
            contract: Some(contract),
            ..self
        }
    }

    /// The contract against which its responses are validated.
    pub fn contract(&self) -> &Contract {
        self.contract.as_ref().unwrap()
    }

    /// A copy for another base URL.
    #[must_use]
    pub fn at(&self, base: &str) -> Self {
        Self {
            base: base.into(),
            ..self.clone()
        }
    }

    /// A copy without credentials.
    #[must_use]
    pub fn anonymous(&self) -> Self {
        Self {
            credentials: Vec::new(),
            ..self.clone()
        }
    }

    /// A copy with one more header in every request.
    #[must_use]
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut caller = self.clone();
        caller
            .credentials
            .push((name.parse().unwrap(), value.parse().unwrap()));
        caller
    }

    /// A copy with an access token as its only credential.
    #[must_use]
    pub fn bearer(&self, token: &str) -> Self {
        self.canaries.add(token);
        self.anonymous().with("authorization", &format!("Bearer {token}"))
    }

    /// A copy with an access token that is bound to a key as its only credential. Each request needs a proof.
    #[must_use]
    pub fn dpop(&self, token: &str) -> Self {
        self.canaries.add(token);
        self.anonymous().with("authorization", &format!("DPoP {token}"))
    }

    /// A copy with these cookies as its only credentials.
    #[must_use]
    pub fn cookies(&self, cookies: &str) -> Self {
        self.anonymous().with("cookie", cookies)
    }

    /// A copy with a session, and with the anti-forgery token in cookie and header.
    #[must_use]
    pub fn session(&self, sid: &str, csrf: &str) -> Self {
        self.cookies(&format!("sid={sid}; csrf={csrf}"))
            .with("x-csrf-token", csrf)
    }

    /// The credentials as headers.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.credentials.iter();
        all.map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
    }

    /// The address from which its requests come.
    pub fn address(&self) -> Ipv4Addr {
        self.address
    }

    /// The base URL.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Prepares a request. `path` may be an absolute URL.
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
            operation: format!("{method} {path}"),
            method: method.to_owned(),
            request: self
                .http
                .request(Method::from_bytes(method.as_bytes()).unwrap(), url),
            headers,
            body: None,
            canaries: self.canaries.clone(),
            contract: self.contract.clone(),
            may_fail: false,
            first_part_only: false,
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

/// A request. `.await` sends it.
#[derive(Debug)]
pub struct Call {
    operation: String,
    method: String,
    request: reqwest::RequestBuilder,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
    canaries: Canaries,
    contract: Option<Arc<Contract>>,
    may_fail: bool,
    first_part_only: bool,
}

impl Call {
    /// Adds a header and keeps any with the same name.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let name: HeaderName = name.parse().unwrap();
        self.headers
            .append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        self
    }

    /// Removes a header.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.headers.remove(name);
        self
    }

    /// Sets a JSON body.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.canaries.add_members(body);
        self.body("application/json", body.to_string())
    }

    /// Sets a form body.
    #[must_use]
    pub fn form<N: AsRef<str>, V: AsRef<str>>(self, fields: &[(N, V)]) -> Self {
        for (name, value) in fields {
            // In a JSON body `code` is an error code, not a secret.
            if name.as_ref() == "code" || SECRETS.contains(&name.as_ref()) {
                self.canaries.add(value.as_ref());
            }
        }
        let body = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        self.body("application/x-www-form-urlencoded", body)
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self.without("content-type").header("content-type", content_type)
    }

    /// Sets the idempotency key.
    #[must_use]
    pub fn key(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    /// Accepts a 5xx response, which otherwise fails the test.
    #[must_use]
    pub fn may_fail(mut self) -> Self {
        self.may_fail = true;
        self
    }

    /// Closes the connection when the first part of the body has arrived, for a response that ends late. The
    /// reply has that part.
    #[must_use]
    pub fn first_part_only(mut self) -> Self {
        self.first_part_only = true;
        self
    }

    /// Sends the request to a program that may be killed meanwhile. Returns the response if it is complete.
    pub async fn attempt(self) -> Option<Reply> {
        self.may_fail().exchange().await.ok()
    }

    async fn send(self) -> Reply {
        let operation = self.operation.clone();
        match self.exchange().await {
            Ok(reply) => reply,
            Err(error) => panic!("{operation}: {error:?}"),
        }
    }

    async fn exchange(self) -> reqwest::Result<Reply> {
        let mut request = self.request.headers(self.headers);
        if let Some(body) = self.body {
            request = request.body(body);
        }
        let (http, request) = request.build_split();
        let mut response = answer_of_service(&http, request?).await?;
        let path = response.url().path().to_owned();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            body.extend_from_slice(&chunk);
            assert!(
                body.len() <= MAX_BODY,
                "{}: over {MAX_BODY} bytes",
                self.operation
            );
            if self.first_part_only {
                break;
            }
        }
        let reply = Reply {
            operation: self.operation,
            status,
            headers,
            body,
        };
        assert!(status < 500 || self.may_fail, "{reply}");
        reply.check(&self.canaries);
        if let Some(contract) = &self.contract {
            contract.check(&self.method, &path, &reply);
        }
        Ok(reply)
    }
}

impl IntoFuture for Call {
    type Output = Reply;
    type IntoFuture = Pin<Box<dyn Future<Output = Reply> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

/// Sends a request. If nginx refuses it, sends it to a replica, because the test is about the answer of the
/// service.
async fn answer_of_service(http: &Client, mut request: Request) -> reqwest::Result<Response> {
    let port = request.url().port().unwrap_or_default();
    if let Some(replica) = replica_behind_nginx(port, request.url().path())
        && nginx_refuses(&request)
    {
        request.url_mut().set_port(Some(replica)).unwrap();
    }
    http.execute(request).await
}

/// Whether nginx itself refuses a request: for its method, a NUL in its path, a second `Authorization` or
/// `If-Match`, which it takes only once, or a header line that no buffer of installations holds.
fn nginx_refuses(request: &Request) -> bool {
    let headers = request.headers();
    let is_repeated = |name| headers.get_all(name).iter().count() > 1;
    let line = |name: &HeaderName, value: &HeaderValue| name.as_str().len() + value.len() + ": \r\n".len();
    request.method() == Method::TRACE
        || request.url().path().contains("%00")
        || [AUTHORIZATION, IF_MATCH].into_iter().any(is_repeated)
        || headers
            .iter()
            .any(|(name, value)| line(name, value) > NGINX_MAX_LINE)
}

/// A client whose connections come from this address. By https it reaches only the server with the trusted
/// certificate.
fn client(address: Ipv4Addr, trusted: Option<Certificate>) -> Client {
    Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        .tls_certs_only(trusted)
        .local_address(IpAddr::V4(address))
        .resolve("localhost", SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
        .build()
        .unwrap()
}
