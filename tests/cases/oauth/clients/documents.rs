//! Apps that describe themselves by a client ID metadata document: their `client_id` is its URL
//! (draft-ietf-oauth-client-id-metadata-document).

mod administration;
mod changes;
mod foreign_urls;
mod logos;
mod outages;
mod refusals;
mod sign_in;

use serde_json::{Value, json};
use std::time::Duration;
use tests::{App, Browser, CALLBACK, Page, Shape, StubServer, User, World};

const FLAG: &str = "--client-id-metadata-documents";
/// The time for which a document of [`StubServer::answer`] is fresh, and a little more.
const STALE: Duration = Duration::from_secs(301);

/// A world that accepts the documents of every host, with a clock that the test moves.
async fn start(shape: Shape) -> World {
    World::builder(shape).flag(FLAG, "any").clock().start().await
}

/// An app with the server of its document.
struct DescribedApp {
    app: App,
    server: StubServer,
}

impl DescribedApp {
    /// Starts the server of an app whose document has these members beside its id, its name and its redirect
    /// URI.
    async fn start(members: Value) -> Self {
        let server = StubServer::start().await;
        let described = Self {
            app: app_at(&format!("{}/client.json", server.url)),
            server,
        };
        described.publish(members);
        described
    }

    /// Publishes a document with these members beside its id, its name and its redirect URI.
    fn publish(&self, members: Value) {
        self.server
            .answer(200, &document(&self.app.id, members).to_string());
    }

    fn fetches(&self) -> usize {
        self.server.received().len()
    }

    /// The path of the app at routes that have its `client_id` in the path.
    fn encoded_id(&self) -> String {
        form_urlencoded::byte_serialize(self.app.id.as_bytes()).collect()
    }
}

/// The app with this id.
fn app_at(id: &str) -> App {
    App {
        id: id.to_owned(),
        secret: None,
        redirect_uri: CALLBACK.to_owned(),
    }
}

/// A document with these members beside an id, a name and a redirect URI. A member that is null is left out.
fn document(id: &str, members: Value) -> Value {
    let mut document =
        json!({ "client_id": id, "client_name": "Described App", "redirect_uris": [CALLBACK] });
    let (target, Value::Object(members)) = (document.as_object_mut().unwrap(), members) else {
        panic!("the members are no JSON object");
    };
    for (name, value) in members {
        match value {
            Value::Null => drop(target.remove(&name)),
            value => drop(target.insert(name, value)),
        }
    }
    document
}

/// Opens an authorization request in a browser and follows redirects, except to another origin.
async fn open(browser: &mut Browser, app: &App) -> Page {
    super::super::consent::follow(browser, &app.authorization().path()).await
}

/// Opens the consent page of an app, which must be shown.
async fn consent_page(user: &User, app: &App) -> Page {
    let page = open(&mut user.browser(), app).await;
    assert!(page.asks_for("decision"), "no consent page: {}", page.reply);
    page
}

/// Expects that a signed-in user gets an error page with this text for a request of the app.
async fn expect_refused(user: &User, app: &App, reason: &str) {
    let page = open(&mut user.browser(), app).await;
    assert_eq!(page.reply.status, 400, "{reason}: {}", page.reply);
    page.expect_page_within_origin();
    let text = page.visible_text();
    assert!(text.contains(reason), "{reason}: {text}");
}
