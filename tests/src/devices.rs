//! Devices without a browser, which get their tokens by the device authorization grant (RFC 8628).

use crate::accounts::User;
use crate::apps::App;
use crate::browser::{Browser, Page};
use crate::http::{Call, Caller};
use crate::reply::Reply;

/// The `grant_type` of a token request with a device code.
pub const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// A device that waits for the decision of its user.
#[derive(Clone, Debug)]
pub struct Device {
    /// `device_code`
    pub device_code: String,
    /// `user_code`
    pub user_code: String,
    /// `verification_uri_complete`
    pub complete_uri: String,
    /// The complete response.
    pub reply: Reply,
    app: App,
}

impl App {
    /// Prepares a device authorization request (RFC 8628 §3.1).
    pub fn device_request(&self, caller: &Caller, fields: &[(&str, &str)]) -> Call {
        self.client_call(caller, "/device_authorization", fields)
    }

    /// Begins the authorization of a device. Fails the test unless that succeeds.
    pub async fn device(&self, caller: &Caller, scope: &str) -> Device {
        let reply = self.device_request(caller, &[("scope", scope)]).await.expect(200);
        let body = reply.json();
        let member = |name: &str| body[name].as_str().unwrap().to_owned();
        Device {
            device_code: member("device_code"),
            user_code: member("user_code"),
            complete_uri: member("verification_uri_complete"),
            reply,
            app: self.clone(),
        }
    }

    /// Prepares a token request with a device code (RFC 8628 §3.4).
    pub fn poll(&self, caller: &Caller, device_code: &str) -> Call {
        let fields = [("grant_type", DEVICE_CODE), ("device_code", device_code)];
        self.token(caller, &fields)
    }
}

impl Device {
    /// Prepares a token request.
    pub fn poll(&self, caller: &Caller) -> Call {
        self.app.poll(caller, &self.device_code)
    }

    /// Decides in a browser of the user. Fails the test unless that succeeds.
    pub async fn decide(&self, user: &User, decision: &str) {
        let mut browser = user.browser();
        let page = browser.enter_user_code(&self.user_code).await;
        let page = browser.submit(&page, &[("decision", decision)]).await;
        assert_eq!(page.reply.status, 200, "{}", page.reply);
    }
}

impl Browser {
    /// Submits a code on the page for codes of devices. Returns the page that follows. The browser is signed
    /// in.
    pub async fn enter_user_code(&mut self, code: &str) -> Page {
        let page = self.open("/device").await;
        self.submit(&page, &[("user_code", code)]).await
    }
}
