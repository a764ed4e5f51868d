//! Concurrent sign-ins with one code, each from an address of its own so that no lockout interferes; and
//! sign-ins concurrent with enabling MFA.

use serde_json::{Value, json};
use tests::{
    Authenticator, Caller, PASSWORD, Reply, Shape, User, World, on_every_shape, rounds, run_concurrently,
};

/// The number of concurrent sign-ins, each of which costs a hash.
fn callers() -> usize {
    rounds(12, 50)
}

/// A world that trusts forwarded addresses and allows many concurrent sign-ins.
async fn start_world(shape: Shape) -> World {
    World::builder(shape)
        .flag("--trusted-proxies", "127.0.0.0/8")
        .flag("--argon2-permits", "16")
        .flag("--login-failures-account", "10000")
        .start()
        .await
}

fn from(world: &World, n: usize) -> Caller {
    world.anyone().with("x-forwarded-for", &format!("198.51.100.{n}"))
}

/// Signs in concurrently with this body. Returns the number of successes. Wrong codes soon lock the account's
/// codes.
async fn sign_in_concurrently(world: &World, body: &Value) -> usize {
    let replies: Vec<Reply> = run_concurrently(callers(), |n| {
        from(world, n + 1)
            .post("/login")
            .json(body)
            .may_fail()
            .into_future()
    })
    .await;
    for reply in replies.iter().filter(|reply| reply.status != 200) {
        assert!([403, 429, 503].contains(&reply.status), "{reply}");
    }
    replies.iter().filter(|reply| reply.status == 200).count()
}

async fn concurrent_sign_ins_use_a_code_once(shape: Shape) {
    let world = start_world(shape).await;
    let ann = world.user().await;
    let app = Authenticator::enable(&world, &ann).await;
    assert_eq!(sign_in_concurrently(&world, &app.sign_in(&world, &ann)).await, 1);
}

async fn concurrent_sign_ins_use_a_recovery_code_once(shape: Shape) {
    let world = start_world(shape).await;
    for _ in 0..rounds(1, 3) {
        let ann = world.user().await;
        let app = Authenticator::enable(&world, &ann).await;
        let body = json!({ "email": ann.email, "password": PASSWORD, "otp": app.recovery_codes[0] });
        assert_eq!(sign_in_concurrently(&world, &body).await, 1);
    }
}

/// A sign-in that began before MFA was enabled must not leave a session afterwards.
async fn password_only_sign_ins_do_not_survive_enabling_mfa(shape: Shape) {
    let world = start_world(shape).await;
    for _ in 0..3 {
        let ann: User = world.user().await;
        let app = Authenticator::begin(&ann).await;
        let code = app.code(&world, 0);
        let body = json!({ "email": ann.email, "password": PASSWORD });
        let replies = run_concurrently(9, |n| match n {
            0 => {
                let first = json!({ "otp": code });
                ann.post("/me/mfa/totp/verifications").json(&first).into_future()
            }
            n => from(&world, n)
                .post("/login")
                .json(&body)
                .may_fail()
                .into_future(),
        })
        .await;
        assert_eq!(replies[0].status, 200, "{}", replies[0]);
        for login in replies[1..].iter().filter(|reply| reply.status == 200) {
            let session = world.anyone().session(&login.cookie("sid"), &ann.csrf);
            session.get("/me").await.expect_error(401, "unauthenticated");
        }
    }
}

on_every_shape!(
    concurrent_sign_ins_use_a_code_once,
    concurrent_sign_ins_use_a_recovery_code_once,
    password_only_sign_ins_do_not_survive_enabling_mfa,
);
