//! Proofs of possession: DPoP (RFC 9449).

mod binding;
mod independent_clients;
mod nonces;
mod resources;
mod single_use;

use tests::{App, Grant, ProofKey, Proven, Tokens, User, World};

/// The token request, for proofs.
fn token_request(world: &World) -> Proven {
    Proven::new("POST", &format!("{}/token", world.base()))
}

/// Authorizes the app and exchanges the code for tokens that are bound to the key.
async fn bound_tokens(world: &World, app: &App, user: &User, key: &ProofKey, scope: &str) -> Tokens {
    let grant = app.authorize(&mut user.browser(), user, scope).await;
    exchange(world, app, key, &grant).await
}

async fn exchange(world: &World, app: &App, key: &ProofKey, grant: &Grant) -> Tokens {
    let anyone = world.anyone();
    key.tokens(&token_request(world), || app.exchange(&anyone, grant))
        .await
}

async fn refresh(world: &World, app: &App, key: &ProofKey, refresh_token: &str) -> Tokens {
    let anyone = world.anyone();
    key.tokens(&token_request(world), || app.refresh(&anyone, refresh_token))
        .await
}
