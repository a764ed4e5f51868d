//! Requests whose body is held back until their credentials have ended. They must have no effect, because an
//! attacker may have sent them. The table `ROWS` has every operation with a body, except for those of
//! `AFTER_THE_BODY` and `REGISTRATIONS`.

mod waiting;

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use storage::db::sqlx::AssertSqlSafe;
use storage::db::{Db, Engine};
use storage::{execute, fetch_all, fetch_one};
use tests::{
    App, Authenticator, Caller, PASSWORD, Payment, Post, RawConnection, Tokens, User, World, fresh_key,
    items, on_every_shape,
};

/// The operations that read their credentials from the body, that check them only after it, or that need
/// none.
const AFTER_THE_BODY: [&str; 16] = [
    "authorizeByForm",
    "exchangeToken",
    "introspectToken",
    "judgePassword",
    "pushAuthorizationRequest",
    "revokeToken",
    "revokeTokenInCookie",
    "signOutByForm",
    "submitForgotten",
    "submitPasskey",
    "submitReset",
    "submitSecondStep",
    "submitSignIn",
    "submitSignUp",
    "submitVerify",
    "authorizeDevice",
];

/// The operations whose credentials are tokens of registrations. Their tests are in
/// `oauth::registration::held_bodies`.
const REGISTRATIONS: [&str; 2] = ["registerClient", "replaceRegistration"];

/// The tables that the operations write. The tables of revocations, events and notices are left out, because
/// the end of the credentials and refused requests change them.
const TABLES: [&str; 17] = [
    "users",
    "sessions",
    "totp",
    "recovery_codes",
    "passkeys",
    "mailed_tokens",
    "posts",
    "comments",
    "clients",
    "consents",
    "authorization_codes",
    "refresh_families",
    "signing_keys",
    "registration_tokens",
    "payments",
    "idempotency_keys",
    "device_requests",
];

/// The media type of a form.
const FORM: &str = "application/x-www-form-urlencoded";

/// The credentials of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Credentials {
    Session,
    Token,
}

use Credentials::{Session, Token};

/// A row: an operation, the credentials that it accepts, the status once they have ended, and the path and
/// the body of a request that would have an effect.
struct Row {
    operation: &'static str,
    credentials: &'static [Credentials],
    status: u16,
    path: fn(&Fixture) -> String,
    body: Body,
}

impl Row {
    /// Whether the operation writes with an access token: a post, a comment, a payment, or what an
    /// administrator changes.
    const fn writes_with_token(&self) -> bool {
        self.credentials.len() == 2
    }

    /// The response once the credentials have ended.
    fn refusal(&self) -> Answer {
        Answer {
            status: self.status,
            redirect: (self.status == 303).then(|| "/signin".to_owned()),
        }
    }
}

/// The body of a request.
enum Body {
    Json(fn(&Fixture) -> Value),
    Form(&'static str),
    FormOf(fn(&Fixture) -> String),
    /// A form that names the user to whom it was shown.
    OwnForm(&'static str),
}

macro_rules! rows {
    ($($operation:literal [$($credentials:ident)+] $status:literal |$fixture:ident| $path:expr, $body:expr;)+) => {
        const ROWS: &[Row] = &[$(Row {
            operation: $operation,
            credentials: &[$($credentials),+],
            status: $status,
            path: |$fixture| { let _ = $fixture; $path.to_owned() },
            body: $body,
        }),+];
    };
}

const NOTHING: Body = Body::Json(|_| json!({}));
const PASSWORD_ALONE: Body = Body::Json(|_| json!({ "password": PASSWORD }));
const BAD_TOKEN: Body = Body::Json(|_| json!({ "token": "x", "new_password": "another good password" }));
const NEW_ACCOUNT: Body = Body::Json(
    |_| json!({ "email": format!("{}@example.org", foundation::random::id()), "password": PASSWORD }),
);

rows! {
    "createPost" [Session Token] 401 |f| "/posts", Body::Json(|_| json!({ "title": "Held back" }));
    "updatePost" [Session Token] 401 |f| f.draft.path, Body::Json(|_| json!({ "title": "Held back" }));
    "createComment" [Session Token] 401 |f| f.draft.comments(), Body::Json(|_| json!({ "body": "Held back" }));
    "createPayment" [Session Token] 401 |f| "/payments",
        Body::Json(|_| json!({ "amount": 100, "currency": "EUR" }));
    "capturePayment" [Session Token] 401 |f| format!("{}/captures", f.payment.path), NOTHING;
    "cancelPayment" [Session Token] 401 |f| format!("{}/cancellations", f.payment.path), NOTHING;
    "refundPayment" [Session Token] 401 |f| format!("{}/refunds", f.captured.path), NOTHING;

    "requestEmailVerification" [Session] 401 |f| "/email-verifications", NOTHING;
    "confirmEmailVerification" [Session] 401 |f| "/email-verifications/confirmations",
        Body::Json(|_| json!({ "token": "x" }));
    "beginTotp" [Session] 401 |f| "/me/mfa/totp", PASSWORD_ALONE;
    "confirmTotp" [Session] 401 |f| "/me/mfa/totp/verifications", Body::Json(|f| json!({ "otp": f.code }));
    "renewRecoveryCodes" [Session] 401 |f| "/me/mfa/recovery-codes", PASSWORD_ALONE;
    "disableTotp" [Session] 401 |f| "/me/mfa/totp", PASSWORD_ALONE;
    "renamePasskey" [Session] 401 |f| "/me/passkeys/1/name", Body::Json(|_| json!({ "name": "Held back" }));
    "removePasskey" [Session] 401 |f| "/me/passkeys/1", PASSWORD_ALONE;
    "changePassword" [Session] 401 |f| "/me/password",
        Body::Json(|_| json!({ "current_password": PASSWORD, "new_password": "the password of a thief" }));
    "deleteAccount" [Session] 401 |f| "/me", PASSWORD_ALONE;

    // A session has no meaning for these.
    "login" [Token] 401 |f| "/login", Body::Json(|f| json!({ "email": f.other.email, "password": PASSWORD }));
    "createUser" [Token] 401 |f| "/users", NEW_ACCOUNT;
    "requestPasswordReset" [Token] 401 |f| "/password-resets", Body::Json(|f| json!({ "email": f.other.email }));
    "confirmPasswordReset" [Token] 401 |f| "/password-resets/confirmations", BAD_TOKEN;

    // Without a session the link and the password confirm an address, and a token must be valid all the same.
    "confirmEmailVerification" [Token] 401 |f| "/email-verifications/confirmations",
        Body::Json(|_| json!({ "token": "x" }));

    "createClient" [Session Token] 401 |f| "/admin/clients", Body::Json(|_| json!({
        "id": foundation::random::uuid(), "name": "Held back", "type": "web", "scope": "posts:read",
        "redirect_uris": ["https://app.test/cb"],
    }));
    "updateClient" [Session Token] 401 |f| format!("/admin/clients/{}", f.client.id),
        Body::Json(|_| json!({ "name": "Held back" }));
    "rotateClientSecret" [Session Token] 401 |f| format!("/admin/clients/{}/secrets", f.client.id), NOTHING;
    "retireSigningKey" [Session Token] 401 |f| format!("/admin/keys/{}/retirements", f.token.kid()),
        Body::Json(|_| json!({ "compromised": true }));
    "createAccount" [Session Token] 401 |f| "/admin/users", NEW_ACCOUNT;
    "updateAccount" [Session Token] 401 |f| format!("/admin/users/{}", f.other.id),
        Body::Json(|_| json!({ "role": "editor" }));
    "setAccountPassword" [Session Token] 401 |f| format!("/admin/users/{}/password", f.other.id), NOTHING;
    "createRegistrationToken" [Session Token] 401 |f| "/admin/registration-tokens", NOTHING;
    "readUserInfoByPost" [Token] 401 |f| "/userinfo", Body::Form("");

    // Pages send the browser to the sign-in page, or show that it is signed out.
    "submitConsent" [Session] 303 |f| "/consent", Body::Form("decision=allow&csrf=x&flow=x");
    "submitPassword" [Session] 303 |f| "/password",
        Body::OwnForm("new_password=the+password+of+a+thief");
    "endSessionByForm" [Session] 303 |f| "/account/sessions/end",
        Body::FormOf(|f| format!("csrf=x&session={}", f.other_session));
    "endOtherSessionsByForm" [Session] 303 |f| "/account/sessions/end-others", Body::OwnForm("");
    "withdrawGrantByForm" [Session] 303 |f| "/account/apps/disconnect",
        Body::FormOf(|f| format!("csrf=x&user={}&app={}", f.ann.id, f.app.id));
    "requestEmailVerificationByForm" [Session] 303 |f| "/account/email/confirmation", Body::OwnForm("");
    "changeEmailByForm" [Session] 303 |f| "/account/email",
        Body::OwnForm("email=thief%40example.org");
    "deleteAccountByForm" [Session] 303 |f| "/account/deletion", Body::OwnForm("");
    "enrollTwoStepByForm" [Session] 303 |f| "/account/two-step/enrollment", Body::OwnForm("");
    "confirmTwoStepByForm" [Session] 303 |f| "/account/two-step/confirmation", Body::Form("csrf=x&otp=123456");
    "renewRecoveryCodesByForm" [Session] 303 |f| "/account/two-step/recovery-codes", Body::OwnForm("");
    "turnTwoStepOffByForm" [Session] 303 |f| "/account/two-step/off", Body::OwnForm("");
    "addPasskey" [Session] 303 |f| "/account/passkeys", Body::Form("csrf=x&name=x&state=x&credential=x");
    "renamePasskeyByForm" [Session] 303 |f| "/account/passkeys/name", Body::Form("csrf=x&passkey=1&name=x");
    "removePasskeyByForm" [Session] 303 |f| "/account/passkeys/removal", Body::Form("csrf=x&passkey=1");
    "removePasswordByForm" [Session] 303 |f| "/account/password/removal", Body::OwnForm("");
    "rotateSigningKeysByForm" [Session] 303 |f| "/admin/keys/rotate", Body::OwnForm("");
    "retireSigningKeyByForm" [Session] 303 |f| "/admin/keys/retire", Body::OwnForm("kid=x");
    "changeAccountByForm" [Session] 303 |f| format!("/admin/users/{}/changes", f.other.id),
        Body::OwnForm("change=sign-out");
    "changeClientByForm" [Session] 303 |f| format!("/admin/clients/{}/changes", f.client.id),
        Body::OwnForm("change=disable");
    "createClientByForm" [Session] 303 |f| "/admin/apps/new", Body::OwnForm("type=service&name=x&scope=posts:read&id=of-a-thief&step=create");
    "confirmSignOut" [Session] 200 |f| "/signout/confirmation", Body::Form("csrf=x");
    "submitDevice" [Session] 303 |f| "/device", Body::Form("csrf=x&user_code=BCDF-GHJK");
    "confirmDevice" [Session] 303 |f| "/device/confirmation", Body::Form("decision=allow&csrf=x&request=x");
}

/// The administrator `ann`, whose credentials end, with resources of theirs, and the resources that the
/// requests name.
struct Fixture {
    ann: User,
    admin: User,
    other: User,
    app: App,
    token: Tokens,
    client: App,
    draft: Post,
    payment: Payment,
    captured: Payment,
    code: String,
    /// The id of a session of `ann` that no request uses.
    other_session: i64,
}

impl Fixture {
    async fn create(world: &World) -> Self {
        let ann = world.user_with_role("admin").await;
        let app = world.app().first_party().register();
        let scope = format!("{} openid", foundation::scope::OF_API.join(" "));
        let (payment, captured) = (ann.pay(100).await, ann.pay(100).await);
        ann.transition(&captured, "captures", &json!({}))
            .await
            .expect(201);
        Self {
            admin: world.user_with_role("admin").await,
            other: world.user().await,
            token: app.tokens(&ann, &scope).await,
            client: world.app().kind("web").register(),
            draft: ann.draft("A draft").await,
            code: Authenticator::begin(&ann).await.code(world, 0),
            other_session: current_session(&world.log_in(&ann.email, PASSWORD).await).await,
            ann,
            app,
            payment,
            captured,
        }
    }

    /// Begins the requests of these rows, and waits until the program has checked the credentials of each and
    /// begins to read its body.
    async fn begin<'a>(
        &self,
        world: &World,
        rows: impl Iterator<Item = (&'a Row, Credentials)>,
    ) -> Vec<Held<'a>> {
        let mut held = Vec::new();
        for (row, credentials) in rows {
            held.push(self.begin_one(world, row, credentials).await);
        }
        held
    }

    async fn begin_one<'a>(&self, world: &World, row: &'a Row, credentials: Credentials) -> Held<'a> {
        let key = format!("idempotency-key: {}\r\n", fresh_key());
        self.begin_with(world, row, credentials, &key).await
    }

    /// Begins a request with this line, or none, in its head.
    async fn begin_with<'a>(
        &self,
        world: &World,
        row: &'a Row,
        credentials: Credentials,
        line: &str,
    ) -> Held<'a> {
        let anyone = world.anyone();
        let operations = anyone.contract().operations();
        let (_, method, _) = operations
            .into_iter()
            .find(|(.., operation)| operation["operationId"] == row.operation)
            .unwrap();
        let (media_type, body) = match &row.body {
            Body::Json(body) => ("application/json", body(self).to_string()),
            Body::Form(form) => (FORM, (*form).to_owned()),
            Body::FormOf(form) => (FORM, form(self)),
            Body::OwnForm(form) => (FORM, format!("csrf=x&user={}&{form}", self.ann.id)),
        };
        let credentials_of = match credentials {
            Session => format!("cookie: sid={}; csrf=x\r\nx-csrf-token: x", self.ann.sid),
            Token => format!("authorization: Bearer {}", self.token.access),
        };
        let head = format!(
            "{} {} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {media_type}\r\ncontent-length: {}\r\n\
             {credentials_of}\r\nif-match: *\r\n{line}expect: 100-continue\r\nconnection: close\r\n\r\n",
            method.to_uppercase(),
            (row.path)(self),
            body.len().max(1),
        );
        let mut connection = RawConnection::connect(port(world, row.operation).await).await;
        connection.send(head).await;
        connection.read_until("100 Continue").await;
        Held {
            row,
            credentials,
            connection,
            body: if body.is_empty() { "&".to_owned() } else { body },
        }
    }

    /// Waits until every process refuses the token.
    async fn wait_until_revoked(&self, world: &World) {
        world.expect_revoked_soon(&self.token.access).await;
        for port in world.issuer_ports() {
            let issuer = world.anyone().at(&format!("http://localhost:{port}"));
            let accepts = || async { issuer.bearer(&self.token.access).get("/userinfo").await.status != 401 };
            while accepts().await {}
        }
    }
}

/// A request whose body is missing.
struct Held<'a> {
    row: &'a Row,
    credentials: Credentials,
    connection: RawConnection,
    body: String,
}

impl Held<'_> {
    /// Sends the body and returns the response.
    async fn complete(&mut self) -> Answer {
        self.send_body().await;
        self.answer().await
    }

    async fn send_body(&mut self) {
        self.connection.send(&self.body).await;
    }

    /// The response.
    async fn answer(&mut self) -> Answer {
        let text = self.connection.read_to_end().await;
        let answer = text.rsplit_once("HTTP/1.1 ").and_then(|(_, last)| {
            let location = last.lines().find_map(|line| line.strip_prefix("location: "));
            let path = location.and_then(|location| location.split('?').next());
            Some(Answer {
                status: last.get(..3)?.parse().ok()?,
                redirect: path.map(str::to_owned),
            })
        });
        answer.unwrap_or_else(|| panic!("{}: {text}", self.row.operation))
    }
}

/// The status of a response and, if it is a redirect, the path to which it leads.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    status: u16,
    redirect: Option<String>,
}

/// The id of the session of a user.
async fn current_session(user: &User) -> i64 {
    let sessions = items(&user.get("/me/sessions").await);
    let current = sessions.iter().find(|session| session["current"] == true);
    current.unwrap()["id"].as_i64().unwrap()
}

/// The port of the first process that serves an operation.
async fn port(world: &World, operation: &str) -> u16 {
    let issuer = world.issuer_ports()[0];
    let url = format!("http://localhost:{issuer}/openapi.json");
    let document = world.anyone().get(&url).await.expect(200).text();
    match document.contains(&format!("\"{operation}\"")) {
        true => issuer,
        false => world.api_ports()[0],
    }
}

/// The caller at the last API process.
fn at_last_api(world: &World, caller: &Caller) -> Caller {
    world.at_each_api(caller).pop().unwrap()
}

/// The caller at the last issuer process.
fn at_last_issuer(world: &World, caller: &Caller) -> Caller {
    caller.at(&format!(
        "http://localhost:{}",
        world.issuer_ports().last().unwrap()
    ))
}

/// The contents of the tables as text, one line for each column.
async fn contents(db: &Db) -> String {
    let mut all = String::new();
    for table in TABLES {
        let columns = match db.engine() {
            Engine::Sqlite(()) => "SELECT name FROM pragma_table_info($1)",
            Engine::Postgres(()) => {
                "SELECT column_name::TEXT FROM information_schema.columns WHERE table_name = $1"
            }
        };
        let columns = fetch_all!(db.reader(), (String,), columns, table).unwrap();
        for (column,) in columns {
            let value = match db.engine() {
                Engine::Sqlite(()) => format!("group_concat(quote({column}))"),
                Engine::Postgres(()) => format!("string_agg({column}::TEXT, ',' ORDER BY {column}::TEXT)"),
            };
            let query = format!("SELECT COALESCE({value}, '') FROM {table}");
            let (values,) = fetch_one!(db.reader(), (String,), AssertSqlSafe(query.clone())).unwrap();
            let _ = writeln!(all, "{table}.{column}: {values}");
        }
    }
    all
}

/// Begins every request of the table, ends the credentials by `end`, completes the requests, and expects that
/// none has an effect.
async fn expect_no_effect(world: World, end: impl AsyncFnOnce(&World, &Fixture)) {
    let fixture = Fixture::create(&world).await;
    let all = ROWS
        .iter()
        .flat_map(|row| row.credentials.iter().map(move |one| (row, *one)));
    let held = fixture.begin(&world, all).await;
    end(&world, &fixture).await;
    fixture.wait_until_revoked(&world).await;
    expect_refused(&world, held).await;
}

/// Completes requests whose credentials have ended, and expects that none has an effect.
async fn expect_refused(world: &World, mut held: Vec<Held<'_>>) {
    let db = world.db().await;
    let before = contents(&db).await;
    let mut differences = String::new();
    for request in &mut held {
        let (answer, expected) = (request.complete().await, request.row.refusal());
        if answer != expected {
            let (operation, credentials) = (request.row.operation, request.credentials);
            let _ = write!(
                differences,
                "\n{operation} by {credentials:?}: {answer:?}, expected {expected:?}"
            );
        }
    }
    for (before, after) in before.lines().zip(contents(&db).await.lines()) {
        if before != after {
            let _ = write!(differences, "\nbefore {before}\nafter  {after}");
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

async fn a_body_after_a_logout_has_no_effect(world: World) {
    let end = async |world: &World, f: &Fixture| {
        at_last_api(world, &f.ann).post("/logout").await.expect(204);
        let revoked = f.app.client_call(
            &at_last_issuer(world, &world.anyone()),
            "/revoke",
            &[("token", &f.token.refresh)],
        );
        revoked.await.expect(200);
    };
    expect_no_effect(world, end).await;
}

/// The session goes on, but not under the identifier that the requests sent.
async fn a_body_after_a_new_sign_in_in_its_session_has_no_effect(world: World) {
    let fixture = Fixture::create(&world).await;
    let with_session = ROWS.iter().filter(|row| row.credentials.contains(&Session));
    let held = fixture
        .begin(&world, with_session.map(|row| (row, Session)))
        .await;
    let session = current_session(&fixture.ann).await;
    let ann = at_last_api(&world, &fixture.ann);
    let reply = ann.login(&fixture.ann.email, PASSWORD).await.expect(200);
    let renewed = world.anyone().session(&reply.cookie("sid"), &fixture.ann.csrf);
    let listed = items(&renewed.get("/me/sessions").await);
    let current = listed.iter().find(|one| one["current"] == true).unwrap();
    assert_eq!(current["id"], session);
    expect_refused(&world, held).await;
    world.expect_accepted(&fixture.token.access).await;
}

async fn a_body_after_a_change_of_the_password_has_no_effect(world: World) {
    let end = async |world: &World, f: &Fixture| {
        let elsewhere = world.log_in(&f.ann.email, PASSWORD).await;
        let change = json!({ "current_password": PASSWORD, "new_password": "another good password" });
        let changed = at_last_api(world, &elsewhere).call("PUT", "/me/password");
        changed.json(&change).await.expect(204);
    };
    expect_no_effect(world, end).await;
}

async fn a_body_after_the_user_was_disabled_has_no_effect(world: World) {
    let end = async |world: &World, f: &Fixture| {
        let path = format!("/admin/users/{}/disablements", f.ann.id);
        at_last_issuer(world, &f.admin).post(&path).await.expect(200);
    };
    expect_no_effect(world, end).await;
}

async fn a_body_after_the_user_was_demoted_has_no_effect(world: World) {
    let end = async |world: &World, f: &Fixture| {
        let demotion = at_last_issuer(world, &f.admin).patch(&format!("/admin/users/{}", f.ann.id));
        demotion.json(&json!({ "role": "user" })).await.expect(200);
    };
    expect_no_effect(world, end).await;
}

async fn a_body_after_the_account_was_deleted_has_no_effect(world: World) {
    let end = async |world: &World, f: &Fixture| {
        let elsewhere = world.log_in(&f.ann.email, PASSWORD).await;
        let deletion = at_last_api(world, &elsewhere).delete("/me");
        deletion.json(&json!({ "password": PASSWORD })).await.expect(204);
    };
    expect_no_effect(world, end).await;
}

/// The mirror of the revocations may be a moment late, so the statement that writes must check the user.
async fn a_write_checks_the_user_in_its_own_statement(world: World) {
    let fixture = Fixture::create(&world).await;
    let db = world.db().await;
    execute!(
        db.writer(),
        "UPDATE users SET epoch = epoch + 1 WHERE id = $1",
        fixture.ann.id
    )
    .unwrap();
    let before = contents(&db).await;
    for row in ROWS.iter().filter(|row| row.writes_with_token()) {
        let mut request = fixture.begin_one(&world, row, Token).await;
        assert_eq!(request.complete().await.status, 401, "{}", row.operation);
    }
    assert_eq!(contents(&db).await, before);
}

async fn every_operation_with_a_body_is_in_the_table(world: World) {
    let anyone = world.anyone();
    let operations = anyone.contract().operations();
    let with_body = operations
        .iter()
        .filter(|(.., operation)| operation["requestBody"].is_object());
    let with_body: BTreeSet<&str> = with_body
        .map(|(.., operation)| operation["operationId"].as_str().unwrap())
        .collect();
    let listed = ROWS.iter().map(|row| row.operation);
    let listed = listed.chain(AFTER_THE_BODY).chain(REGISTRATIONS);
    assert_eq!(listed.collect::<BTreeSet<_>>(), with_body);
}

on_every_shape!(
    a_body_after_a_logout_has_no_effect,
    a_body_after_a_new_sign_in_in_its_session_has_no_effect,
    a_body_after_a_change_of_the_password_has_no_effect,
    a_body_after_the_user_was_disabled_has_no_effect,
    a_body_after_the_user_was_demoted_has_no_effect,
    a_body_after_the_account_was_deleted_has_no_effect,
    a_write_checks_the_user_in_its_own_statement,
    every_operation_with_a_body_is_in_the_table,
);
