//! CSRF protection: ambient credentials alone change nothing.

use serde_json::{Value, json};
use tests::{Call, Caller, PASSWORD, Post, Shape, SharedWorld, User, World, on_every_shape};

/// Every mutating operation with a valid body.
fn mutations(caller: &Caller, user: &User, post: &Post) -> Vec<Call> {
    vec![
        caller.post("/posts").json(&json!({ "title": "Forged" })),
        caller
            .patch(&post.path)
            .header("if-match", &post.etag)
            .json(&json!({ "title": "Forged" })),
        caller.delete(&post.path),
        caller.post(&post.comments()).json(&json!({ "body": "Forged" })),
        caller.delete(&format!("{}/1", post.comments())),
        caller
            .call("PUT", "/me/password")
            .json(&json!({ "current_password": PASSWORD, "new_password": "forged password" })),
        caller
            .post("/login")
            .json(&json!({ "email": user.email, "password": PASSWORD })),
        caller
            .post("/users")
            .json(&json!({ "email": "forged@example.org", "password": PASSWORD })),
        caller.payment("forged", &json!({ "amount": 1, "currency": "EUR" })),
        caller.post("/payments/pay_x/captures").key("forged"),
        caller.post("/payments/pay_x/cancellations").key("forged"),
        caller.post("/payments/pay_x/refunds").key("forged"),
        caller.post("/logout"),
    ]
}

/// Expects that every mutation by this caller is rejected without effect.
async fn expect_rejected(world: &World, caller: &Caller, user: &User, post: &Post) {
    for call in mutations(caller, user, post) {
        let reply = call.await.expect_error(403, "csrf_mismatch");
        assert!(reply.set_cookie("sid").is_none(), "{reply}");
    }
    let still = user.get(&post.path).await.expect(200);
    assert_eq!(still.header("etag"), post.etag);
    let all = user
        .get(&format!("/posts?author_id={}", user.id))
        .await
        .expect(200)
        .json();
    assert_eq!(all["items"].as_array().map(Vec::len), Some(1), "{all}");
    let comments = user.get(&post.comments()).await.expect(200).json();
    assert_eq!(comments["items"], json!([]));
    let payments = user.get("/payments").await.expect(200).json();
    assert_eq!(payments["items"], json!([]));
    let users = world.cli(&["users", "list", "--json"], "");
    assert!(
        users
            .as_array()
            .unwrap()
            .iter()
            .all(|user| user["email"] != "forged@example.org")
    );
    world.log_in(&user.email, PASSWORD).await;
}

async fn header_and_cookie_must_carry_the_same_token(world: SharedWorld) {
    let user = world.user().await;
    let post = user.publish("A post").await;
    let (sid, csrf) = (format!("sid={}", user.sid), &user.csrf);
    let anyone = world.anyone();
    let wrong = foundation::random::uuid();
    for caller in [
        anyone.cookies(&sid),
        anyone.cookies(&format!("{sid}; csrf={csrf}")),
        anyone.cookies(&sid).with("x-csrf-token", csrf),
        anyone
            .cookies(&format!("{sid}; csrf={csrf}"))
            .with("x-csrf-token", &wrong),
        anyone.cookies(&format!("{sid}; csrf=")).with("x-csrf-token", ""),
        anyone
            .cookies(&format!("{sid}; csrf={csrf}; csrf={csrf}"))
            .with("x-csrf-token", csrf),
        anyone
            .cookies(&format!("{sid}; csrf={csrf}; csrf={wrong}"))
            .with("x-csrf-token", csrf),
        anyone
            .cookies(&format!("{sid}; csrf={csrf}"))
            .with("x-csrf-token", csrf)
            .with("x-csrf-token", csrf),
        anyone
            .cookies(&format!("{sid}; csrf={csrf}"))
            .with("x-csrf-token", &csrf[..35]),
        anyone.cookies(&format!("csrf={csrf}")),
    ] {
        // Without a session most mutations answer 401, which takes precedence, so only sign-in is tried.
        let is_signed_in = caller.get("/me").await.status == 200;
        if is_signed_in {
            expect_rejected(&world, &caller, &user, &post).await;
        } else {
            let login = caller
                .post("/login")
                .json(&json!({ "email": user.email, "password": PASSWORD }));
            login.await.expect_error(403, "csrf_mismatch");
        }
    }
}

async fn cross_origin_calls_are_rejected_even_with_the_token(world: SharedWorld) {
    let user = world.user().await;
    let post = user.publish("A post").await;
    for (name, value) in [
        ("origin", "https://evil.test"),
        ("origin", "null"),
        ("origin", ""),
        ("origin", &format!("{}.evil.test", world.base())),
        ("origin", &format!("{}/", world.base())),
        ("origin", &world.base().replace("http:", "https:")),
        ("origin", &world.base().replace("localhost", "127.0.0.1")),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        expect_rejected(&world, &user.with(name, value), &user, &post).await;
    }
    let twice = user
        .with("origin", world.base())
        .with("origin", "https://evil.test");
    expect_rejected(&world, &twice, &user, &post).await;
}

async fn same_origin_calls_are_accepted(world: SharedWorld) {
    let user = world.user().await;
    let body = json!({ "title": "A post" });
    for caller in [
        user.anonymous().session(&user.sid, &user.csrf),
        user.with("origin", world.base()),
        user.with("origin", world.base())
            .with("sec-fetch-site", "same-origin"),
        user.with("sec-fetch-site", "same-origin"),
        user.with("sec-fetch-site", "none"),
    ] {
        caller.post("/posts").json(&body).await.expect(201);
    }
}

/// A browser sends `Origin: null` with the forms of our own pages if a proxy or an extension sets
/// `Referrer-Policy: no-referrer`. Sandboxed pages of anybody send it too, and tell so in `Sec-Fetch-Site`.
async fn forms_of_own_pages_may_come_with_an_opaque_origin(world: SharedWorld) {
    let ann = world.user().await;
    let cookies = format!("csrf={}", ann.csrf);
    let page = world.anyone().cookies(&cookies).with("origin", "null");
    let sign_in = |caller: &Caller| {
        let fields = [
            ("email", ann.email.as_str()),
            ("password", PASSWORD),
            ("csrf", &ann.csrf),
        ];
        caller.post("/signin").form(&fields)
    };
    for site in [
        "cross-site",
        "same-site",
        "none",
        "Same-Origin",
        "same-origin, same-origin",
    ] {
        sign_in(&page.with("sec-fetch-site", site)).await.expect(403);
    }
    sign_in(&page).await.expect(403);
    let own = page.with("sec-fetch-site", "same-origin");
    let with_origin = |cookies: &str, origin: &str| {
        let caller = world.anyone().cookies(cookies).with("origin", origin);
        caller.with("sec-fetch-site", "same-origin")
    };
    let other_token = format!("csrf={}", foundation::random::uuid());
    sign_in(&with_origin(&other_token, "null")).await.expect(403);
    sign_in(&with_origin(&cookies, "https://evil.test"))
        .await
        .expect(403);
    sign_in(&own).await.expect(303);
    // The API has no pages of its own.
    let caller = ann.with("origin", "null").with("sec-fetch-site", "same-origin");
    let post = caller.post("/posts").json(&json!({ "title": "Forged" }));
    post.await.expect_error(403, "csrf_mismatch");
}

/// The pages of an allowed origin call the API. A script that somebody else runs there must not submit the
/// forms of the account pages, which ask for no password.
async fn forms_of_allowed_origins_are_rejected(shape: Shape) {
    const ALLOWED: &str = "https://app.example.org";
    let world = World::builder(shape).flag("--allowed-origins", ALLOWED);
    let world = world.start().await;
    let ann = world.user().await;
    let cookies = format!("sid={}; csrf={}", ann.sid, ann.csrf);
    let user = ann.id.to_string();
    let enrollment = |origin: &str| {
        let caller = world.anyone().cookies(&cookies).with("origin", origin);
        let fields = [("csrf", ann.csrf.as_str()), ("user", &user)];
        caller.post("/account/two-step/enrollment").form(&fields)
    };
    enrollment(ALLOWED).await.expect(403);
    enrollment(world.base()).await.expect(200);
    let post = ann.with("origin", ALLOWED).post("/posts");
    post.json(&json!({ "title": "A post" })).await.expect(201);
}

async fn calls_without_cookies_or_browser_headers_need_no_token(world: SharedWorld) {
    let user = world.user().await;
    let body = json!({ "email": user.email, "password": PASSWORD });
    world.anyone().post("/login").json(&body).await.expect(200);
    for (name, value) in [
        ("origin", "https://evil.test"),
        ("sec-fetch-site", "cross-site"),
        ("cookie", "csrf=x"),
    ] {
        let call = world.anyone().with(name, value).post("/login").json(&body);
        call.await.expect_error(403, "csrf_mismatch");
    }
}

async fn bearer_calls_need_no_token(world: SharedWorld) {
    let user = world.user().await;
    let token = tests::TokenForger::new(&world, &user).await.good();
    let both = world
        .anyone()
        .bearer(&token)
        .with("cookie", &format!("sid={}", user.sid));
    both.post("/posts")
        .json(&json!({ "title": "By bearer" }))
        .await
        .expect(201);
}

async fn the_token_stays_the_same_across_sign_in(world: SharedWorld) {
    let first = world.anyone().get("/csrf").await.expect(200);
    let token = first.json()["token"].as_str().unwrap().to_owned();
    assert_eq!(token.len(), 36, "a UUID");
    assert_eq!(first.cookie("csrf"), token);
    let line = first.set_cookie("csrf").unwrap();
    assert!(
        line.contains("Path=/") && line.contains("SameSite=Lax") && !line.contains("HttpOnly"),
        "{line}"
    );
    assert!(!line.contains("Secure"), "this is plain http: {line}");
    assert_eq!(first.header("cache-control"), "no-store");
    let again = world
        .anyone()
        .cookies(&format!("csrf={token}"))
        .get("/csrf")
        .await
        .expect(200);
    assert_eq!(again.json()["token"], Value::String(token.clone()));
    for broken in [
        "csrf=x",
        "csrf=",
        &format!("csrf={token}; csrf={token}"),
        "csrf=\"><script>",
    ] {
        let new = world
            .anyone()
            .cookies(broken)
            .get("/csrf")
            .await
            .expect(200)
            .json();
        assert_ne!(new["token"], Value::String(token.clone()));
        assert_eq!(new["token"].as_str().map(str::len), Some(36));
    }
    let email = world.user().await.email;
    let browser = world
        .anyone()
        .cookies(&format!("csrf={token}"))
        .with("x-csrf-token", &token);
    let login = browser
        .post("/login")
        .json(&json!({ "email": email, "password": PASSWORD }))
        .await
        .expect(200);
    let caller = world.anyone().session(&login.cookie("sid"), &token);
    caller
        .post("/posts")
        .json(&json!({ "title": "A post" }))
        .await
        .expect(201);
}

async fn json_under_other_media_types_is_rejected(world: SharedWorld) {
    let user = world.user().await;
    let body = json!({ "title": "Forged" }).to_string();
    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
    ] {
        let call = user.post("/posts").body(content_type, body.clone());
        call.await.expect_error(415, "unsupported_media_type");
    }
}

on_every_shape!(
    header_and_cookie_must_carry_the_same_token,
    cross_origin_calls_are_rejected_even_with_the_token,
    same_origin_calls_are_accepted,
    forms_of_allowed_origins_are_rejected,
    forms_of_own_pages_may_come_with_an_opaque_origin,
    calls_without_cookies_or_browser_headers_need_no_token,
    bearer_calls_need_no_token,
    the_token_stays_the_same_across_sign_in,
    json_under_other_media_types_is_rejected,
);
