//! One link, fifty who use it at once: it works once.

use super::{CONFIRM_NEW, RESET, Somebody, ask_change, ask_reset, confirm, log_in, me, reset};
use tests::{Caller, PASSWORD, Person, Reply, Shape, World, all_at_once, counts, on_every_shape};

/// Rounds of each race. One of a reset costs fifty hashes.
const RESETS: u8 = 6;
const CHANGES: u8 = 20;

/// A world in which each round calls from an address of its own, so that no throttle ends the rounds.
async fn world_of(shape: Shape) -> World {
    let setup = World::of(shape).flag("--trusted-proxies", "127.0.0.1");
    setup.flag("--argon2-permits", "8").start().await
}

fn from(caller: &Caller, round: u8) -> Caller {
    caller.with("x-forwarded-for", &format!("198.51.100.{round}"))
}

/// One succeeded; the others came too late, or were too many at once.
fn expect_one(replies: &[Reply]) -> usize {
    let counted = counts(replies);
    let others = [422, 503].map(|status| counted.get(&status).copied().unwrap_or_default());
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

async fn a_reset_raced_fifty_times_is_done_once(shape: Shape) {
    let world = world_of(shape).await;
    for round in 0..RESETS {
        let (ann, caller) = (world.sign_up().await, from(&world.anyone(), round));
        ask_reset(&caller, &ann.email).await.expect(202);
        let token = world.letter(&ann.email, RESET, 1).await.token();
        let replies = all_at_once(50, |n| {
            reset(&caller, &token, &password(n)).may_fail().into_future()
        })
        .await;
        let winner = expect_one(&replies);
        log_in(&caller, &ann.email, &password(winner)).await.expect(200);
        log_in(&caller, &ann.email, PASSWORD).await.expect(401);
    }
}

async fn a_change_of_address_raced_fifty_times_is_done_once(shape: Shape) {
    let world = world_of(shape).await;
    let mut ann: Person = world.sign_up().await;
    for round in 0..CHANGES {
        let (caller, new) = (from(&world.anyone(), round), world.fresh_email());
        ask_change(&ann, &new, PASSWORD)
            .header("x-forwarded-for", &format!("198.51.100.{round}"))
            .await
            .expect(202);
        let token = world.letter(&new, CONFIRM_NEW, 1).await.token();
        let replies = all_at_once(50, |_| confirm(&caller, &token).into_future()).await;
        expect_one(&replies);
        ann = world.log_in(&new, PASSWORD).await;
        assert_eq!(me(&ann).await["email_verified"], true);
    }
}

async fn of_all_the_links_at_once_one_ends_the_others(shape: Shape) {
    let world = world_of(shape).await;
    for round in 0..RESETS {
        let ann = Somebody::new(&world).await;
        let (caller, new) = (from(&world.anyone(), round), world.fresh_email());
        ask_change(&ann.here, &new, PASSWORD)
            .header("x-forwarded-for", &format!("198.51.100.{round}"))
            .await
            .expect(202);
        ask_reset(&caller, &ann.here.email).await.expect(202);
        let of_change = world.letter(&new, CONFIRM_NEW, 1).await.token();
        let of_reset = world.letter(&ann.here.email, RESET, 1).await.token();
        let replies = all_at_once(20, |n| match n % 2 {
            0 => confirm(&caller, &of_change).into_future(),
            _ => reset(&caller, &of_reset, &password(0)).may_fail().into_future(),
        })
        .await;
        let winner = expect_one(&replies);
        ann.expect_ended(&world).await;
        let (email, password) = match winner % 2 {
            0 => (new, PASSWORD.to_owned()),
            _ => (ann.here.email.clone(), password(0)),
        };
        log_in(&caller, &email, &password).await.expect(200);
    }
}

on_every_shape!(
    a_reset_raced_fifty_times_is_done_once,
    a_change_of_address_raced_fifty_times_is_done_once,
    of_all_the_links_at_once_one_ends_the_others,
);
