//! The issuer's pages: sign-in and consent, plain HTML forms bound to the browser that began the flow.

use tests::{App, Browser, Page, Person, World, on_every_shape, on_one_process, parameter};

/// Opens the authorization request and follows redirects up to the first page.
async fn first_page(browser: &mut Browser, app: &App, scope: &str) -> Page {
    let mut page = browser
        .open(&app.authorization().set("scope", scope).path())
        .await;
    while let Some(next) = page.location().filter(|next| next.origin() == page.url.origin()) {
        assert_eq!(page.reply.status, 303, "{}", page.reply);
        page = browser.open(next.as_str()).await;
    }
    page
}

/// A signed-in person's consent page.
async fn consent_page(browser: &mut Browser, app: &App, scope: &str) -> Page {
    let page = first_page(browser, app, scope).await;
    assert!(
        page.asks_for("decision"),
        "no consent was asked for: {}",
        page.reply
    );
    page
}

async fn consent_names_the_app_its_scopes_and_where_it_leads(world: World) {
    let (person, app) = world.person_and_app().await;
    let words = consent_page(&mut person.browser(), &app, "posts:read posts:write")
        .await
        .words();
    for named in ["Some App", "posts:read", "posts:write", "app.test"] {
        assert!(words.contains(named), "{named} is not on the page: {words}");
    }
    assert!(!words.contains("profile:read"), "{words}");
}

async fn a_public_third_party_app_asks_every_time(world: World) {
    let (person, app) = world.person_and_app().await;
    let mut browser = person.browser();
    for _ in 0..2 {
        let page = consent_page(&mut browser, &app, "posts:read").await;
        let page = browser.submit(&page, &[("decision", "allow")]).await;
        assert_eq!(page.reply.status, 303, "{}", page.reply);
        assert!(parameter(&page.location().unwrap(), "code").is_some());
    }
}

async fn a_confidential_app_asks_once_for_each_set_of_scopes(world: World) {
    let (person, app) = (world.sign_up().await, world.app().kind("web").register());
    app.authorize(&mut person.browser(), &person, "posts:read profile:read")
        .await;
    let mut browser = person.browser();
    let remembered = first_page(&mut browser, &app, "posts:read").await;
    assert!(
        parameter(&remembered.location().unwrap(), "code").is_some(),
        "{}",
        remembered.reply
    );
    consent_page(&mut browser, &app, "posts:read posts:write").await;
}

async fn who_denies_sends_the_app_away_without_a_code(world: World) {
    let (person, app) = world.person_and_app().await;
    let request = app.authorization();
    let landing = person
        .browser()
        .walk(&request.path(), &person, "deny")
        .await
        .unwrap();
    request.expect_error_landing(&world, &landing, "access_denied");
    consent_page(&mut person.browser(), &app, "posts:read").await;
}

async fn a_finished_flow_is_over(world: World) {
    let (person, app) = world.person_and_app().await;
    let mut browser = person.browser();
    let page = consent_page(&mut browser, &app, "posts:read").await;
    browser.submit(&page, &[("decision", "deny")]).await;
    let again = browser.submit(&page, &[("decision", "allow")]).await;
    assert_eq!(again.reply.status, 400, "{}", again.reply);
    again.expect_dead_end();
    let reopened = browser.open(page.url.as_str()).await;
    assert_eq!(reopened.reply.status, 400, "{}", reopened.reply);
}

async fn a_flow_belongs_to_the_browser_that_began_it(world: World) {
    let (person, victim) = (world.sign_up().await, world.sign_up().await);
    let app = world.app().register();
    let page = consent_page(&mut person.browser(), &app, "posts:read").await;
    let mut other = victim.browser();
    consent_page(&mut other, &app, "posts:read").await;
    let elsewhere = other.open(page.url.as_str()).await;
    assert_eq!(elsewhere.reply.status, 400, "{}", elsewhere.reply);
    elsewhere.expect_dead_end();
    let signed_out = world.browser().open(page.url.as_str()).await;
    assert_eq!(signed_out.reply.status, 400, "{}", signed_out.reply);
}

async fn a_forged_decision_is_refused(world: World) {
    let (person, app) = world.person_and_app().await;
    let mut browser = person.browser();
    let page = consent_page(&mut browser, &app, "posts:read").await;
    let (flow, csrf) = (page.hidden("flow").unwrap(), page.hidden("csrf").unwrap());
    let action = page.url.join("/consent").unwrap();
    let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    for forged in [None, Some(""), Some("00000000-0000-4000-8000-000000000000")] {
        let mut fields = vec![field("flow", &flow), field("decision", "allow")];
        fields.extend(forged.map(|csrf| field("csrf", csrf)));
        let answer = browser.post(&action, &fields).await;
        assert_eq!(answer.reply.status, 403, "{}", answer.reply);
    }
    let fields = [("flow", flow.as_str()), ("decision", "allow"), ("csrf", &csrf)];
    let cookies = format!("sid={}; csrf={csrf}", person.sid);
    let evil = world
        .anyone()
        .cookies(&cookies)
        .post("/consent")
        .header("origin", "https://evil.test");
    evil.form(&fields).await.expect(403);
}

async fn a_wrong_password_is_answered_on_the_sign_in_page(world: World) {
    let (person, app) = world.person_and_app().await;
    let mut browser = world.browser();
    let page = first_page(&mut browser, &app, "posts:read").await;
    assert!(page.asks_for("password"), "{}", page.reply);
    let wrong = browser
        .submit(
            &page,
            &[("email", &person.email), ("password", "not the password")],
        )
        .await;
    assert!(wrong.asks_for("password"), "one may try again: {}", wrong.reply);
    assert_eq!(browser.cookie("sid"), None);
    let unknown = browser
        .submit(&wrong, &[("email", "nobody@example.org"), ("password", "not it")])
        .await;
    let shown = |page: &Page, email: &str| page.words().replace(email, "…");
    assert_eq!(
        shown(&wrong, &person.email),
        shown(&unknown, "nobody@example.org")
    );
    let right = [("email", person.email.as_str()), ("password", &person.password)];
    let signed_in = browser.submit(&wrong, &right).await;
    assert_eq!(signed_in.reply.status, 303, "{}", signed_in.reply);
    assert!(browser.cookie("sid").is_some());
}

async fn what_a_request_says_is_never_markup(world: World) {
    let (person, app) = world.person_and_app().await;
    let script = "\"'><script>alert(1)</script>";
    let request = app
        .authorization()
        .set("state", script)
        .set("scope", "posts:read");
    let mut browser = person.browser();
    let mut page = browser.open(&request.path()).await;
    while let Some(next) = page.location() {
        page = browser.open(next.as_str()).await;
    }
    let unknown = request.set("client_id", script).expect_error_page(&world).await;
    let mut fresh = world.browser();
    let sign_in = first_page(&mut fresh, &app, "posts:read").await;
    let refused = fresh
        .submit(&sign_in, &[("email", script), ("password", "not the password")])
        .await;
    for page in [page, unknown, refused] {
        assert!(!page.reply.text().contains("<script>alert"), "{}", page.reply);
    }
}

async fn pages_cannot_be_framed_cached_or_scripted(world: World) {
    let (person, app) = world.person_and_app().await;
    let sign_in = first_page(&mut world.browser(), &app, "posts:read").await;
    let consent = consent_page(&mut person.browser(), &app, "posts:read").await;
    let error = app
        .authorization()
        .set("client_id", "nobody")
        .expect_error_page(&world)
        .await;
    for page in [sign_in, consent, error] {
        let policy = page.reply.header("content-security-policy").to_owned();
        assert!(
            policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe-inline"),
            "{policy}"
        );
        assert!(
            !policy.contains("form-action"),
            "browsers apply it to the redirect that follows: {policy}"
        );
        assert_eq!(page.reply.header("referrer-policy"), "same-origin");
        assert_eq!(page.reply.header("cache-control"), "no-store");
        assert_eq!(page.reply.header("x-content-type-options"), "nosniff");
        let html = page.reply.text();
        assert!(!html.contains("<script") && !html.contains("style=\""), "{html}");
    }
}

async fn a_page_asked_for_by_another_name_of_this_host_leads_to_the_right_one(world: World) {
    let app = world.app().register();
    let path = app.authorization().path();
    let by_address = world.anyone().at(&world.base().replace("localhost", "127.0.0.1"));
    let reply = by_address.get(&path).await;
    assert!((300..400).contains(&reply.status), "{reply}");
    assert!(
        reply
            .header("location")
            .starts_with(&format!("{}/authorize?", world.base())),
        "{reply}"
    );
}

async fn nobody_consents_with_a_one_time_password(world: World) {
    let app = world.app().register();
    let password = std::fs::read_to_string(world.data_dir().join("admin-password")).unwrap();
    let admin: Person = world.log_in("admin@localhost", password.trim()).await;
    if let Ok(landing) = admin
        .browser()
        .walk(&app.authorization().path(), &admin, "allow")
        .await
    {
        panic!("the app was sent {landing}");
    }
}

on_every_shape!(
    consent_names_the_app_its_scopes_and_where_it_leads,
    a_public_third_party_app_asks_every_time,
    a_confidential_app_asks_once_for_each_set_of_scopes,
    who_denies_sends_the_app_away_without_a_code,
    a_finished_flow_is_over,
    a_flow_belongs_to_the_browser_that_began_it,
    a_forged_decision_is_refused,
    a_wrong_password_is_answered_on_the_sign_in_page,
    what_a_request_says_is_never_markup,
    pages_cannot_be_framed_cached_or_scripted,
    a_page_asked_for_by_another_name_of_this_host_leads_to_the_right_one,
);

on_one_process!(nobody_consents_with_a_one_time_password);
