//! People with accounts, their posts and comments.

use crate::http::Caller;
use crate::world::World;
use serde_json::{Value, json};
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};

/// The password of everybody who is not told another.
pub const PASSWORD: &str = "correct horse battery staple";

/// Someone signed in: a [`Caller`] with a session.
#[derive(Clone, Debug)]
pub struct Person {
    /// The user's id.
    pub id: i64,
    /// The e-mail address.
    pub email: String,
    /// The password.
    pub password: String,
    /// The session's identifier.
    pub sid: String,
    /// The anti-forgery token.
    pub csrf: String,
    caller: Caller,
}

impl Deref for Person {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.caller
    }
}

/// A post that was made.
#[derive(Clone, Debug)]
pub struct Post {
    /// `/posts/{id}`
    pub path: String,
    /// Its id.
    pub id: i64,
    /// The entity tag it was made with.
    pub etag: String,
    /// The record as it was answered.
    pub record: Value,
}

/// A comment that was made.
#[derive(Clone, Debug)]
pub struct Comment {
    /// `/posts/{id}/comments/{id}`
    pub path: String,
    /// Its id.
    pub id: i64,
    /// The entity tag it was made with.
    pub etag: String,
    /// The record as it was answered.
    pub record: Value,
}

impl Post {
    /// Where its comments are.
    pub fn comments(&self) -> String {
        format!("{}/comments", self.path)
    }
}

/// What would be read as this id, or as some other number, by a reader less strict than the API's.
pub fn other_spellings(id: i64) -> Vec<String> {
    let fixed = [
        "abc",
        "0",
        "-1",
        "9007199254740992",
        "9223372036854775808",
        "18446744073709551617",
        "%D9%A1",
        "null",
        "%00",
        "%FF",
    ];
    let of_this = [
        format!("+{id}"),
        format!("0{id}"),
        format!("-{id}"),
        format!("{id}.0"),
        format!("{id}%20"),
        format!("%20{id}"),
        format!("{id}e0"),
        format!("0x{id}"),
        "9".repeat(400),
    ];
    fixed.into_iter().map(str::to_owned).chain(of_this).collect()
}

impl World {
    /// An address that nobody else of this test process has.
    pub fn fresh_email(&self) -> String {
        static PEOPLE: AtomicU32 = AtomicU32::new(0);
        format!("person{}@example.org", PEOPLE.fetch_add(1, Ordering::Relaxed))
    }

    /// Signs a new user up, and in.
    pub async fn sign_up(&self) -> Person {
        let email = self.fresh_email();
        let body = json!({ "email": email, "password": PASSWORD });
        self.anyone().post("/users").json(&body).await.expect(201);
        self.log_in(&email, PASSWORD).await
    }

    /// Makes a user of a role from the shell, and signs them in.
    pub async fn someone(&self, role: &str) -> Person {
        let email = self.fresh_email();
        let args = [
            "users",
            "create",
            "--email",
            &email,
            "--role",
            role,
            "--password-stdin",
            "--json",
        ];
        self.cli(&args, PASSWORD);
        self.log_in(&email, PASSWORD).await
    }

    /// Signs in over the API.
    pub async fn log_in(&self, email: &str, password: &str) -> Person {
        let body = json!({ "email": email, "password": password });
        self.log_in_by(&body).await
    }

    /// Signs in over the API by this body.
    pub async fn log_in_by(&self, body: &Value) -> Person {
        let anyone = self.anyone();
        let reply = anyone.post("/login").json(body).await.expect(200);
        let text = |name: &str| body[name].as_str().unwrap().to_owned();
        let (sid, csrf) = (reply.cookie("sid"), foundation::random::uuid());
        Person {
            id: reply.json()["id"].as_i64().unwrap(),
            email: text("email"),
            password: text("password"),
            caller: anyone.session(&sid, &csrf),
            sid,
            csrf,
        }
    }
}

impl Person {
    /// Makes a draft.
    pub async fn draft(&self, title: &str) -> Post {
        self.make_post(json!({ "title": title })).await
    }

    /// Makes a published post.
    pub async fn publish(&self, title: &str) -> Post {
        self.make_post(json!({ "title": title, "body": "Hello.", "status": "published" }))
            .await
    }

    /// Makes a post of these members.
    pub async fn make_post(&self, members: Value) -> Post {
        let reply = self.post("/posts").json(&members).await.expect(201);
        let record = reply.json();
        let id = record["id"].as_i64().unwrap();
        let path = format!("/posts/{id}");
        let read = self.get(&path).await.expect(200);
        Post {
            etag: read.header("etag").to_owned(),
            path,
            id,
            record,
        }
    }

    /// Comments on a post.
    pub async fn comment(&self, post: &Post, body: &str) -> Comment {
        let call = self.post(&post.comments()).json(&json!({ "body": body }));
        let reply = call.await.expect(201);
        let record = reply.json();
        Comment {
            path: reply.header("location").to_owned(),
            id: record["id"].as_i64().unwrap(),
            etag: reply.header("etag").to_owned(),
            record,
        }
    }
}
