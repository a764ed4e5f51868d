//! Decisions on the pages that race with the end of the user's session.

use super::consent_page;
use storage::{execute, fetch_one};
use tests::{SharedWorld, eventually, on_postgresql};

/// The transactions that end a session: by its deletion, and by the next epoch of the user. `$1` is the user.
const ENDS: [&str; 2] = [
    "DELETE FROM sessions WHERE user_id = $1",
    "UPDATE users SET epoch = epoch + 1 WHERE id = $1",
];

/// The tables that a decision or its code would be in.
const WRITTEN: [&str; 2] = [
    "SELECT COUNT(*) FROM consents WHERE user_id = $1",
    "SELECT COUNT(*) FROM authorization_codes WHERE user_id = $1",
];

/// Otherwise a consent and a code could be committed into an account that is being deleted.
async fn a_consent_waits_for_the_end_of_its_session(world: SharedWorld) {
    let db = world.db().await;
    for end_session in ENDS {
        let (user, app) = world.user_and_app().await;
        let mut browser = user.browser();
        let page = consent_page(&mut browser, &app, "posts:read").await;
        let mut end = db.begin().await.unwrap();
        execute!(end.on(), end_session, user.id).unwrap();
        let waiting = "SELECT COUNT(*) FROM pg_stat_activity
                       WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let is_waiting = || async { fetch_one!(db.reader(), (i64,), waiting).unwrap().0 == 1 };
        let (page, ()) = tokio::join!(browser.submit(&page, &[("decision", "allow")]), async {
            eventually("the consent does not wait", is_waiting).await;
            end.commit().await.unwrap();
        });
        assert_eq!(page.reply.status, 303, "{}", page.reply);
        assert_eq!(page.location().unwrap().path(), "/signin", "{}", page.reply);
        for count in WRITTEN {
            let (rows,) = fetch_one!(db.reader(), (i64,), count, user.id).unwrap();
            assert_eq!(rows, 0, "{end_session}, {count}");
        }
    }
}
on_postgresql!(a_consent_waits_for_the_end_of_its_session);
