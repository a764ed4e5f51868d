//! A real browser: headless Chromium, driven by ChromeDriver (W3C WebDriver).

mod appearance;
mod driver;
mod tabs;
mod traces;

use crate::accounts::User;
use crate::browser::plain_hyphens;
use crate::lossy_proxy::LossyProxy;
use crate::polling::{TIMEOUT, eventually};
use driver::Driver;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub use appearance::Appearance;

/// Selects the button that submits the form of a page, the first one if there are several.
pub const SUBMIT: &str = "button[type=submit]";

/// The member that identifies an element (WebDriver §12.1).
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// The longest pause between two looks at a page.
const MAX_PAUSE: Duration = Duration::from_millis(100);

/// A browser with a fresh profile. Killed on drop.
#[derive(Debug)]
pub struct Chromium {
    // The fields are dropped in this order: the browser ends before its profile is removed.
    _driver: Driver,
    session: String,
    client: reqwest::Client,
    profile: TempDir,
}

impl Chromium {
    /// Starts a browser with JavaScript disabled.
    pub async fn without_scripts() -> Self {
        Self::start(
            json!({ "profile.managed_default_content_settings.javascript": 2 }),
            &[],
        )
        .await
    }

    /// Starts a browser with JavaScript enabled.
    pub async fn with_scripts() -> Self {
        Self::start(json!({}), &[]).await
    }

    /// Starts a browser whose user prefers this language.
    pub async fn in_language(tag: &str) -> Self {
        Self::start(json!({ "intl.accept_languages": tag }), &[]).await
    }

    /// Starts a browser that trusts every certificate.
    pub async fn trusting_certificates() -> Self {
        Self::start(json!({}), &["--ignore-certificate-errors"]).await
    }

    /// Starts a browser that sends all its requests to this proxy, those to `localhost` too.
    pub async fn behind(proxy: &LossyProxy) -> Self {
        let server = format!("--proxy-server=http://127.0.0.1:{}", proxy.port);
        Self::start(json!({}), &[server.as_str(), "--proxy-bypass-list=<-loopback>"]).await
    }

    async fn start(preferences: Value, arguments: &[&str]) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let driver = Driver::start();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let mut chromium = Self {
            session: format!("http://127.0.0.1:{}/session", driver.port),
            _driver: driver,
            client,
            profile,
        };
        let profile = format!("--user-data-dir={}", chromium.profile.path().display());
        let own = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            profile.as_str(),
        ];
        let arguments = [&own[..], arguments].concat();
        let options = json!({ "args": arguments, "prefs": preferences });
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let session = chromium.post("", &capabilities).await;
        chromium.session = format!("{}/{}", chromium.session, session["sessionId"].as_str().unwrap());
        chromium.emulate_focus().await;
        chromium
    }

    /// Keeps the window in focus whatever the browser itself does. Out of focus, no element of a page matches
    /// `:focus`.
    async fn emulate_focus(&self) {
        let emulation = json!({ "enabled": true });
        self.devtools("Emulation.setFocusEmulationEnabled", emulation)
            .await;
    }

    /// Opens an address.
    pub async fn open(&self, url: &str) {
        self.post("/url", &json!({ "url": url })).await;
    }

    /// Types into the field that matches a CSS selector.
    pub async fn fill(&self, selector: &str, text: &str) {
        let field = self.element(selector).await;
        self.post(&format!("/element/{field}/clear"), &json!({})).await;
        self.post(&format!("/element/{field}/value"), &json!({ "text": text }))
            .await;
    }

    /// Clicks the button that matches a CSS selector, when no part of the page is busy: the verdict on a password
    /// would move the button if it arrived during the click.
    pub async fn press(&self, selector: &str) {
        eventually("a part of the page remains busy", async || {
            let busy = json!({ "using": "css selector", "value": "[aria-busy=true]" });
            self.post("/elements", &busy).await == json!([])
        })
        .await;
        let button = self.element(selector).await;
        self.post(&format!("/element/{button}/click"), &json!({})).await;
    }

    /// Fills in the fields that match CSS selectors, clicks the button, and waits for the page whose source
    /// alone has this text.
    pub async fn submit(&self, fields: &[(&str, &str)], button: &str, text: &str) {
        for (field, value) in fields {
            self.fill(field, value).await;
        }
        self.press(button).await;
        self.expect(text).await;
    }

    /// Signs the user in on the issuer's page, and allows the app its request on the next one.
    pub async fn sign_in_and_allow(&self, user: &User) {
        self.expect(r#"name="password""#).await;
        let fields = [("#email", user.email.as_str()), ("#password", &user.password)];
        self.submit(&fields, SUBMIT, r#"value="allow""#).await;
        self.press("button[value=allow]").await;
    }

    /// Waits until the source of the page contains this text, which has to stay. Returns the address of the
    /// page. After a click that leaves the page, the text must not be in the source of the page that is left,
    /// which may still be there.
    pub async fn expect(&self, text: &str) -> String {
        let (began, mut pause) = (Instant::now(), Duration::from_millis(10));
        loop {
            let source = plain_hyphens(&self.source().await);
            if source.contains(text) {
                return self.get("/url").await.as_str().unwrap().to_owned();
            }
            if began.elapsed() >= TIMEOUT {
                let url = self.get("/url").await;
                panic!("the page {url} never showed {text:?}:\n{source}");
            }
            // The source of a large page takes the browser a tenth of a second.
            tokio::time::sleep(pause).await;
            pause = (2 * pause).min(MAX_PAUSE);
        }
    }

    /// The open windows, for [`turn_to`](Self::turn_to).
    pub async fn windows(&self) -> Vec<String> {
        let handles = self.get("/window/handles").await;
        let handles = handles.as_array().unwrap().iter();
        handles
            .map(|handle| handle.as_str().unwrap().to_owned())
            .collect()
    }

    /// Turns to another window: what follows happens there.
    pub async fn turn_to(&self, window: &str) {
        self.post("/window", &json!({ "handle": window })).await;
    }

    /// Runs the body of an asynchronous function in the page. Its variable `args` has the arguments. Returns
    /// its result as JSON.
    pub async fn run(&self, body: &str, args: &[Value]) -> Value {
        let script = format!(
            "const args = [...arguments], done = args.pop();
             (async () => {{ {body} }})().then(done, error => done(String(error)));"
        );
        let command = json!({ "script": script, "args": args });
        self.post("/execute/async", &command).await
    }

    /// Presses keys one after the other. Each is a character, such as `\u{e004}` for Tab (WebDriver §17.4.2).
    pub async fn press_keys(&self, keys: &str) {
        let strokes = |key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key }));
        let strokes: Vec<Value> = keys.chars().flat_map(strokes).collect();
        let actions = json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": strokes }] });
        self.post("/actions", &actions).await;
    }

    /// Removes all cookies of the page's site.
    pub async fn delete_cookies(&self) {
        let call = self.client.delete(format!("{}/cookie", self.session));
        read(call).await;
    }

    /// Returns the source of the page, as the browser serializes it.
    pub async fn source(&self) -> String {
        self.get("/source").await.as_str().unwrap().to_owned()
    }

    /// Gives the browser an authenticator that stores passkeys, and verifies a user who is present. Returns
    /// its id.
    pub async fn add_authenticator(&self) -> String {
        self.devtools("WebAuthn.enable", json!({})).await;
        let options = json!({ "options": {
            "protocol": "ctap2", "transport": "internal", "hasResidentKey": true, "hasUserVerification": true,
            "isUserVerified": true, "automaticPresenceSimulation": true,
        } });
        let added = self.devtools("WebAuthn.addVirtualAuthenticator", options).await;
        added["authenticatorId"].as_str().unwrap().to_owned()
    }

    /// Runs a script in each new page before its own. Returns its id.
    pub async fn add_script(&self, script: &str) -> String {
        let parameters = json!({ "source": script });
        let added = self
            .devtools("Page.addScriptToEvaluateOnNewDocument", parameters)
            .await;
        added["identifier"].as_str().unwrap().to_owned()
    }

    /// Removes a script of [`add_script`](Self::add_script).
    pub async fn remove_script(&self, id: &str) {
        let parameters = json!({ "identifier": id });
        self.devtools("Page.removeScriptToEvaluateOnNewDocument", parameters)
            .await;
    }

    /// Removes an authenticator with its passkeys.
    pub async fn remove_authenticator(&self, authenticator: &str) {
        let parameters = json!({ "authenticatorId": authenticator });
        self.devtools("WebAuthn.removeVirtualAuthenticator", parameters)
            .await;
    }

    /// Lets pages read and write the clipboard without a question.
    pub async fn allow_clipboard(&self) {
        let permissions = json!({ "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"] });
        self.devtools("Browser.grantPermissions", permissions).await;
    }

    /// Makes the browser store downloads in this directory without a question.
    pub async fn download_to(&self, directory: &Path) {
        let options = json!({ "behavior": "allow", "downloadPath": directory });
        self.devtools("Browser.setDownloadBehavior", options).await;
    }

    /// Sends a command of the Chrome DevTools Protocol.
    async fn devtools(&self, command: &str, parameters: Value) -> Value {
        let body = json!({ "cmd": command, "params": parameters });
        self.post("/goog/cdp/execute", &body).await
    }

    async fn element(&self, selector: &str) -> String {
        let found = self
            .post("/element", &json!({ "using": "css selector", "value": selector }))
            .await;
        found[ELEMENT].as_str().unwrap().to_owned()
    }

    async fn get(&self, path: &str) -> Value {
        read(self.client.get(format!("{}{path}", self.session))).await
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        read(self.client.post(format!("{}{path}", self.session)).json(body)).await
    }
}

/// Sends a WebDriver command. Returns the `value` of the response and fails the test if it is an error.
async fn read(request: reqwest::RequestBuilder) -> Value {
    let mut answer: Value = request.send().await.unwrap().json().await.unwrap();
    let value = answer["value"].take();
    assert!(value["error"].is_null(), "WebDriver: {value}");
    value
}
