//! User accounts with their posts and comments.

use crate::http::{Call, Caller};
use crate::world::World;
use foundation::clock::Clock;
use foundation::context::RequestContext;
use foundation::email::Email;
use foundation::role::Role;
use foundation::secret::Secret;
use identity::authentication_methods::AuthenticationMethods;
use identity::passwords::{HashedPassword, Password, Passwords, Policy};
use identity::users::NewUser;
use identity::{SessionLifetimes, accounts, sessions};
use revocation::{RevocationMirror, RevokingTx};
use serde_json::{Value, json};
use std::net::IpAddr;
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use storage::db::Db;
use storage::execute;
use storage::notifications::Notifications;
use tokio::sync::OnceCell;

/// The default password of test users.
pub const PASSWORD: &str = "correct horse battery staple";

/// A signed-in user: a [`Caller`] with a session.
#[derive(Clone, Debug)]
pub struct User {
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

impl Deref for User {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.caller
    }
}

/// A created post.
#[derive(Clone, Debug)]
pub struct Post {
    /// `/posts/{id}`
    pub path: String,
    /// The id.
    pub id: i64,
    /// The entity tag after creation.
    pub etag: String,
    /// The resource in the response to its creation.
    pub record: Value,
}

/// A created comment.
#[derive(Clone, Debug)]
pub struct Comment {
    /// `/posts/{id}/comments/{id}`
    pub path: String,
    /// The id.
    pub id: i64,
    /// The entity tag after creation.
    pub etag: String,
    /// The resource in the response to its creation.
    pub record: Value,
}

impl Post {
    /// The path of the list of its comments.
    pub fn comments(&self) -> String {
        format!("{}/comments", self.path)
    }
}

/// Path segments that the API must reject: spellings of this id that a lenient parser would accept, and
/// numbers and texts that are no id at all.
pub fn invalid_id_spellings(id: i64) -> Vec<String> {
    let always_invalid = [
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
    let of_this_id = [
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
    always_invalid
        .into_iter()
        .map(str::to_owned)
        .chain(of_this_id)
        .collect()
}

impl World {
    /// An e-mail address that is unique in this test process.
    pub fn fresh_email(&self) -> String {
        static USERS: AtomicU32 = AtomicU32::new(0);
        format!("user{}@example.org", USERS.fetch_add(1, Ordering::Relaxed))
    }

    /// Signs up a new user and signs in.
    pub async fn sign_up_and_log_in(&self) -> User {
        let email = self.fresh_email();
        self.create_account(&email).await;
        self.log_in(&email, PASSWORD).await
    }

    /// Signs up a new user, who gets a session in the database, as [`World::user`] does.
    pub async fn sign_up(&self) -> User {
        let email = self.fresh_email();
        let id = self.create_account(&email).await;
        let db = self.db().await;
        let mut tx = begin(&db).await;
        let user = self.start_session(&mut tx, id, &email).await;
        tx.commit().await.unwrap();
        db.close().await;
        user
    }

    /// Signs up a user with the default password. Returns the id.
    async fn create_account(&self, email: &str) -> i64 {
        let body = json!({ "email": email, "password": PASSWORD });
        let reply = self.anyone().post("/users").json(&body).await.expect(201);
        reply.json()["id"].as_i64().unwrap()
    }

    /// Signs up a new user, confirms the e-mail address and signs in.
    pub async fn sign_up_confirmed(&self) -> User {
        let user = self.sign_up().await;
        self.confirm_email(&user.email).await;
        user
    }

    /// Confirms an address with the link that was mailed at the sign-up, and with the default password.
    pub async fn confirm_email(&self, email: &str) {
        let token = self.mail(email, "Confirm your e-mail address", 1).await.token();
        let confirm = self.anyone().confirm_email_with(&token, PASSWORD);
        confirm.await.expect(204);
    }

    /// Requests the nth link for a new password of this address. Returns its token.
    pub async fn reset_token(&self, email: &str, nth: usize) -> String {
        let request = self.anyone().post("/password-resets");
        request.json(&json!({ "email": email })).await.expect(202);
        self.mail(email, "Reset your password", nth).await.token()
    }

    /// Creates a signed-in user with the password [`PASSWORD`]. The account and the session are written to
    /// the database with a hash that is computed once, because the hashes of sign-ups and sign-ins would take
    /// a quarter of the processor time of all tests. No mail is sent. For tests of sign-up there is
    /// [`World::sign_up`], and for those of sign-in [`World::sign_up_and_log_in`].
    pub async fn user(&self) -> User {
        self.user_with_role("user").await
    }

    /// Creates a user like [`World::user`] who has this role.
    pub async fn user_with_role(&self, role: &str) -> User {
        let email = self.fresh_email();
        let new = NewUser {
            email: Email::parse(&email).unwrap(),
            role: Role::named(role).unwrap(),
            password: HashedPassword {
                hash: Secret::new(hash_of_default_password().await),
                change_required: false,
            },
        };
        let db = self.db().await;
        let mut tx = begin(&db).await;
        let created = accounts::create(&mut tx, &new, &self.context()).await.unwrap();
        let user = self.start_session(&mut tx, created.id, &email).await;
        tx.commit().await.unwrap();
        db.close().await;
        user
    }

    /// Starts this many sessions of a user who has the default password, as [`World::user`] does.
    pub async fn start_sessions(&self, user: &User, count: usize) -> Vec<User> {
        let (db, mut started) = (self.db().await, Vec::new());
        let mut tx = begin(&db).await;
        for _ in 0..count {
            started.push(self.start_session(&mut tx, user.id, &user.email).await);
        }
        tx.commit().await.unwrap();
        db.close().await;
        started
    }

    /// Writes a session of a user with the default password to the database.
    async fn start_session(&self, tx: &mut RevokingTx, user_id: i64, email: &str) -> User {
        let lifetimes = SessionLifetimes {
            idle: Duration::from_hours(1),
            absolute: Duration::from_hours(12),
        };
        let methods = AuthenticationMethods::Password;
        let started = sessions::start(tx, user_id, methods, lifetimes, &self.context()).await;
        let sid = started.unwrap();
        self.register_secret(PASSWORD);
        self.register_secret(sid.expose());
        self.signed_in(user_id, email, PASSWORD, sid.expose())
    }

    /// The context of a request that comes from the address of this test.
    fn context(&self) -> RequestContext {
        RequestContext {
            now: self.now(),
            address: Some(IpAddr::V4(self.anyone().address())),
            ..RequestContext::of_command(Clock::default())
        }
    }

    /// Makes the sign-ins of a user look eleven minutes old, after which the pages for changes require
    /// another sign-in.
    pub async fn age_sign_ins_of(&self, user: &User) {
        const ELEVEN_MINUTES_IN_MICROS: i64 = 11 * 60 * 1_000_000;
        let age = "UPDATE sessions SET created_at = created_at - $2 WHERE user_id = $1";
        let db = self.db().await;
        execute!(db.writer(), age, user.id, ELEVEN_MINUTES_IN_MICROS).unwrap();
        db.close().await;
    }

    /// Signs in by `POST /login`. Fails the test unless it succeeds.
    pub async fn log_in(&self, email: &str, password: &str) -> User {
        let body = json!({ "email": email, "password": password });
        self.log_in_with(&body).await
    }

    /// Signs in by `POST /login` with this body, which may contain a one-time code.
    pub async fn log_in_with(&self, body: &Value) -> User {
        let reply = self.anyone().post("/login").json(body).await.expect(200);
        let text = |name: &str| body[name].as_str().unwrap();
        let (id, sid) = (reply.json()["id"].as_i64().unwrap(), reply.cookie("sid"));
        self.signed_in(id, text("email"), text("password"), &sid)
    }

    /// A user who has a session with this `sid`.
    fn signed_in(&self, id: i64, email: &str, password: &str, sid: &str) -> User {
        let csrf = foundation::random::uuid();
        User {
            id,
            email: email.to_owned(),
            password: password.to_owned(),
            caller: self.anyone().session(sid, &csrf),
            sid: sid.to_owned(),
            csrf,
        }
    }
}

/// Begins a transaction in which sessions can start. The programs find what it revokes at their next read.
async fn begin(db: &Db) -> RevokingTx {
    let mirror = RevocationMirror::new(db, Notifications::new(None), |_| ());
    RevokingTx::new(db.begin().await.unwrap(), &mirror)
}

/// The stored hash of [`PASSWORD`] with the default cost.
async fn hash_of_default_password() -> String {
    static HASH: OnceCell<String> = OnceCell::const_new();
    let compute = async || {
        let policy = Policy {
            memory_kib: 19_456,
            passes: 2,
            permits: 1,
            min_length: 8,
        };
        let passwords = Passwords::new(policy).unwrap();
        passwords.hash(Password::parse(PASSWORD).unwrap()).await.unwrap()
    };
    HASH.get_or_init(compute).await.clone()
}

impl Caller {
    /// Prepares `POST /login`.
    pub fn login(&self, email: &str, password: &str) -> Call {
        self.post("/login")
            .json(&json!({ "email": email, "password": password }))
    }

    /// Prepares the confirmation of the address to which this token was mailed, in the session of this
    /// caller.
    pub fn confirm_email(&self, token: &str) -> Call {
        self.post("/email-verifications/confirmations")
            .json(&json!({ "token": token }))
    }

    /// Prepares the confirmation of the address to which this token was mailed, with the password of the
    /// account.
    pub fn confirm_email_with(&self, token: &str, password: &str) -> Call {
        self.post("/email-verifications/confirmations")
            .json(&json!({ "token": token, "password": password }))
    }
}

impl User {
    /// Creates a draft.
    pub async fn draft(&self, title: &str) -> Post {
        self.make_post(json!({ "title": title })).await
    }

    /// Creates a published post.
    pub async fn publish(&self, title: &str) -> Post {
        self.make_post(json!({ "title": title, "body": "Hello.", "status": "published" }))
            .await
    }

    /// Creates a post with these members.
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

    /// Creates a comment on a post.
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
