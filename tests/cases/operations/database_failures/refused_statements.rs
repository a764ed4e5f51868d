//! Statements that PostgreSQL refuses, because its disk is full or because it became read-only.
//! `sqlite_files` has the same for SQLite.

use super::assert_lost;
use serde_json::json;
use storage::execute;
use tests::{Shape, World, on_postgresql};

/// Makes PostgreSQL refuse each post whose title is a SQLSTATE, with this one.
async fn refuse_posts(world: &World) {
    let db = world.db().await;
    for statement in [
        "CREATE FUNCTION refuse_post() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = NEW.title; END $$",
        "CREATE TRIGGER refuse_post BEFORE INSERT ON posts FOR EACH ROW WHEN (NEW.title ~ '^[0-9]{5}$')
         EXECUTE FUNCTION refuse_post()",
    ] {
        execute!(db.writer(), statement).unwrap();
    }
}

async fn a_full_disk_is_507_and_a_read_only_server_503(shape: Shape) {
    let world = World::builder(shape).start().await;
    let ann = world.user().await;
    refuse_posts(&world).await;
    for (title, status, code) in [
        ("53100", 507, "storage_full"),
        ("25006", 503, "dependency_unavailable"),
    ] {
        let call = ann.post("/posts").json(&json!({ "title": title }));
        let refused = call.may_fail().await.expect_error(status, code);
        assert_eq!(refused.has("retry-after"), status == 503, "{refused}");
        assert!(!refused.text().contains("refused"), "{refused}");
        ann.publish("A post").await;
    }
}

/// Makes PostgreSQL refuse the security events of refusals, as if its disk were full.
async fn refuse_events(world: &World) {
    let db = world.db().await;
    for statement in [
        "CREATE FUNCTION refuse_event() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '53100'; END $$",
        "CREATE TRIGGER refuse_event BEFORE INSERT ON security_events FOR EACH ROW
         WHEN (NEW.name IN ('authz_fail', 'malicious_csrf', 'authn_login_fail')) EXECUTE FUNCTION refuse_event()",
    ] {
        execute!(db.writer(), statement).unwrap();
    }
}

async fn a_refusal_stays_one_if_its_event_cannot_be_recorded(shape: Shape) {
    let world = World::builder(shape).start().await;
    let (ann, bob) = (world.user().await, world.user().await);
    let of_ann = ann.publish("A post").await;
    refuse_events(&world).await;
    for _ in 0..2 {
        let refused = bob.delete(&of_ann.path).await;
        refused.expect_error(403, "forbidden");
        let forged = bob.delete(&of_ann.path).without("x-csrf-token").await;
        forged.expect_error(403, "csrf_mismatch");
        let failed = world.anyone().login(&ann.email, "not the password").await;
        failed.expect(401);
    }
    assert_lost(&world, &["authz_fail", "malicious_csrf", "authn_login_fail"]);
    bob.get("/me").await.expect(200);
}
on_postgresql!(
    a_full_disk_is_507_and_a_read_only_server_503,
    a_refusal_stays_one_if_its_event_cannot_be_recorded,
);
