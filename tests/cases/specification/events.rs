//! Section 6 of the API specification: events, except those in `password_reset` and `multi_factor`.

use super::WRONG;
use tests::{PASSWORD, Reply, SharedWorld, World, eventually, on_every_shape};

/// The log lines with the correlation id of a response, by the value of a field.
fn logged(world: &World, reply: &Reply, member: &str) -> Vec<String> {
    let lines = world.log_lines().into_iter();
    lines
        .filter(|line| line["traceId"] == reply.correlation_id())
        .filter_map(|line| line[member].as_str().map(str::to_owned))
        .collect()
}

/// 6: "Security events recorded in structured logs, each correlated by a `traceId`: login".
async fn a_login_is_recorded(world: SharedWorld) {
    let ann = world.sign_up().await;
    for (password, event) in [(WRONG, "authn_login_fail"), (PASSWORD, "authn_login_success")] {
        let reply = world.anyone().login(&ann.email, password).await;
        assert_eq!(logged(&world, &reply, "event"), [event]);
    }
}

/// 6: "An alert is raised on abnormal activity", such as reuse of a refresh token.
async fn an_alert_is_raised_on_abnormal_activity(world: SharedWorld) {
    let (ann, app) = world.user_and_app().await;
    let tokens = app.tokens(&ann, "posts:read").await;
    app.refresh(&world.anyone(), &tokens.refresh).await.expect(200);
    let again = app.refresh(&world.anyone(), &tokens.refresh).await.expect(400);
    eventually("no alert was raised", || async {
        logged(&world, &again, "kind") == ["refresh_token_reuse"]
    })
    .await;
}

on_every_shape!(a_login_is_recorded, an_alert_is_raised_on_abnormal_activity);
