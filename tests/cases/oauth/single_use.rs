//! One code and one refresh token against fifty callers at once, two hundred times.

use tests::{App, Browser, Grant, Person, Tokens, World, all_at_once, counts, on_every_shape};

const CALLERS: usize = 50;
const ROUNDS: usize = 200;

struct Cast {
    person: Person,
    browser: Browser,
    app: App,
}

async fn cast(world: &World) -> Cast {
    let (person, app) = (world.sign_up().await, world.app().first_party().register());
    Cast {
        browser: person.browser(),
        person,
        app,
    }
}

/// Everybody exchanges the code at once: whoever got tokens.
async fn exchange_at_once(cast: &Cast, grant: &Grant) -> Vec<Tokens> {
    let (app, anyone) = (cast.app.clone(), cast.person.anonymous());
    let replies = all_at_once(CALLERS, |_| app.exchange(&anyone, grant).into_future()).await;
    let (won, lost): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status == 200);
    assert_eq!(counts(&lost), [(400, CALLERS - won.len())].into());
    won.into_iter().map(Tokens::of).collect()
}

async fn one_code_gives_tokens_once(world: World) {
    let mut cast = cast(&world).await;
    for round in 0..ROUNDS {
        let grant = cast
            .app
            .authorize(&mut cast.browser, &cast.person, "posts:read")
            .await;
        let won = exchange_at_once(&cast, &grant).await;
        assert_eq!(won.len(), 1, "round {round}");
        // The others were valid second exchanges: what the first gave is dead.
        won[0].expect_dead(&world, &cast.app).await;
    }
}

async fn one_refresh_token_is_rotated_once(world: World) {
    let cast = cast(&world).await;
    let (app, anyone) = (&cast.app, world.anyone());
    for round in 0..ROUNDS {
        let first = app.tokens(&cast.person, "posts:read").await;
        let replies = all_at_once(CALLERS, |_| app.refresh(&anyone, &first.refresh).into_future()).await;
        let (won, lost): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status == 200);
        assert_eq!(won.len(), 1, "round {round}");
        assert_eq!(counts(&lost), [(400, CALLERS - 1)].into(), "round {round}");
        // The others were replays: the family is dead.
        let won = Tokens::of(won.into_iter().next().unwrap());
        won.expect_dead(&world, app).await;
    }
}

on_every_shape!(one_code_gives_tokens_once, one_refresh_token_is_rotated_once);
