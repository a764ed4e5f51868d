//! `/admin/clients`: the registered clients in the hand of an administrator.

mod changes;
mod lists;
mod registrations;
mod urls;

use super::at_each_issuer;
use tests::{App, CALLBACK, Reply, World, eventually};

const LIST: &str = "/admin/clients";

fn path(app: &App) -> String {
    format!("{LIST}/{}", app.id)
}

/// The client that a response to its registration describes.
fn registered(reply: &Reply) -> App {
    let body = reply.json();
    App {
        id: body["id"].as_str().unwrap().to_owned(),
        secret: body["client_secret"].as_str().map(str::to_owned),
        redirect_uri: body["redirect_uris"][0].as_str().unwrap_or(CALLBACK).to_owned(),
    }
}

/// Expects that each issuer process accepts the secret of a confidential client.
async fn expect_authenticated(world: &World, app: &App) {
    for issuer in at_each_issuer(world) {
        eventually("the client is refused", async || {
            let call = app.client_call(&issuer, "/introspect", &[("token", "unknown")]);
            call.may_fail().await.status == 200
        })
        .await;
    }
}
