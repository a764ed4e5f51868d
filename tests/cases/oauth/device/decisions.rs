//! The pages on which a user enters the code of a device and decides.

use super::{MINUTE, SCOPE, native, user_and_app};
use std::time::Duration;
use tests::{
    Browser, Device, Page, Reply, Shape, SharedWorld, Tokens, World, on_every_shape, run_concurrently,
};

/// Expects that the device still waits for a decision.
async fn expect_waiting(world: &World, device: &Device) {
    let reply = device.poll(&world.anyone()).await.expect(400);
    let error = reply.json()["error"].clone();
    assert!(
        error == "authorization_pending" || error == "slow_down",
        "{reply}"
    );
}

fn expect_confirmation(page: &Page) {
    assert_eq!(page.reply.status, 200, "{}", page.reply);
    assert!(page.asks_for("decision"), "{}", page.reply);
    page.expect_page_within_origin();
}

async fn the_page_shows_the_request_and_asks(shape: Shape) {
    let world = World::builder(shape)
        .flag("--trusted-proxies", "127.0.0.1")
        .clock()
        .start()
        .await;
    let (user, third_party) = user_and_app(&world).await;
    let ours = world
        .app()
        .kind("native")
        .option(&["--device"])
        .first_party()
        .register();
    let on_server = world.app().kind("web").option(&["--device"]).register();
    let elsewhere = world.anyone().with("x-forwarded-for", "203.0.113.7");
    for (app, owner) in [
        (third_party, "belongs to a third party"),
        (ours, "belongs to this service"),
        (on_server, "a server of the app"),
    ] {
        let device = app.device(&elsewhere, SCOPE).await;
        world.advance(2 * MINUTE);
        let mut browser = user.browser();
        // The link fills in the code, and neither looks it up nor decides.
        let page = browser.open(&device.complete_uri).await;
        assert!(page.reply.text().contains(&device.user_code), "{}", page.reply);
        assert!(!page.visible_text().contains("Some App"), "{}", page.reply);
        assert!(
            page.asks_for("user_code") && !page.asks_for("decision"),
            "{}",
            page.reply
        );
        expect_waiting(&world, &device).await;

        let csrf = page.hidden("csrf").unwrap();
        let page = browser.submit(&page, &[("csrf", &csrf)]).await;
        expect_confirmation(&page);
        let words = page.visible_text();
        for expected in [
            "Some App",
            "203.0.113.7",
            "2 minutes ago",
            "posts:read",
            "profile:read",
            &user.email,
            &device.user_code,
            owner,
        ] {
            assert!(words.contains(expected), "{expected} is not on the page: {words}");
        }
        assert!(!words.contains("posts:write"), "{words}");
        expect_waiting(&world, &device).await;
        let page = browser.submit(&page, &[("decision", "allow")]).await;
        assert_eq!(page.reply.status, 200, "{}", page.reply);
        Tokens::parse(device.poll(&world.anyone()).await);
    }
}

async fn a_code_may_be_typed_in_any_form(world: SharedWorld) {
    let (user, app) = user_and_app(&world).await;
    let device = app.device(&world.anyone(), SCOPE).await;
    let (left, right) = device.user_code.split_once('-').unwrap();
    let mut browser = user.browser();
    for typed in [
        device.user_code.to_lowercase(),
        format!("{left}{right}"),
        format!(" {left} {right} "),
        format!("{left}–{right}."),
    ] {
        expect_confirmation(&browser.enter_user_code(&typed).await);
    }
    for typed in [
        "",
        "AEIO-AEIO",
        left,
        &format!("{left}-{right}X"),
        "<script>",
        "\u{feff}",
    ] {
        let page = browser.enter_user_code(typed).await;
        assert_eq!(page.reply.status, 422, "{}", page.reply);
        assert!(page.asks_for("user_code"), "{}", page.reply);
        assert!(!page.reply.text().contains("<script>"), "{}", page.reply);
    }
    // A link with anything but a code fills in nothing.
    let page = browser.open("/device?user_code=%22%3E%3Cscript%3E").await;
    assert!(
        page.asks_for("user_code") && page.reply.text().contains(r#"class="user-code" value="""#),
        "{}",
        page.reply
    );
}

async fn a_decision_belongs_to_the_page_and_its_session(world: SharedWorld) {
    let (ann, app) = user_and_app(&world).await;
    let bob = world.user().await;
    let device = app.device(&world.anyone(), SCOPE).await;
    let mut browser = ann.browser();
    let page = browser.enter_user_code(&device.user_code).await;
    let request = page.hidden("request").unwrap();

    // The page in another session, of another user or of the same one.
    let again = world.log_in(&ann.email, &ann.password).await;
    for other in [&bob, &again] {
        let mut browser = other.browser();
        let own = browser.enter_user_code(&device.user_code).await;
        let taken = browser
            .submit(&own, &[("request", &request), ("decision", "allow")])
            .await;
        assert_eq!(taken.reply.status, 400, "{}", taken.reply);
    }
    for forged in ["", "x", &format!("{request}x"), &device.user_code, &request[..40]] {
        let page = browser
            .submit(&page, &[("request", forged), ("decision", "allow")])
            .await;
        assert_eq!(page.reply.status, 400, "{}", page.reply);
    }
    for decision in ["", "yes"] {
        let page = browser.submit(&page, &[("decision", decision)]).await;
        assert_eq!(page.reply.status, 400, "{}", page.reply);
    }
    for form in [
        [("decision", "allow"), ("csrf", "forged")],
        [("csrf", ""), ("decision", "allow")],
    ] {
        let page = browser.submit(&page, &form).await;
        assert_eq!(page.reply.status, 403, "{}", page.reply);
    }
    // Without a session, the browser is sent to sign in.
    let mut signed_out = world.browser();
    signed_out.set_cookie("csrf", browser.cookie("csrf").unwrap());
    for (action, field) in [
        ("/device", ("user_code", device.user_code.as_str())),
        ("/device/confirmation", ("decision", "allow")),
    ] {
        let csrf = ("csrf".to_owned(), page.hidden("csrf").unwrap());
        let fields = [
            csrf,
            (field.0.to_owned(), field.1.to_owned()),
            ("request".to_owned(), request.clone()),
        ];
        let page = signed_out.post(&page.url.join(action).unwrap(), &fields).await;
        assert_eq!(page.location().unwrap().path(), "/signin", "{}", page.reply);
    }
    expect_waiting(&world, &device).await;

    // A session that ended meanwhile decides nothing.
    let mut ending = again.browser();
    let shown = ending.enter_user_code(&device.user_code).await;
    again.post("/logout").await.expect(204);
    let ended = ending.submit(&shown, &[("decision", "allow")]).await;
    assert_eq!(ended.location().unwrap().path(), "/signin", "{}", ended.reply);
    expect_waiting(&world, &device).await;
    // The first decision counts.
    for (decision, status) in [("deny", 200), ("allow", 400), ("deny", 400)] {
        let page = browser.submit(&page, &[("decision", decision)]).await;
        assert_eq!(page.reply.status, status, "{}", page.reply);
    }
    device
        .poll(&world.anyone())
        .await
        .expect_token_error(400, "access_denied");
}

async fn one_of_concurrent_decisions_counts(world: SharedWorld) {
    const BROWSERS: usize = 8;
    let (user, app) = user_and_app(&world).await;
    for _ in 0..10 {
        let device = app.device(&world.anyone(), SCOPE).await;
        let mut browser = user.browser();
        let page = browser.enter_user_code(&device.user_code).await;
        let decision = |n: usize| if n.is_multiple_of(2) { "allow" } else { "deny" };
        let decide = |n: usize| {
            browser
                .submit_call(&page, &[("decision", decision(n))])
                .into_future()
        };
        let replies: Vec<Reply> = run_concurrently(BROWSERS, decide).await;
        let won: Vec<usize> = (0..BROWSERS).filter(|n| replies[*n].status == 200).collect();
        assert_eq!(won.len(), 1, "{replies:?}");
        let reply = device.poll(&world.anyone()).await;
        match decision(won[0]) {
            "allow" => drop(Tokens::parse(reply)),
            _ => drop(reply.expect_token_error(400, "access_denied")),
        }
    }
}

/// A code that no device displays. It has all letters that a code may have.
fn wrong_code(n: usize) -> String {
    let letters: Vec<char> = "BCDFGHJKLMNPQRSTVWXZ".chars().collect();
    (0..8)
        .map(|place| letters[(n / 20_usize.pow(place) + 7) % 20])
        .collect()
}

async fn guesses_are_limited(shape: Shape) {
    let world = World::builder(shape)
        .flag("--trusted-proxies", "127.0.0.1")
        .clock()
        .start()
        .await;
    let (ann, app) = user_and_app(&world).await;
    let bob = world.user().await;
    let device = app.device(&world.anyone(), SCOPE).await;
    let mut browser = ann.browser();
    let page = browser.open("/device").await;
    // A flood does not find more than ten codes wrong.
    let flood = run_concurrently(60, |n| {
        let code = wrong_code(n);
        browser
            .submit_call(&page, &[("user_code", code.as_str())])
            .may_fail()
            .into_future()
    })
    .await;
    let mut wrong = flood.iter().filter(|reply| reply.status == 422).count();
    for n in 60.. {
        let code = wrong_code(n);
        match browser
            .submit_call(&page, &[("user_code", code.as_str())])
            .may_fail()
            .await
            .status
        {
            422 => wrong += 1,
            429 => break,
            status => assert_eq!(status, 503),
        }
    }
    assert!((1..=10).contains(&wrong), "{wrong} guesses");
    // Then the right code is not looked up either, for the user anywhere and for anybody in the network.
    let submit = async |browser: &Browser, address: &str| {
        let call = browser.submit_call(&page, &[("user_code", &device.user_code)]);
        call.header("x-forwarded-for", address).await
    };
    let (mut other, elsewhere) = (bob.browser(), "203.0.113.9");
    other.set_cookie("csrf", browser.cookie("csrf").unwrap());
    for (browser, address) in [
        (&browser, "127.0.0.1"),
        (&browser, elsewhere),
        (&other, "127.0.0.1"),
    ] {
        let reply = submit(browser, address).await.expect(429);
        let seconds: u64 = reply.header("retry-after").parse().unwrap();
        assert!((1..=900).contains(&seconds), "{reply}");
    }
    submit(&other, elsewhere).await.expect(200);
    world.advance(15 * MINUTE + Duration::from_secs(1));
    let device = native(&world).device(&world.anyone(), SCOPE).await;
    expect_confirmation(&browser.enter_user_code(&device.user_code).await);
}

on_every_shape!(
    the_page_shows_the_request_and_asks,
    a_code_may_be_typed_in_any_form,
    a_decision_belongs_to_the_page_and_its_session,
    one_of_concurrent_decisions_counts,
    guesses_are_limited,
);
