//! Fifty concurrent uses of one code and of one refresh token, two hundred times.

use tests::{App, Browser, Grant, Tokens, User, World, on_every_shape, run_concurrently, status_counts};

const CALLERS: usize = 50;
const ROUNDS: usize = 200;

struct Fixture {
    user: User,
    browser: Browser,
    app: App,
}

async fn fixture(world: &World) -> Fixture {
    let (user, app) = (world.sign_up().await, world.app().first_party().register());
    Fixture {
        browser: user.browser(),
        user,
        app,
    }
}

/// Exchanges the code concurrently. Returns the tokens of the successful requests.
async fn exchange_concurrently(fixture: &Fixture, grant: &Grant) -> Vec<Tokens> {
    let (app, anyone) = (fixture.app.clone(), fixture.user.anonymous());
    let replies = run_concurrently(CALLERS, |_| app.exchange(&anyone, grant).into_future()).await;
    let (won, lost): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status == 200);
    assert_eq!(status_counts(&lost), [(400, CALLERS - won.len())].into());
    won.into_iter().map(Tokens::parse).collect()
}

async fn concurrent_exchanges_of_a_code_issue_tokens_once(world: World) {
    let mut fixture = fixture(&world).await;
    for round in 0..ROUNDS {
        let grant = fixture
            .app
            .authorize(&mut fixture.browser, &fixture.user, "posts:read")
            .await;
        let won = exchange_concurrently(&fixture, &grant).await;
        assert_eq!(won.len(), 1, "round {round}");
        // The others were valid reuses of the code, so its tokens are revoked.
        won[0].expect_revoked(&world, &fixture.app).await;
    }
}

async fn concurrent_refreshes_rotate_once(world: World) {
    let fixture = fixture(&world).await;
    let (app, anyone) = (&fixture.app, world.anyone());
    for round in 0..ROUNDS {
        let first = app.tokens(&fixture.user, "posts:read").await;
        let replies = run_concurrently(CALLERS, |_| app.refresh(&anyone, &first.refresh).into_future()).await;
        let (won, lost): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status == 200);
        assert_eq!(won.len(), 1, "round {round}");
        assert_eq!(status_counts(&lost), [(400, CALLERS - 1)].into(), "round {round}");
        // The others were replays, so the family is revoked.
        let won = Tokens::parse(won.into_iter().next().unwrap());
        won.expect_revoked(&world, app).await;
    }
}

on_every_shape!(
    concurrent_exchanges_of_a_code_issue_tokens_once,
    concurrent_refreshes_rotate_once
);
