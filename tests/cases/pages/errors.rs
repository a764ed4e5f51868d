//! The pages of errors: each has the correlation id of the response and a way on.

use storage::execute;
use tests::{PASSWORD, Page, Shape, SharedWorld, World, on_every_shape, on_postgresql};

/// Expects the page of an error with this heading.
fn expect_error_page(page: &Page, status: u16, heading: &str) {
    assert_eq!(page.reply.status, status, "{}", page.reply);
    let text = page.visible_text();
    assert!(text.contains(heading), "{}", page.reply);
    assert!(text.contains(page.reply.correlation_id()), "{}", page.reply);
    let leads_on = page
        .links()
        .iter()
        .any(|link| link.path().starts_with("/account"));
    assert!(leads_on, "{}", page.reply);
}

async fn a_browser_gets_a_page_for_every_error(shape: Shape) {
    let setup = World::builder(shape).env("LATCHKEY_RATE_LIMITS", "on");
    let world = setup.start().await;
    let mut browser = world.browser();
    let invalid = browser.open("/authorize?client_id=none").await;
    expect_error_page(&invalid, 400, "The app sent an invalid request");
    let form = browser.open("/signin").await;
    let action = form.url.join("/signin").unwrap();
    let large = [("email".to_owned(), "x".repeat(65 << 10))];
    let refused = browser.post(&action, &large).await;
    expect_error_page(&refused, 413, "The form was not accepted");
    // Programs get the error that they can read.
    let reply = world.anyone().post("/signin").form(&large).await;
    reply.expect_error(413, "payload_too_large");
    let mut limited = browser.open("/signin").await;
    // Two replicas share their counts with a delay.
    for _ in 0..2_000 {
        if limited.reply.status == 429 {
            break;
        }
        limited = browser.open("/signin").await;
    }
    expect_error_page(&limited, 429, "Too many requests");
    assert!(limited.reply.has("retry-after"), "{}", limited.reply);
}

async fn an_unknown_path_has_a_page_in_a_browser(world: SharedWorld) {
    let page = world.browser().in_language("de").open("/account/none").await;
    expect_error_page(&page, 404, "Diese Seite gibt es nicht");
    let reply = world.anyone().get("/account/none").await;
    reply.expect_error(404, "not_found");
    let page = world
        .browser()
        .open(&format!(
            "http://localhost:{}//evil.example/x",
            world.issuer_ports()[0]
        ))
        .await;
    expect_error_page(&page, 404, "There is no such page");
    page.expect_page_within_origin();
}

/// The browser tells from which page a form comes. A program could name any address.
async fn a_refused_form_leads_back_to_its_page(world: SharedWorld) {
    let mut browser = world.browser();
    let form = browser.open("/signin").await;
    let base = world.base();
    for (origin, before, link) in [
        (base, "/signin?flow=device:", "/signin?flow=device%3A"),
        (base, "/admin/users/7?sessions=2", "/admin/users/7"),
        (base, "/reset?token=secret", "/reset"),
        (base, "/nowhere", "/account"),
        (base, "//evil.example", "/account"),
        ("https://evil.example", "/signin", "/account"),
    ] {
        let before = format!("{origin}{before}");
        let forged = browser.submit_call(&form, &[("csrf", "x")]);
        let page = Page {
            url: form.url.clone(),
            reply: forged.header("referer", &before).await,
        };
        expect_error_page(&page, 403, "This form could not be verified");
        let links = page.links();
        let expected = form.url.join(link).unwrap();
        assert_eq!(links.first(), Some(&expected), "{before}: {links:?}");
        let has_languages = links.iter().any(|link| link.as_str().ends_with("language=de"));
        assert_eq!(has_languages, link != "/account", "{before}: {links:?}");
    }
}

async fn a_path_that_takes_only_forms_has_a_page_in_a_browser(world: SharedWorld) {
    let (anyone, mut browser) = (world.anyone(), world.browser());
    let operations = anyone.contract().operations();
    let opens = |path: &str| {
        operations
            .iter()
            .any(|(other, method, _)| *other == path && *method == "get")
    };
    let forms = operations
        .iter()
        .filter(|(_, method, operation)| *method == "post" && operation["tags"][0] == "Pages");
    let paths: Vec<String> = forms
        .filter(|(path, ..)| !opens(path))
        .map(|(path, ..)| path.replace("{id}", "1"))
        .collect();
    assert!(paths.len() > 10, "{paths:?}");
    // At 127.0.0.1 the pages redirect to the same path of the base URL, which is on localhost, but not to an
    // error.
    let elsewhere = world.base().replace("localhost", "127.0.0.1");
    for path in &paths {
        for address in [path, &format!("{elsewhere}{path}")] {
            let page = browser.open(address).await;
            expect_error_page(&page, 405, "This page cannot be opened by its address");
            assert_eq!(page.reply.header("allow"), "POST, OPTIONS", "{}", page.reply);
            assert!(!page.reply.has("location"), "{}", page.reply);
        }
        let refused = anyone.get(path).await.expect_error(405, "method_not_allowed");
        assert_eq!(refused.header("allow"), "POST, OPTIONS", "{refused}");
        let problem = anyone.get(path).header("accept", "application/problem+json");
        problem.await.expect_problem(405, "method_not_allowed");
    }
    let redirected = browser.open(&format!("{elsewhere}/signin")).await;
    assert_eq!(redirected.reply.status, 303, "{}", redirected.reply);
}

/// Makes PostgreSQL refuse the end of each session whose browser calls itself by a SQLSTATE, with this one.
async fn refuse_ends(world: &World) {
    let db = world.db().await;
    for statement in [
        "CREATE FUNCTION refuse_end() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = OLD.user_agent; END $$",
        "CREATE TRIGGER refuse_end BEFORE DELETE ON sessions FOR EACH ROW WHEN (OLD.user_agent ~ '^[0-9]{5}$')
         EXECUTE FUNCTION refuse_end()",
    ] {
        execute!(db.writer(), statement).unwrap();
    }
}

async fn a_fault_of_the_service_has_a_page_in_a_browser(shape: Shape) {
    let world = World::builder(shape).start().await;
    let user = world.user().await;
    refuse_ends(&world).await;
    let mut browser = user.browser();
    for (sqlstate, status, code, heading) in [
        (
            "25006",
            503,
            "dependency_unavailable",
            "A part of the service does not answer",
        ),
        ("53100", 507, "storage_full", "The service failed"),
        ("22012", 500, "internal_error", "The service failed"),
    ] {
        let elsewhere = world.anyone().with("user-agent", sqlstate);
        elsewhere.login(&user.email, PASSWORD).await.expect(200);
        let sessions = user.get("/me/sessions").await.expect(200).json();
        let mut sessions = sessions["items"].as_array().unwrap().iter();
        let session = sessions.find(|session| session["user_agent"] == sqlstate);
        let id = session.unwrap()["id"].to_string();
        let account = browser.open("/account").await;
        let form = || browser.submit_call(&account, &[("session", &id)]).may_fail();
        let page = Page {
            url: account.url.clone(),
            reply: form().await,
        };
        expect_error_page(&page, status, heading);
        assert_eq!(page.reply.has("retry-after"), status == 503, "{}", page.reply);
        assert!(!page.reply.text().contains("refused"), "{}", page.reply);
        form().without("accept").await.expect_error(status, code);
    }
}

on_postgresql!(a_fault_of_the_service_has_a_page_in_a_browser);
on_every_shape!(
    a_browser_gets_a_page_for_every_error,
    an_unknown_path_has_a_page_in_a_browser,
    a_refused_form_leads_back_to_its_page,
    a_path_that_takes_only_forms_has_a_page_in_a_browser,
);
