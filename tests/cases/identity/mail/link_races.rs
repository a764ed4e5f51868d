//! Fifty concurrent uses of one link: it works once.

use super::{CONFIRM_NEW, RESET, UserWithSessions, me, request_change, request_reset, reset};
use tests::{
    Caller, PASSWORD, Reply, Shape, User, World, on_every_shape, rounds, run_concurrently, status_counts,
};

/// The number of rounds of resets, each of which costs up to fifty hashes.
fn resets() -> u8 {
    rounds(1, 6)
}

/// The number of rounds of changes of an address.
fn changes() -> u8 {
    rounds(5, 20)
}

/// A world in which each round uses its own client address, so that no throttle interferes.
async fn start_world(shape: Shape) -> World {
    let setup = World::builder(shape).flag("--trusted-proxies", "127.0.0.1");
    setup.flag("--argon2-permits", "8").start().await
}

fn from(caller: &Caller, round: u8) -> Caller {
    caller.with("x-forwarded-for", &format!("198.51.100.{round}"))
}

/// Expects one success, and that the other requests were too late (422, or 401 if the session had ended) or
/// shed (503). Returns the index of the success.
fn expect_one(replies: &[Reply]) -> usize {
    let counted = status_counts(replies);
    let others = [401, 422, 503].map(|status| counted.get(&status).copied().unwrap_or_default());
    assert_eq!(counted.get(&204), Some(&1), "{counted:?}");
    assert_eq!(others.iter().sum::<usize>(), replies.len() - 1, "{counted:?}");
    for refused in replies.iter().filter(|reply| reply.status == 422) {
        refused.clone().expect_error(422, "reset_token_invalid");
    }
    replies.iter().position(|reply| reply.status == 204).unwrap()
}

fn password(n: usize) -> String {
    format!("password number {n:02}")
}

async fn fifty_concurrent_resets_succeed_once(shape: Shape) {
    let world = start_world(shape).await;
    for round in 0..resets() {
        let (ann, caller) = (world.sign_up().await, from(&world.anyone(), round));
        request_reset(&caller, &ann.email).await.expect(202);
        let token = world.mail(&ann.email, RESET, 1).await.token();
        let replies = run_concurrently(50, |n| {
            reset(&caller, &token, &password(n)).may_fail().into_future()
        })
        .await;
        let winner = expect_one(&replies);
        caller.login(&ann.email, &password(winner)).await.expect(200);
        caller.login(&ann.email, PASSWORD).await.expect(401);
    }
}

async fn fifty_concurrent_address_changes_succeed_once(shape: Shape) {
    let world = start_world(shape).await;
    let mut ann: User = world.sign_up().await;
    for round in 0..changes() {
        let (caller, new) = (from(&ann, round), world.fresh_email());
        request_change(&ann, &new, PASSWORD)
            .header("x-forwarded-for", &format!("198.51.100.{round}"))
            .await
            .expect(202);
        let token = world.mail(&new, CONFIRM_NEW, 1).await.token();
        let replies = run_concurrently(50, |_| caller.confirm_email(&token).into_future()).await;
        expect_one(&replies);
        ann = world.log_in(&new, PASSWORD).await;
        assert_eq!(me(&ann).await["email_verified"], true);
    }
}

async fn concurrent_links_of_an_account_succeed_once(shape: Shape) {
    let world = start_world(shape).await;
    for round in 0..resets() {
        let ann = UserWithSessions::new(&world).await;
        let (caller, new) = (from(&world.anyone(), round), world.fresh_email());
        request_change(&ann.here, &new, PASSWORD)
            .header("x-forwarded-for", &format!("198.51.100.{round}"))
            .await
            .expect(202);
        request_reset(&caller, &ann.here.email).await.expect(202);
        let of_change = world.mail(&new, CONFIRM_NEW, 1).await.token();
        let of_reset = world.mail(&ann.here.email, RESET, 1).await.token();
        let replies = run_concurrently(20, |n| match n % 2 {
            0 => from(&ann.here, round).confirm_email(&of_change).into_future(),
            _ => reset(&caller, &of_reset, &password(0)).may_fail().into_future(),
        })
        .await;
        let winner = expect_one(&replies);
        ann.expect_ended(&world).await;
        let (email, password) = match winner % 2 {
            0 => (new, PASSWORD.to_owned()),
            _ => (ann.here.email.clone(), password(0)),
        };
        caller.login(&email, &password).await.expect(200);
    }
}

on_every_shape!(
    fifty_concurrent_resets_succeed_once,
    fifty_concurrent_address_changes_succeed_once,
    concurrent_links_of_an_account_succeed_once,
);
