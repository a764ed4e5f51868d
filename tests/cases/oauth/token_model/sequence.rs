//! The random sequences of steps.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::time::Duration;

/// The apps: of a third party, of the operator, and of a third party with a retry window.
pub(super) const FIRST_PARTY: usize = 1;
pub(super) const WITH_RETRY_WINDOW: usize = 2;

/// A step. A number picks one of the apps, or one of the families, of which the newest is 0.
#[derive(Clone, Copy, Debug)]
pub(super) enum Action {
    /// The user signs in and grants access to an app.
    Grant(usize),
    /// The user grants access to an app in the session of a family.
    GrantInSessionOf(usize, usize),
    Refresh(usize),
    RefreshNarrowed(usize),
    /// The refresh token before the current one of a live family is used again.
    Retry(usize),
    RevokeRefreshToken(usize),
    RevokeLatestAccessToken,
    /// The user signs out from the session of a family.
    Logout(usize),
    Disconnect(usize),
    ChangePassword,
    DisableUser,
    DisableApp(usize),
    /// Enables what is disabled.
    Enable,
    RotateSecret(usize),
    RotateKey,
    Advance(Duration),
}

/// The sequence of a seed.
pub(super) fn sequence(seed: u64) -> Vec<Action> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let tree = vec(action(), 24).new_tree(&mut runner).unwrap();
    let begin = [
        Action::Grant(0),
        Action::Grant(FIRST_PARTY),
        Action::Grant(WITH_RETRY_WINDOW),
    ];
    // Few random steps lead to a state in which these have an effect.
    let end = [
        Action::Enable,
        Action::Grant(WITH_RETRY_WINDOW),
        Action::Refresh(0),
        Action::Retry(0),
        Action::Advance(Duration::from_secs(130)),
        Action::Retry(0),
        Action::Grant(FIRST_PARTY),
        Action::Logout(0),
    ];
    begin.into_iter().chain(tree.current()).chain(end).collect()
}

fn action() -> impl Strategy<Value = Action> {
    let (pick, app) = (0..100_usize, 0..3_usize);
    let length = prop_oneof![
        6 => Just(Duration::from_secs(130)),
        3 => Just(Duration::from_secs(700)),
        1 => Just(Duration::from_secs(8 * 24 * 3600)),
    ];
    prop_oneof![
        4 => app.clone().prop_map(Action::Grant),
        2 => (app.clone(), pick.clone()).prop_map(|(app, family)| Action::GrantInSessionOf(app, family)),
        6 => pick.clone().prop_map(Action::Refresh),
        2 => pick.clone().prop_map(Action::RefreshNarrowed),
        4 => pick.clone().prop_map(Action::Retry),
        2 => pick.clone().prop_map(Action::RevokeRefreshToken),
        2 => Just(Action::RevokeLatestAccessToken),
        2 => pick.clone().prop_map(Action::Logout),
        1 => app.clone().prop_map(Action::Disconnect),
        1 => Just(Action::ChangePassword),
        1 => Just(Action::DisableUser),
        1 => app.clone().prop_map(Action::DisableApp),
        3 => Just(Action::Enable),
        1 => app.prop_map(Action::RotateSecret),
        2 => Just(Action::RotateKey),
        5 => length.prop_map(Action::Advance),
    ]
}
