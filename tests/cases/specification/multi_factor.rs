//! Section 6 of the API specification: events of multi-factor authentication.

use serde_json::json;
use tests::{Authenticator, PASSWORD, Reply, SharedWorld, World, on_every_shape};

/// The log lines of this event with the correlation id of a response.
fn logged(world: &World, reply: &Reply, event: &str) -> usize {
    let lines = world.log_lines().into_iter();
    lines
        .filter(|line| line["event"] == event && line["traceId"] == reply.correlation_id())
        .count()
}

/// 6: "Security events recorded in structured logs, each correlated by a `traceId`: … change of multi-factor
/// authentication".
async fn a_change_of_multi_factor_authentication_is_recorded(world: SharedWorld) {
    let ann = world.sign_up().await;
    let app = Authenticator::begin(&ann).await;
    let first = json!({ "otp": app.code(&world, 0) });
    let on = ann.post("/me/mfa/totp/verifications").json(&first).await;
    let codes = on.expect(200);
    assert_eq!(logged(&world, &codes, "authn_mfa_enabled"), 1);
    let body = json!({ "email": ann.email, "password": PASSWORD, "otp": app.code(&world, 1) });
    let ann = world.log_in_with(&body).await;
    let body = json!({ "password": PASSWORD, "otp": codes.json()["recovery_codes"][0] });
    let off = ann.delete("/me/mfa/totp").json(&body).await.expect(204);
    assert_eq!(logged(&world, &off, "authn_recovery_code_used"), 1);
    assert_eq!(logged(&world, &off, "authn_mfa_disabled"), 1);
}

on_every_shape!(a_change_of_multi_factor_authentication_is_recorded);
