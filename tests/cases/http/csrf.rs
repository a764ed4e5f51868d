//! Forged requests: what a browser sends along by itself is not enough to change anything.

use serde_json::{Value, json};
use tests::{Call, Caller, PASSWORD, Person, Post, World, on_every_shape};

/// Every call that changes something, by a caller, with a good body.
fn changes(caller: &Caller, person: &Person, post: &Post) -> Vec<Call> {
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
            .json(&json!({ "email": person.email, "password": PASSWORD })),
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

/// Every change by this caller is refused, and nothing has changed.
async fn is_refused(world: &World, caller: &Caller, person: &Person, post: &Post) {
    for call in changes(caller, person, post) {
        let reply = call.await.expect_error(403, "csrf_mismatch");
        assert!(reply.set_cookie("sid").is_none(), "{reply}");
    }
    let still = person.get(&post.path).await.expect(200);
    assert_eq!(still.header("etag"), post.etag);
    let all = person.get("/posts").await.expect(200).json();
    assert_eq!(all["items"].as_array().map(Vec::len), Some(1), "{all}");
    let comments = person.get(&post.comments()).await.expect(200).json();
    assert_eq!(comments["items"], json!([]));
    let payments = person.get("/payments").await.expect(200).json();
    assert_eq!(payments["items"], json!([]));
    let users = world.cli(&["users", "list", "--json"], "");
    assert!(
        users
            .as_array()
            .unwrap()
            .iter()
            .all(|user| user["email"] != "forged@example.org")
    );
    world.log_in(&person.email, PASSWORD).await;
}

async fn the_token_must_come_twice_and_be_the_same(world: World) {
    let person = world.sign_up().await;
    let post = person.publish("A post").await;
    let (sid, csrf) = (format!("sid={}", person.sid), &person.csrf);
    let anyone = world.anyone();
    let wrong = shared::random::uuid();
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
        // Without a session most of these are 401, which comes first.
        let is_signed_in = caller.get("/me").await.status == 200;
        if is_signed_in {
            is_refused(&world, &caller, &person, &post).await;
        } else {
            let login = caller
                .post("/login")
                .json(&json!({ "email": person.email, "password": PASSWORD }));
            login.await.expect_error(403, "csrf_mismatch");
        }
    }
}

async fn a_call_from_elsewhere_is_refused_even_with_the_token(world: World) {
    let person = world.sign_up().await;
    let post = person.publish("A post").await;
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
        is_refused(&world, &person.with(name, value), &person, &post).await;
    }
    let twice = person
        .with("origin", world.base())
        .with("origin", "https://evil.test");
    is_refused(&world, &twice, &person, &post).await;
}

async fn a_call_from_our_own_pages_passes(world: World) {
    let person = world.sign_up().await;
    let body = json!({ "title": "A post" });
    for caller in [
        person.anonymous().session(&person.sid, &person.csrf),
        person.with("origin", world.base()),
        person
            .with("origin", world.base())
            .with("sec-fetch-site", "same-origin"),
        person.with("sec-fetch-site", "same-origin"),
        person.with("sec-fetch-site", "none"),
    ] {
        caller.post("/posts").json(&body).await.expect(201);
    }
}

async fn a_call_with_nothing_ambient_has_nothing_to_forge(world: World) {
    let person = world.sign_up().await;
    let body = json!({ "email": person.email, "password": PASSWORD });
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

async fn a_bearer_needs_no_token_even_beside_a_cookie(world: World) {
    let person = world.sign_up().await;
    let token = tests::Forger::new(&world, &person).await.good();
    let both = world
        .anyone()
        .bearer(&token)
        .with("cookie", &format!("sid={}", person.sid));
    both.post("/posts")
        .json(&json!({ "title": "By bearer" }))
        .await
        .expect(201);
}

async fn the_token_is_given_back_and_outlives_sign_in(world: World) {
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
    let email = world.sign_up().await.email;
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

async fn other_media_types_do_not_slip_json_in(world: World) {
    let person = world.sign_up().await;
    let body = json!({ "title": "Forged" }).to_string();
    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
    ] {
        let call = person.post("/posts").body(content_type, body.clone());
        call.await.expect_error(415, "unsupported_media_type");
    }
}

on_every_shape!(
    the_token_must_come_twice_and_be_the_same,
    a_call_from_elsewhere_is_refused_even_with_the_token,
    a_call_from_our_own_pages_passes,
    a_call_with_nothing_ambient_has_nothing_to_forge,
    a_bearer_needs_no_token_even_beside_a_cookie,
    the_token_is_given_back_and_outlives_sign_in,
    other_media_types_do_not_slip_json_in,
);
