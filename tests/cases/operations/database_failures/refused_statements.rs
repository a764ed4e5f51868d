//! Statements that PostgreSQL refuses, because its disk is full or because it became read-only.

use serde_json::json;
use storage::execute;
use tests::{Shape, World, on_shapes};

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
    let ann = world.sign_up().await;
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

on_shapes!(a_full_disk_is_507_and_a_read_only_server_503: postgres Postgres, split Split);
