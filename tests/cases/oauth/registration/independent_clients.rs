//! Unmodified client libraries register themselves and sign a user in.

use super::open;
use serde_json::json;
use tests::{ClientLibrary, Shape, on_one_shape};

async fn run(shape: Shape, library: ClientLibrary) {
    let world = open(shape).await;
    let user = world.user().await;
    let initial = world.cli(&["clients", "registration-tokens", "create", "--json"], "");
    let settings = json!({
        "issuer": world.base(), "redirectUri": "http://127.0.0.1:3456/callback", "user": user.id.to_string(),
        "initialAccessToken": initial["token"],
    });
    library.run(&settings, &mut world.browser(), &user).await;
}

async fn openid_client(shape: Shape) {
    run(shape, ClientLibrary::OpenidClientThatRegisters).await;
}

async fn oauth4webapi(shape: Shape) {
    run(shape, ClientLibrary::Oauth4webapiThatRegisters).await;
}

on_one_shape!(openid_client, oauth4webapi);
