//! The links from a security event to the pages of what it is about.

use super::PATH;
use foundation::random;
use storage::execute;
use tests::{SharedWorld, on_every_shape};

async fn an_event_leads_to_what_it_is_about(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let (app, db) = (world.app().register(), world.db().await);
    let insert = "INSERT INTO security_events (at, name, outcome, user_id, client_id, detail, trace_id)
                  VALUES ($1, $2, 'success', $3, $4, $5, $6)";
    let pages = [
        format!("/admin/users/{}", user.id),
        format!("/admin/clients/{}", app.id),
        format!("/admin/sessions?user_id={}", user.id),
        format!("/admin/consents?user_id={}", user.id),
        format!("/admin/consents?user_id={}&client_id={}", user.id, app.id),
    ];
    let [of_user, of_app, sessions, consents, consent] = pages.each_ref().map(String::as_str);
    let (known, gone) = (Some(app.id.as_str()), Some("an app that is gone"));
    let mut browser = admin.browser();
    for (name, user_id, client, detail, expected) in [
        (
            "authn_login_success",
            Some(user.id),
            None,
            None,
            vec![of_user, sessions],
        ),
        (
            "authn_session_revoked",
            Some(user.id),
            None,
            None,
            vec![of_user, sessions],
        ),
        (
            "authz_consent",
            Some(user.id),
            known,
            None,
            vec![of_user, of_app, consent],
        ),
        (
            "authz_consent_revoked",
            Some(user.id),
            gone,
            None,
            vec![of_user, consents],
        ),
        ("client_updated", None, gone, None, vec![]),
        ("user_disabled", Some(-8), known, None, vec![of_app]),
        (
            "key_staged",
            None,
            None,
            Some("kid one"),
            vec!["/admin/keys?kid=one#one"],
        ),
        ("keys_resealed", None, None, Some("3 rows"), vec!["/admin/keys"]),
    ] {
        let trace = random::id();
        execute!(
            db.writer(),
            insert,
            world.now(),
            name,
            user_id,
            client,
            detail,
            trace.as_str()
        )
        .unwrap();
        let page = browser.open(&format!("{PATH}?trace_id={trace}")).await;
        let row = page.reply.text();
        let row = row.split_once(&format!(">{trace}</a>")).unwrap().1;
        let row = row
            .split_once("</th>")
            .unwrap()
            .0
            .replace("&#38;", "&")
            .replace("&amp;", "&");
        let links = row.split("href=\"").skip(1);
        let links: Vec<&str> = links.map(|link| link.split_once('"').unwrap().0).collect();
        assert_eq!(links, expected, "{name}: {}", page.reply);
        for link in links {
            let opened = browser.open(link).await;
            assert_eq!(opened.reply.status, 200, "{link}: {}", opened.reply);
        }
    }
    // A row of the list of keys has the name that leads to it.
    let keys = browser.open("/admin/keys").await;
    assert!(
        keys.reply.text().contains("<tr role=\"row\" id=\""),
        "{}",
        keys.reply
    );
}

on_every_shape!(an_event_leads_to_what_it_is_about);
