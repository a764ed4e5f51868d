//! A model of tokens beside the product: after each step of a random sequence, the API and introspection at
//! every replica must agree with the model about every token.
//!
//! The sequences follow from the numbers in [`SEEDS`], and in the long tier from more, one of them random. A
//! failure prints the number and the steps that led to it.

mod actions;
mod model;
mod sequence;

use actions::{Actors, RARE_EFFECTS};
use model::{Model, Verdict};
use sequence::sequence;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use tests::{Shape, World, on_every_shape, rounds, without_deployment};

/// A sequence for each. Together they have all rare effects.
const SEEDS: [u64; 4] = [1, 2, 3, 17_729_573_361_981_699_353];
/// The time in which a revocation takes effect everywhere.
const REVOCATION_LIMIT: Duration = Duration::from_secs(20);

async fn tokens_are_as_the_model_says(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let random = u64::from_le_bytes(foundation::random::bytes());
    let mut effects = BTreeSet::new();
    for seed in SEEDS.into_iter().chain(rounds(vec![], vec![4, 5, 6, random])) {
        announce(seed);
        let (mut model, mut actors) = (Model::default(), Actors::create(&world).await);
        let mut story = Vec::new();
        for action in sequence(seed) {
            story.push(action);
            actors.act(&world, &mut model, action).await;
            let checked = check(&world, &model, &actors).await;
            assert_eq!(checked, Ok(()), "seed {seed}, after {story:?}");
        }
        effects.extend(actors.effects);
    }
    for effect in RARE_EFFECTS {
        assert!(effects.contains(effect), "no sequence had this effect: {effect}");
    }
}

/// Prints a seed, which is shown only if the test fails.
#[expect(clippy::print_stderr, reason = "a failed step names no seed")]
fn announce(seed: u64) {
    eprintln!("the sequence of seed {seed}");
}

/// Compares the product with the model.
async fn check(world: &World, model: &Model, actors: &Actors) -> Result<(), String> {
    let anyone = world.anyone();
    let (issuers, apis) = (world.at_each_issuer(&anyone), world.at_each_api(&anyone));
    let began = Instant::now();
    for token in model.recent_access_tokens() {
        let expected = model.verdict(token, world.now());
        for api in &apis {
            let is_accepted = async || {
                let reply = api.bearer(&token.text).get("/protected").await;
                reply.status == 200
            };
            agree(
                expected,
                began,
                &format!("the API about access token {}", token.number),
                is_accepted,
            )
            .await?;
        }
        for issuer in &issuers {
            let is_active = async || actors.is_active(issuer, None, &token.text).await;
            agree(
                expected,
                began,
                &format!("introspection of access token {}", token.number),
                is_active,
            )
            .await?;
        }
    }
    for family in &model.families {
        let expected = model.verdict_on_refresh(family, world.now());
        for issuer in &issuers {
            let token = family.refresh_tokens.last().unwrap();
            let is_active = async || actors.is_active(issuer, Some(family.app), token).await;
            agree(
                expected,
                began,
                &format!("introspection of the refresh token of {}", family.number),
                is_active,
            )
            .await?;
            if let [.., former, _] = family.refresh_tokens.as_slice() {
                let is_active = async || actors.is_active(issuer, Some(family.app), former).await;
                agree(
                    Verdict::Dead,
                    began,
                    "introspection of a used refresh token",
                    is_active,
                )
                .await?;
            }
        }
    }
    Ok(())
}

/// Expects the answer at once, or of a dead token within the time in which a revocation takes effect.
async fn agree(
    expected: Verdict,
    began: Instant,
    what: &str,
    ask: impl AsyncFn() -> bool,
) -> Result<(), String> {
    match expected {
        Verdict::Unknown => Ok(()),
        Verdict::Live if ask().await => Ok(()),
        Verdict::Live => Err(format!("{what}: it is refused and should be live")),
        Verdict::Dead => {
            while ask().await {
                if began.elapsed() > REVOCATION_LIMIT {
                    return Err(format!("{what}: it is accepted and should be dead"));
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Ok(())
        }
    }
}

/// The model itself knows a dead token from a live one.
fn the_model_ends_tokens() {
    let mut model = Model::default();
    let now = foundation::clock::Timestamp::from_micros(0);
    let family = model.begin(0, 0, "refresh".to_owned(), now);
    model.issue(family, "access".to_owned(), now);
    let verdict = |model: &Model, after: u64| {
        let token = model.recent_access_tokens().next().unwrap();
        model.verdict(token, now.after(Duration::from_secs(after)))
    };
    assert_eq!(verdict(&model, 60), Verdict::Live);
    assert_eq!(verdict(&model, 700), Verdict::Dead);
    model.end_families(|family| family.app == 1);
    assert_eq!(verdict(&model, 60), Verdict::Live);
    model.end_families(|family| family.app == 0);
    assert_eq!(verdict(&model, 60), Verdict::Dead);
}

on_every_shape!(tokens_are_as_the_model_says);
without_deployment!(the_model_ends_tokens);
