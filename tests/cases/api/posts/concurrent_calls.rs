//! Concurrent requests for posts share statements. Each caller gets the answer to its own request.

use serde_json::{Value, json};
use storage::db::Engine;
use storage::execute;
use tests::{SharedWorld, World, on_every_shape, run_concurrently};

const ROUNDS: usize = 10;

async fn concurrent_reads_get_the_post_that_each_asked_for(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let (published, draft) = (ann.publish("Published").await, ann.draft("A draft").await);
    let second = bob.publish("Second").await;
    let anyone = world.anyone();
    let expected = [
        (&*ann, &published.path, Some("Published")),
        (&*ann, &draft.path, Some("A draft")),
        (&*bob, &draft.path, None),
        (&anyone, &draft.path, None),
        (&anyone, &second.path, Some("Second")),
        (&*bob, &published.path, Some("Published")),
        (&anyone, &"/posts/999999999".to_owned(), None),
    ];
    for _ in 0..ROUNDS {
        let replies = run_concurrently(70, |n| {
            let (caller, path, _) = expected[n % expected.len()];
            caller.get(path).into_future()
        });
        for (n, reply) in replies.await.into_iter().enumerate() {
            match expected[n % expected.len()] {
                (_, _, Some(title)) => assert_eq!(reply.expect(200).json()["title"], title),
                (_, _, None) => drop(reply.expect_error(404, "not_found")),
            }
        }
    }
}

async fn concurrent_posts_keep_their_own_fields(world: SharedWorld) {
    let users = [world.user().await, world.user().await];
    let fields = |n: usize| {
        json!({
            "title": format!("Title {n} \"{{}}\\ é"),
            "body": format!("Body {n},\n[\u{1f600}]\t\u{7f}"),
            "status": if n.is_multiple_of(3) { "published" } else { "draft" },
        })
    };
    for _ in 0..ROUNDS {
        let replies = run_concurrently(60, |n| users[n % 2].post("/posts").json(&fields(n)).into_future());
        for (n, reply) in replies.await.into_iter().enumerate() {
            let reply = reply.expect(201);
            let post = reply.json();
            for (name, value) in fields(n).as_object().unwrap() {
                assert_eq!(&post[name], value);
            }
            assert_eq!(post["author_id"], users[n % 2].id);
            let is_published = n.is_multiple_of(3);
            assert_eq!(post["published_at"] != Value::Null, is_published);
            assert_eq!(
                users[n % 2]
                    .get(reply.header("location"))
                    .await
                    .expect(200)
                    .json(),
                post
            );
        }
    }
}

async fn a_post_that_the_database_rejects_fails_alone(world: World) {
    let (ann, db) = (world.user().await, world.db().await);
    match db.engine() {
        Engine::Sqlite(()) => execute!(
            db.writer(),
            "CREATE TRIGGER reject BEFORE INSERT ON posts WHEN NEW.title = 'rejected'
             BEGIN SELECT RAISE(ABORT, 'rejected'); END"
        ),
        Engine::Postgres(()) => execute!(db.writer(), "ALTER TABLE posts ADD CHECK (title <> 'rejected')"),
    }
    .unwrap();
    for _ in 0..ROUNDS {
        let title = |n: usize| {
            if n == 7 {
                "rejected".to_owned()
            } else {
                format!("post {n}")
            }
        };
        let replies = run_concurrently(30, |n| {
            let call = ann.post("/posts").json(&json!({ "title": title(n) }));
            call.may_fail().into_future()
        });
        for (n, reply) in replies.await.into_iter().enumerate() {
            match n {
                7 => drop(reply.expect_error(500, "internal_error")),
                _ => assert_eq!(reply.expect(201).json()["title"], title(n)),
            }
        }
    }
    let list = ann.get("/posts?sort=title&order=desc").await.expect(200).json();
    assert_eq!(list["items"][0]["title"], "post 9", "no rejected post is stored");
}

on_every_shape!(
    concurrent_reads_get_the_post_that_each_asked_for,
    concurrent_posts_keep_their_own_fields,
    a_post_that_the_database_rejects_fails_alone
);
