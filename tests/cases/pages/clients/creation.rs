//! The creation of an app on a page, with its review.

use super::super::{expect_words, post};
use super::{NEW, PATH, path_of};
use serde_json::json;
use tests::{Browser, Page, SharedWorld, on_every_shape};

/// Creates an app by the form and its review.
async fn create(browser: &mut Browser, fields: &[(&str, &str)]) -> Page {
    let form = browser.open(NEW).await;
    expect_words(&form, 200, "Type of the app");
    for words in [
        "for the users who sign in. It authenticates by keys of its own (recommended)",
        "not for a user. It authenticates by keys of its own (recommended)",
        "Recommended for a web app or a service, because no secret can leak",
    ] {
        expect_words(&form, 200, words);
    }
    let review = post(browser, &form, NEW, fields).await;
    expect_words(&review, 200, "Create this app?");
    if let Some((_, keys)) = fields.iter().find(|(name, _)| *name == "keys") {
        expect_words(&review, 200, &format!("Public keys {keys}"));
    }
    let id = review.hidden("id").unwrap();
    expect_words(&review, 200, &format!("clients create --id={id} --name="));
    expect_words(&review, 200, &format!("\"id\":\"{id}\""));
    let names = [
        "type",
        "name",
        "redirect_uris",
        "keys",
        "scope",
        "first_party",
        "id",
    ];
    // As in a form with a check box, `first_party` is sent only for an app of the service.
    let values = names.map(|name| (name, review.hidden(name).unwrap_or_default()));
    let mut fields: Vec<(&str, &str)> = values
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let edited = post(
        browser,
        &review,
        NEW,
        &[&fields[..], &[("step", "edit")]].concat(),
    )
    .await;
    expect_words(&edited, 200, "Type of the app");
    fields.push(("step", "create"));
    let created = post(browser, &review, NEW, &fields).await;
    // The form that is sent again, by a reload, creates no other app.
    let again = post(browser, &review, NEW, &fields).await;
    assert_eq!(again.reply.status, 409, "{}", again.reply);
    created
}

async fn an_administrator_creates_apps(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let mut browser = admin.browser();
    let fields = [
        ("type", "web"),
        ("name", "A shop"),
        (
            "redirect_uris",
            "https://shop.test/cb\r\n\r\n https://shop.test/other ",
        ),
        ("scope", "posts:read"),
    ];
    let created = create(&mut browser, &fields).await;
    expect_words(&created, 200, "The app is created");
    let [id, secret] = created.copied().try_into().unwrap();
    let stored = admin.get(&format!("{PATH}/{id}")).await.expect(200).json();
    assert_eq!(stored["redirect_uris"][1], "https://shop.test/other");
    assert_eq!(stored["first_party"], false);
    let mut app = world.app().kind("web").register();
    app.id = id;
    app.secret = Some(secret.clone());
    "https://shop.test/cb".clone_into(&mut app.redirect_uri);
    app.tokens(&user, "posts:read").await;
    let page = browser.open(&path_of(&app)).await;
    expect_words(&page, 200, "Users who gave this app access: 1 .");
    expect_words(&page, 200, "https://shop.test/other");
    assert!(!page.reply.text().contains(&secret), "{}", page.reply);
    // A public app has no secret.
    let fields = [
        ("type", "spa"),
        ("name", "A page"),
        ("redirect_uris", "https://page.test/cb"),
        ("scope", "posts:read"),
        ("first_party", "yes"),
    ];
    let created = create(&mut browser, &fields).await;
    assert_eq!(created.copied().len(), 1, "{}", created.reply);
    expect_words(&created, 200, "The app has no secret.");
    // An app with keys of its own has none either.
    let keys = "https://worker.example.org/jwks.json";
    let fields = [
        ("type", "service"),
        ("name", "A worker"),
        ("scope", "posts:read"),
        ("keys", keys),
    ];
    let created = create(&mut browser, &fields).await;
    expect_words(&created, 200, "The app authenticates by its own keys");
    let [id] = created.copied().try_into().unwrap();
    let stored = admin.get(&format!("{PATH}/{id}")).await.expect(200).json();
    assert_eq!(stored["jwks_uri"], keys);
    assert_eq!(stored["secrets"], json!([]));
}

async fn a_form_that_is_refused_keeps_what_was_typed(world: SharedWorld) {
    let admin = world.user_with_role("admin").await;
    let mut browser = admin.browser();
    let form = browser.open(NEW).await;
    let callback = "https://app.test/cb";
    for (kind, uris, scope, words, wrong) in [
        ("", callback, "posts:read", "Choose the type of the app.", ""),
        (
            "web",
            "http://app.test/cb",
            "posts:read",
            "redirect URI \"http://app.test/cb\"",
            "redirect_uris",
        ),
        (
            "web",
            "http://app.test/cb\nhttps://app.test/cb\nhttps://app.test/cb#top",
            "posts:read",
            "localhost only; redirect URI \"https://app.test/cb#top\": it may have no fragment",
            "redirect_uris",
        ),
        ("spa", "", "posts:read", "1 to 20 redirect URIs", "redirect_uris"),
        (
            "service",
            callback,
            "posts:read",
            "The app cannot be created like this.",
            "redirect_uris",
        ),
        ("spa", callback, "posts:fly", "the scope has an", "scope"),
        (
            "service",
            "",
            "openid",
            "a service cannot have the scopes openid",
            "scope",
        ),
    ] {
        let fields = [
            ("type", kind),
            ("name", "Some typed name"),
            ("redirect_uris", uris),
            ("scope", scope),
        ];
        let refused = post(&mut browser, &form, NEW, &fields).await;
        expect_words(&refused, 422, words);
        let html = refused.reply.text();
        assert!(html.contains("Some typed name") && html.contains(scope), "{html}");
        assert_eq!(refused.wrong_fields().concat(), wrong, "{html}");
        let has_reason = html.contains(" <span lang=\"en\">");
        assert_eq!(has_reason, !kind.is_empty(), "{html}");
    }
    let fields = [
        ("type", "web"),
        ("name", " "),
        ("redirect_uris", callback),
        ("scope", "posts:read"),
    ];
    let refused = post(&mut browser, &form, NEW, &fields).await;
    expect_words(&refused, 422, "the name must have 1 to 100 printable characters");
    assert_eq!(refused.wrong_fields(), ["name"], "{}", refused.reply);
    for (kind, keys, wrong) in [
        ("service", "http://keys.test/jwks", "keys"),
        ("service", "{\"keys\":", "keys"),
        ("service", "{\"keys\":[]}", "keys"),
        ("spa", "https://keys.test/jwks", "keys"),
    ] {
        let uris = if kind == "spa" { callback } else { "" };
        let fields = [
            ("type", kind),
            ("name", "An app with keys"),
            ("redirect_uris", uris),
            ("keys", keys),
            ("scope", "posts:read"),
        ];
        let refused = post(&mut browser, &form, NEW, &fields).await;
        expect_words(&refused, 422, "The app cannot be created like this.");
        assert_eq!(refused.wrong_fields().concat(), wrong, "{}", refused.reply);
    }
    for (keys, words, is_repeated) in [
        (
            r#"{ "keys": [{ "kty": "EC", "d": "typed-key" }] }"#,
            "is private: register the public key only",
            false,
        ),
        (r#"{ "kty": "EC", "d": "typed-key" }"#, "", false),
        (
            r#"[{"kty":"EC","x5u":"https://a.test/","d":"typed-key"}]"#,
            "",
            false,
        ),
        (r#""keys":[{"kid":"https://a.test/","d":"typed-key"}]"#, "", false),
        (
            "\u{feff}{\"keys\":[{\"kid\":\"https://a.test/\",\"d\":\"typed-key\"}]}",
            "",
            false,
        ),
        (
            r#"{ "keys": [{ "kty": "EC", "d": "typed-key" },] }"#,
            "the JWK set:",
            false,
        ),
        (
            "-----BEGIN PRIVATE KEY-----\r\ntyped-key\r\n-----END PRIVATE KEY-----",
            "must be a JWK set, or the URL of one",
            false,
        ),
        (r#"{ "keys": [{ "kty": "typed-key" }] }"#, "", true),
        ("http://keys.test/typed-key", "the URL of the keys", true),
    ] {
        let fields = [
            ("type", "service"),
            ("name", "An app with keys"),
            ("scope", "posts:read"),
            ("keys", keys),
        ];
        let refused = post(&mut browser, &form, NEW, &fields).await;
        expect_words(&refused, 422, words);
        let html = refused.reply.text();
        assert_eq!(html.contains("typed-key"), is_repeated, "{html}");
    }
}

on_every_shape!(
    an_administrator_creates_apps,
    a_form_that_is_refused_keeps_what_was_typed,
);
