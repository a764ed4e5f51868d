//! Fifty concurrent uses of one code and of one refresh token, two hundred times, and concurrent uses of
//! different ones.

use tests::{
    App, Browser, Grant, Reply, SharedWorld, Tokens, User, World, on_every_shape, run_concurrently,
    status_counts,
};

const CALLERS: usize = 50;
fn rounds() -> usize {
    tests::rounds(15, 200)
}

struct Fixture {
    user: User,
    browser: Browser,
    app: App,
}

async fn fixture(world: &World) -> Fixture {
    let (user, app) = (world.user().await, world.app().first_party().register());
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

async fn concurrent_exchanges_of_a_code_issue_tokens_once(world: SharedWorld) {
    let mut fixture = fixture(&world).await;
    for round in 0..rounds() {
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

async fn concurrent_refreshes_rotate_once(world: SharedWorld) {
    let fixture = fixture(&world).await;
    let (app, anyone) = (&fixture.app, world.anyone());
    for round in 0..rounds() {
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

/// Requests for different codes and refresh tokens share statements. Each gets the tokens of its own grant.
async fn concurrent_grants_of_different_users_do_not_mix(world: SharedWorld) {
    const USERS: usize = 6;
    let (app, other) = (world.app().first_party().register(), world.app().register());
    let mut users = Vec::new();
    for _ in 0..USERS {
        users.push(world.user().await);
    }
    let anyone = world.anyone();
    let expect = |replies: Vec<Reply>, signed_out: Option<usize>| -> Vec<Tokens> {
        let mut right = Vec::new();
        for (n, reply) in replies.into_iter().enumerate() {
            if n % 3 > 0 || Some(n / 3) == signed_out {
                assert_eq!(reply.status, 400, "{reply}");
                continue;
            }
            let tokens = Tokens::parse(reply);
            assert_eq!(tokens.claims()["sub"], users[n / 3].id.to_string());
            right.push(tokens);
        }
        right
    };
    for round in 0..20 {
        let mut grants = Vec::new();
        for user in &users {
            grants.push(app.authorize(&mut user.browser(), user, "posts:read").await);
        }
        // In the last round, the session of one of the codes has ended.
        let signed_out = (round == 19).then_some(2);
        if let Some(n) = signed_out {
            users[n].post("/logout").await.expect(204);
        }
        let wrong_verifier = |grant: &Grant| Grant {
            verifier: "v".repeat(43),
            ..grant.clone()
        };
        let replies = run_concurrently(3 * USERS, |n| {
            let grant = &grants[n / 3];
            match n % 3 {
                0 => app.exchange(&anyone, grant).into_future(),
                1 => app.exchange(&anyone, &wrong_verifier(grant)).into_future(),
                _ => other.exchange(&anyone, grant).into_future(),
            }
        });
        let tokens = expect(replies.await, signed_out);
        if signed_out.is_some() {
            assert_eq!(tokens.len(), USERS - 1);
            break;
        }
        let replies = run_concurrently(3 * USERS, |n| {
            let refresh_token = &tokens[n / 3].refresh;
            match n % 3 {
                0 => app.refresh(&anyone, refresh_token).into_future(),
                1 => other.refresh(&anyone, refresh_token).into_future(),
                _ => app
                    .refresh(&anyone, &refresh_token.replace(".1.", ".2."))
                    .into_future(),
            }
        });
        expect(replies.await, None);
    }
}

on_every_shape!(
    concurrent_grants_of_different_users_do_not_mix,
    concurrent_exchanges_of_a_code_issue_tokens_once,
    concurrent_refreshes_rotate_once
);
