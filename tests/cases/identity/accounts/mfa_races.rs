//! One code against fifty sign-ins at once, from fifty addresses so that no lockout stands between; and sign-ins beside
//! a change of what they are asked for.

use serde_json::{Value, json};
use tests::{Authenticator, Caller, PASSWORD, Person, Reply, Shape, World, all_at_once, on_every_shape};

const CALLERS: usize = 50;

/// A world in which callers say from where they call, and many may sign in at once.
async fn of_many_addresses(shape: Shape) -> World {
    World::of(shape)
        .flag("--trusted-proxies", "127.0.0.0/8")
        .flag("--argon2-permits", "16")
        .flag("--login-failures-account", "10000")
        .start()
        .await
}

fn from(world: &World, n: usize) -> Caller {
    world.anyone().with("x-forwarded-for", &format!("198.51.100.{n}"))
}

/// Everybody signs in by this at once: how many are in.
async fn sign_in_at_once(world: &World, body: &Value) -> usize {
    let replies: Vec<Reply> = all_at_once(CALLERS, |n| {
        from(world, n + 1)
            .post("/login")
            .json(body)
            .may_fail()
            .into_future()
    })
    .await;
    for reply in replies.iter().filter(|reply| reply.status != 200) {
        assert!([403, 503].contains(&reply.status), "{reply}");
    }
    replies.iter().filter(|reply| reply.status == 200).count()
}

async fn one_code_signs_in_once(shape: Shape) {
    let world = of_many_addresses(shape).await;
    let ann = world.sign_up().await;
    let app = Authenticator::turn_on(&world, &ann).await;
    assert_eq!(sign_in_at_once(&world, &app.sign_in(&world, &ann)).await, 1);
}

async fn one_recovery_code_signs_in_once(shape: Shape) {
    let world = of_many_addresses(shape).await;
    let ann = world.sign_up().await;
    let app = Authenticator::turn_on(&world, &ann).await;
    for code in &app.recovery_codes[..3] {
        let body = json!({ "email": ann.email, "password": PASSWORD, "otp": code });
        assert_eq!(sign_in_at_once(&world, &body).await, 1);
    }
}

/// A sign-in that began before and ends after is none.
async fn no_sign_in_by_the_password_alone_outlives_turning_it_on(shape: Shape) {
    let world = of_many_addresses(shape).await;
    for _ in 0..3 {
        let ann: Person = world.sign_up().await;
        let app = Authenticator::begin(&ann).await;
        let code = app.code(&world, 0);
        let body = json!({ "email": ann.email, "password": PASSWORD });
        let replies = all_at_once(9, |n| match n {
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
    one_code_signs_in_once,
    one_recovery_code_signs_in_once,
    no_sign_in_by_the_password_alone_outlives_turning_it_on,
);
