//! `clients disable` and `clients enable`.

use super::{at_each_issuer, clients, expect_token_error_soon};
use serde_json::json;
use storage::{fetch_all, fetch_one};
use tests::{SharedWorld, Tokens, eventually, on_every_shape, run_concurrently};

async fn disabling_a_client_ends_its_tokens_of_all_users(world: SharedWorld) {
    let (ann, app) = world.user_and_app().await;
    let (bob, other) = (world.user().await, world.app().register());
    let mut ended = vec![app.tokens(&ann, "posts:read").await];
    ended.push(app.tokens(&ann, "posts:read").await);
    ended.push(app.tokens(&bob, "posts:read").await);
    ended[0] = Tokens::parse(app.refresh(&world.anyone(), &ended[0].refresh).await);
    let kept = other.tokens(&ann, "posts:read").await;
    clients(&world, "disable", &app, &[]);
    for tokens in &ended {
        world.expect_revoked_soon(&tokens.access).await;
    }
    for tokens in &ended {
        expect_token_error_soon(&world, 401, "invalid_client", |issuer| {
            app.refresh(issuer, &tokens.refresh)
        })
        .await;
    }
    world.expect_accepted(&kept.access).await;
    other.refresh(&world.anyone(), &kept.refresh).await.expect(200);
    let query = "SELECT name, detail FROM security_events
                 WHERE client_id = $1 AND name IN ('client_disabled', 'authn_token_revoked') ORDER BY id";
    let db = world.db().await;
    let events = fetch_all!(db.reader(), (String, Option<String>), query, app.id.as_str()).unwrap();
    let expected = [
        ("authn_token_revoked".to_owned(), Some("all grants".to_owned())),
        ("client_disabled".to_owned(), None),
    ];
    assert_eq!(events, expected);
}

async fn a_disabled_client_neither_begins_flows_nor_authenticates(world: SharedWorld) {
    let user = world.user().await;
    let (app, other) = (
        world.app().kind("web").register(),
        world.app().kind("web").register(),
    );
    let of_other = other.tokens(&user, "posts:read").await;
    let token = [("token", of_other.access.as_str())];
    let mut browser = user.browser();
    let grant = app.authorize(&mut browser, &user, "posts:read").await;
    app.client_call(&world.anyone(), "/introspect", &token)
        .await
        .expect(200);
    clients(&world, "disable", &app, &[]);
    expect_token_error_soon(&world, 401, "invalid_client", |issuer| {
        app.exchange(issuer, &grant)
    })
    .await;
    for path in ["/introspect", "/revoke"] {
        for issuer in at_each_issuer(&world) {
            let reply = app.client_call(&issuer, path, &token).await;
            reply.expect_token_error(401, "invalid_client");
        }
    }
    // A token request has brought each issuer process up to date.
    let page = app.authorization().expect_error_page(&world).await;
    assert!(page.visible_text().contains("disabled"), "{}", page.reply);
    world.expect_accepted(&of_other.access).await;
}

/// An issuer keeps a client in memory for a second. Afterwards `/authorize` knows by itself, without a token
/// request of the client.
async fn authorization_requests_of_a_disabled_client_end_on_an_error_page(world: SharedWorld) {
    const REQUESTS: usize = 4;
    let (user, app) = world.user_and_app().await;
    let status = async || {
        let path = app.authorization().path();
        let (page, signed_in) = (
            world.browser().open(&path).await,
            user.browser().open(&path).await,
        );
        assert_eq!(page.reply.status, signed_in.reply.status, "{}", page.reply);
        page.reply.status
    };
    // The issuers take turns, so each of them has the enabled client in memory.
    for _ in 0..REQUESTS {
        assert_eq!(status().await, 303);
    }
    clients(&world, "disable", &app, &[]);
    eventually("a disabled client begins flows", async || {
        for _ in 0..REQUESTS {
            if world
                .browser()
                .open(&app.authorization().path())
                .await
                .reply
                .status
                != 400
            {
                return false;
            }
        }
        true
    })
    .await;
    assert_eq!(status().await, 400);
}

/// The consent page was open when the client was disabled.
async fn a_user_cannot_consent_to_a_disabled_client(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let mut browser = user.browser();
    let consent = browser
        .open(&app.authorization().path())
        .await
        .location()
        .unwrap();
    let page = browser.open(consent.as_str()).await;
    clients(&world, "disable", &app, &[]);
    expect_token_error_soon(&world, 401, "invalid_client", |issuer| app.refresh(issuer, "any")).await;
    let page = browser.submit(&page, &[("decision", "allow")]).await;
    assert_eq!(page.reply.status, 400, "{}", page.reply);
    page.expect_page_within_origin();
    let query = "SELECT COUNT(*) FROM authorization_codes WHERE client_id = $1";
    let codes = fetch_one!(world.db().await.reader(), (i64,), query, app.id.as_str());
    assert_eq!(codes.unwrap(), (0,));
}

async fn enabling_a_client_does_not_revive_what_ended(world: SharedWorld) {
    let user = world.user().await;
    let (app, server) = (world.app().register(), world.app().kind("web").register());
    let tokens = app.tokens(&user, "posts:read").await;
    let grant = app.authorize(&mut user.browser(), &user, "posts:read").await;
    clients(&world, "disable", &app, &[]);
    world.expect_revoked_soon(&tokens.access).await;
    expect_token_error_soon(&world, 401, "invalid_client", |issuer| {
        app.refresh(issuer, &tokens.refresh)
    })
    .await;
    clients(&world, "enable", &app, &[]);
    expect_token_error_soon(&world, 400, "invalid_grant", |issuer| {
        app.refresh(issuer, &tokens.refresh)
    })
    .await;
    let anyone = world.anyone();
    app.exchange(&anyone, &grant)
        .await
        .expect_token_error(400, "invalid_grant");
    world.expect_revoked(&tokens.access).await;
    for token in [&tokens.access, &tokens.refresh] {
        let reply = server
            .client_call(&anyone, "/introspect", &[("token", token)])
            .await;
        assert_eq!(reply.expect(200).json(), json!({ "active": false }));
    }
    let fresh = app.tokens(&user, "posts:read").await;
    world.expect_accepted(&fresh.access).await;
    app.refresh(&anyone, &fresh.refresh).await.expect(200);
}

/// Exchanges and refreshes are running while the client is disabled. Whichever come first, no token survives.
async fn no_token_escapes_a_concurrent_disabling(world: SharedWorld) {
    const GRANTS: usize = 12;
    let (user, app) = world.user_and_app().await;
    let anyone = world.anyone();
    let mut browser = user.browser();
    for _ in 0..3 {
        let (mut grants, mut families) = (Vec::new(), Vec::new());
        for _ in 0..GRANTS {
            families.push(app.tokens(&user, "posts:read").await);
            grants.push(app.authorize(&mut browser, &user, "posts:read").await);
        }
        let disabling = async {
            let disable = world.spawn(&["clients", "disable", &app.id]);
            tokio::task::spawn_blocking(move || disable.wait_with_output().unwrap()).await
        };
        let calls = run_concurrently(2 * GRANTS, |n| match n % 2 {
            0 => app.exchange(&anyone, &grants[n / 2]).into_future(),
            _ => app.refresh(&anyone, &families[n / 2].refresh).into_future(),
        });
        let (disabled, replies) = tokio::join!(disabling, calls);
        let disabled = disabled.unwrap();
        assert!(disabled.status.success(), "{disabled:?}");
        clients(&world, "enable", &app, &[]);
        expect_token_error_soon(&world, 400, "invalid_grant", |issuer| {
            app.refresh(issuer, &families[0].refresh)
        })
        .await;
        let issued = replies.into_iter().filter(|reply| reply.status == 200);
        for tokens in issued.map(Tokens::parse).chain(families) {
            world.expect_revoked_soon(&tokens.access).await;
            let reply = app.refresh(&anyone, &tokens.refresh).await;
            reply.expect_token_error(400, "invalid_grant");
        }
        for grant in &grants {
            app.exchange(&anyone, grant)
                .await
                .expect_token_error(400, "invalid_grant");
        }
    }
}

async fn commands_tell_whether_a_client_is_disabled(world: SharedWorld) {
    let app = world.app().register();
    let shown = clients(&world, "show", &app, &[]);
    assert_eq!(shown["disabled_at"], json!(null));
    let disabled = clients(&world, "disable", &app, &[]);
    assert!(disabled["disabled_at"].is_string(), "{disabled}");
    // Disabling again changes nothing.
    for command in ["disable", "show"] {
        assert_eq!(clients(&world, command, &app, &[]), disabled, "{command}");
    }
    let all = world.cli(&["clients", "list", "--json"], "");
    assert!(all.as_array().unwrap().contains(&disabled), "{all}");
    let text = |command: &[&str]| String::from_utf8(world.run(command, "").stdout).unwrap();
    let line = format!("{}  Some App", app.id);
    assert!(text(&["clients", "list"]).contains(&format!("{line}  disabled\n")));
    assert!(text(&["clients", "show", &app.id]).contains("\ndisabled: "));
    for command in ["enable", "enable", "show"] {
        assert_eq!(clients(&world, command, &app, &[]), shown, "{command}");
    }
    assert!(text(&["clients", "list"]).contains(&format!("{line}\n")));
    let query = "SELECT name FROM security_events WHERE client_id = $1 ORDER BY id";
    let events = fetch_all!(world.db().await.reader(), (String,), query, app.id.as_str()).unwrap();
    let events: Vec<&str> = events.iter().map(|(name,)| name.as_str()).collect();
    assert_eq!(events, ["client_created", "client_disabled", "client_enabled"]);
    for command in ["disable", "enable", "show"] {
        let refused = world.run(&["clients", command, "no-such-app"], "");
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        let message = String::from_utf8(refused.stderr).unwrap();
        assert!(message.contains("no client has the id"), "{message}");
    }
}

on_every_shape!(
    disabling_a_client_ends_its_tokens_of_all_users,
    a_disabled_client_neither_begins_flows_nor_authenticates,
    authorization_requests_of_a_disabled_client_end_on_an_error_page,
    a_user_cannot_consent_to_a_disabled_client,
    enabling_a_client_does_not_revive_what_ended,
    no_token_escapes_a_concurrent_disabling,
    commands_tell_whether_a_client_is_disabled,
);
