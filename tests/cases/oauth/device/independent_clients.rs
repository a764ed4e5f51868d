//! Unmodified client libraries get tokens on a device, and renew them.

use serde_json::json;
use tests::{ClientLibrary, SharedWorld, on_one_shape};

async fn run(world: SharedWorld, library: ClientLibrary) {
    let user = world.user().await;
    let native = super::native(&world);
    let web = world.app().kind("web").option(&["--device"]).register();
    let settings = json!({
        "issuer": world.base(), "user": user.id.to_string(), "native": native.id,
        "web": { "id": web.id, "secret": web.secret },
    });
    library.run(&settings, &mut world.browser(), &user).await;
}

async fn openid_client(world: SharedWorld) {
    run(world, ClientLibrary::OpenidClientOnDevice).await;
}

async fn oauth4webapi(world: SharedWorld) {
    run(world, ClientLibrary::Oauth4webapiOnDevice).await;
}

async fn authlib(world: SharedWorld) {
    run(world, ClientLibrary::AuthlibOnDevice).await;
}

on_one_shape!(openid_client, oauth4webapi, authlib);
