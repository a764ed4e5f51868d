//! Tabs, with their history and the network that they share.

use super::Chromium;
use serde_json::{Value, json};

impl Chromium {
    /// The window or tab in which commands happen, for [`turn_to`](Self::turn_to).
    pub async fn window(&self) -> String {
        self.get("/window").await.as_str().unwrap().to_owned()
    }

    /// Opens an empty tab and turns to it. Returns it.
    pub async fn open_tab(&self) -> String {
        let opened = self.post("/window/new", &json!({ "type": "tab" })).await;
        let tab = opened["handle"].as_str().unwrap().to_owned();
        self.turn_to(&tab).await;
        self.emulate_focus().await;
        tab
    }

    /// The addresses of the tab's history.
    pub async fn history(&self) -> Vec<String> {
        let history = self.devtools("Page.getNavigationHistory", json!({})).await;
        let entries = history["entries"].as_array().unwrap().iter();
        entries
            .map(|entry| entry["url"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Takes the network from the tab, or gives it back. The tab learns of both.
    pub async fn be_offline(&self, is_offline: bool) {
        self.devtools("Network.enable", json!({})).await;
        // Without a latency the end of the emulation would show the page whether this machine has a network.
        let conditions = json!({
            "offline": is_offline, "latency": 1, "downloadThroughput": -1, "uploadThroughput": -1,
        });
        self.devtools("Network.emulateNetworkConditions", conditions)
            .await;
    }

    /// The value of the cookie with this name, HttpOnly or not.
    pub async fn cookie(&self, name: &str) -> String {
        let all = self.devtools("Network.getAllCookies", json!({})).await;
        let mut all = all["cookies"].as_array().unwrap().iter();
        let found = all.find(|cookie| cookie["name"] == name);
        found.unwrap()["value"].as_str().unwrap().to_owned()
    }

    /// Sets a cookie for a URL and the paths below it, as a response from there does.
    pub async fn set_cookie(&self, url: &str, name: &str, value: &str) {
        let path = url::Url::parse(url).unwrap().path().to_owned();
        let cookie = json!({
            "url": url, "path": path, "name": name, "value": value,
            "httpOnly": true, "secure": true, "sameSite": "Strict",
        });
        let set = self.devtools("Network.setCookie", cookie).await;
        assert_eq!(set["success"], Value::Bool(true), "{set}");
    }
}
