//! Unmodified client libraries sign a user in with DPoP, refresh and call the API, with the nonces of both
//! servers.

use serde_json::json;
use tests::{ClientLibrary, Shape, World, on_one_shape};

async fn run(shape: Shape, library: ClientLibrary) {
    let world = World::builder(shape).flag("--dpop", "nonces").start().await;
    let user = world.user().await;
    for alg in ["ES256", "Ed25519", "PS256"] {
        let app = world.app().option(&["--dpop-bound"]).register();
        let settings = json!({
            "issuer": world.base(), "app": app.id, "redirectUri": app.redirect_uri, "email": user.email, "alg": alg,
        });
        library.run(&settings, &mut world.browser(), &user).await;
    }
}

async fn openid_client(shape: Shape) {
    run(shape, ClientLibrary::OpenidClientWithDpop).await;
}

async fn oauth4webapi(shape: Shape) {
    run(shape, ClientLibrary::Oauth4webapiWithDpop).await;
}

on_one_shape!(openid_client, oauth4webapi);
