//! The work of an administrator in Chromium: from the first start to the end of an app's access.

use super::journey::{Visitor, texts_between};
use crate::oauth::signing_keys::{key_in_state, wait_until_signed_by};
use foundation::clock::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tests::{
    App, CALLBACK, Caller, PASSWORD, SUBMIT, Shape, Tokens, User, World, eventually, on_shapes, print_figure,
    rounds,
};

/// The pause between two requests of the load.
const PACE: Duration = Duration::from_millis(20);
/// The number of requests of the load before its app refreshes its tokens.
const REQUESTS_PER_REFRESH: usize = 25;
/// The least number of requests of the load in a second.
const MIN_RATE: u128 = 45;
/// The longest time for which the API may accept tokens of a key that was retired as compromised.
const MAX_DELAY: Duration = Duration::from_secs(1);
/// The longest time until each API refuses a token, with that of the page that retires its key.
const TIMEOUT: Duration = Duration::from_secs(40);
/// A part of a page that reports a change.
const CHANGED: &str = "class=\"success\"";
/// A part of a message page.
const DONE: &str = "class=\"button\"";

/// The requests of an app to the API.
#[derive(Default)]
struct Load {
    is_over: AtomicBool,
    requests: AtomicUsize,
    /// The requests with a token of another key than the one that signed at first.
    with_next_key: AtomicUsize,
    refused: AtomicUsize,
}

impl Load {
    /// Sends fifty requests a second, in turn with the first access token and with the newest one. Returns
    /// the newest tokens.
    async fn run(self: Arc<Self>, anyone: Caller, app: App, first: Tokens) -> Tokens {
        let (mut newest, mut pace) = (first.clone(), tokio::time::interval(PACE));
        while !self.is_over.load(Ordering::Relaxed) {
            newest = Tokens::parse(app.refresh(&anyone, &newest.refresh).await);
            for n in 0..REQUESTS_PER_REFRESH {
                pace.tick().await;
                let tokens = if n.is_multiple_of(2) { &newest } else { &first };
                let reply = anyone.bearer(&tokens.access).get("/protected").await;
                let (is_next, is_refused) = (tokens.kid() != first.kid(), reply.status != 200);
                self.requests.fetch_add(1, Ordering::Relaxed);
                self.with_next_key
                    .fetch_add(usize::from(is_next), Ordering::Relaxed);
                self.refused.fetch_add(usize::from(is_refused), Ordering::Relaxed);
            }
        }
        newest
    }
}

/// Returns the address and the initial password of the first administrator: a single process writes the
/// password to a file at its first start, and for several processes a command creates the account.
fn first_administrator(world: &World) -> (String, String) {
    if world.shape == Shape::Split {
        let email = world.fresh_email();
        let args = ["users", "create", "--email", &email, "--role", "admin", "--json"];
        let initial = world.cli(&args, "")["initial_password"].clone();
        return (email, initial.as_str().unwrap().to_owned());
    }
    let file = std::fs::read_to_string(world.data_dir().join("admin-password")).unwrap();
    world.register_secret(file.trim());
    ("admin@localhost".to_owned(), file.trim().to_owned())
}

/// Calls each API with an access token until it refuses it. Returns the time of the last request that was
/// accepted.
async fn last_acceptance(world: &World, access_token: &str) -> Timestamp {
    let began = world.now();
    let mut last = began;
    for api in world.at_each_api(&world.anyone().bearer(access_token)) {
        loop {
            let sent = world.now();
            if api.get("/protected").await.status != 200 {
                break;
            }
            last = sent;
            assert!(last.since(began) < TIMEOUT, "the token is still accepted");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
    last
}

impl Visitor<'_> {
    /// Signs in with the initial password, replaces it, and signs in with the new one.
    async fn replace_initial_password(&self, email: &str, initial: &str) {
        if self.world.shape != Shape::Split {
            self.open("/").await;
            self.chromium.expect("admin-password").await;
        }
        self.open("/signin").await;
        let fields = [("#email", email), ("#password", initial)];
        self.submit(&fields, SUBMIT, "id=\"new_password\"").await;
        let new = [("#new_password", PASSWORD)];
        self.submit(&new, SUBMIT, CHANGED).await;
        let fields = [("#email", email), ("#password", PASSWORD)];
        self.submit(&fields, SUBMIT, "href=\"/signout\"").await;
    }

    /// Creates an app of this type by the form and its review.
    async fn create_app(&self, kind: &str, fields: &[(&str, &str)]) -> App {
        self.open("/admin/apps/new").await;
        self.chromium.press(&format!("input[value={kind}]")).await;
        self.submit(fields, SUBMIT, "value=\"create\"").await;
        self.submit(&[], SUBMIT, DONE).await;
        let shown = texts_between(&self.chromium.source().await, "<code data-copy=\"\">", "</code>");
        let [id, secret]: [String; 2] = shown.try_into().unwrap();
        self.world.register_secret(&secret);
        self.submit(&[], "a.button", "client_created").await;
        App {
            id,
            secret: Some(secret),
            redirect_uri: CALLBACK.to_owned(),
        }
    }

    /// Shows the claims that an app would get for a user.
    async fn preview_tokens(&self, app: &App, user: &User) {
        self.open(&format!("/admin/clients/{}", app.id)).await;
        let link = "a[href^='/admin/token-preview']";
        self.submit(&[], link, "id=\"scope\"").await;
        let email = [("#email", user.email.as_str())];
        self.submit(&email, SUBMIT, "client_epoch").await;
    }

    /// Finds a failed sign-in of a user by its correlation id: with scripts among the events that appear as
    /// they happen, and otherwise by the form.
    async fn find_failed_sign_in(&self, user: &User) {
        self.open("/admin/events").await;
        let follow = "[data-events] button";
        if self.has_scripts {
            self.chromium.press(follow).await;
        }
        let failed = user.anonymous().login(&user.email, "not the password").await;
        let failed = failed.expect(401);
        let id = failed.correlation_id();
        let found = format!("--trace={id}");
        if self.has_scripts {
            self.chromium.expect(id).await;
            self.chromium.press(follow).await;
            let link = format!("a[href='/admin/events?trace_id={id}']");
            self.submit(&[], &link, &found).await;
        } else {
            self.chromium.press("form[role=search] summary").await;
            let button = "form[role=search] button";
            self.submit(&[("#trace_id", id)], button, &found).await;
        }
        let source = self.chromium.source().await;
        let events = source.matches("<code>authn_login_fail</code>").count();
        assert_eq!(events, 1, "{source}");
    }

    /// Rotates the keys while an app calls the API, which refuses none of its requests. Returns the newest
    /// tokens of the app.
    async fn rotate_keys_under_load(&self, app: &App, tokens: Tokens) -> Tokens {
        let (load, began) = (Arc::<Load>::default(), Instant::now());
        let running = Arc::clone(&load).run(self.world.anyone(), app.clone(), tokens);
        let running = tokio::spawn(running);
        eventually("the load does not begin", async || {
            load.requests.load(Ordering::Relaxed) >= REQUESTS_PER_REFRESH
        })
        .await;
        self.open("/admin/keys").await;
        self.chromium.press("[popovertarget=rotation]").await;
        let rotate = "[popover]:popover-open form[action='/admin/keys/rotate'] button";
        self.submit(&[], rotate, "can be rotated in").await;
        eventually("the app gets no tokens of the next key", async || {
            load.with_next_key.load(Ordering::Relaxed) >= REQUESTS_PER_REFRESH
        })
        .await;
        load.is_over.store(true, Ordering::Relaxed);
        let newest = running.await.unwrap();
        let [requests, refused] = [&load.requests, &load.refused].map(|count| count.load(Ordering::Relaxed));
        let rate = requests as u128 * 1_000 / began.elapsed().as_millis();
        print_figure(&format!(
            "{refused} of {requests} requests, {rate} a second, were refused during a rotation"
        ));
        assert_eq!(refused, 0, "of {requests} requests");
        // Other tests delay the requests.
        assert!(rounds(true, rate >= MIN_RATE), "{rate} requests a second");
        newest
    }

    /// Returns how long after the retirement of a key each API refused its tokens, in the words of the page.
    async fn shown_delays(&self) -> Vec<String> {
        self.open("/admin/keys").await;
        let source = self.chromium.source().await;
        let ports = self.world.api_ports();
        let times = ports.iter().flat_map(|port| {
            let begin = format!(":{port}</bdi> stopped accepting the tokens of the key within <bdi>");
            texts_between(&source, &begin, "</bdi>")
        });
        times.collect()
    }

    /// Retires the key of an access token as compromised, waits until each API refuses the token, and reads
    /// on the page when they did.
    async fn retire_key_of(&self, tokens: &Tokens) {
        let kid = tokens.kid();
        self.open("/admin/keys").await;
        let dialog = format!("tr:has([value='{kid}']) [popovertarget]");
        self.chromium.press(&dialog).await;
        let button = "[popover]:popover-open form[action='/admin/keys/retire'] button";
        let retirement = self.submit(&[], button, "was retired as compromised");
        let (last, ()) = tokio::join!(last_acceptance(self.world, &tokens.access), retirement);
        let keys = self.world.cli(&["keys", "list", "--json"], "");
        let mut keys = keys.as_array().unwrap().iter();
        let key = keys.find(|key| key["kid"] == kid.as_str()).unwrap();
        let retired = Timestamp::parse(key["deleted_at"].as_str().unwrap()).unwrap();
        let delay = last.since(retired);
        print_figure(&format!(
            "the last token of a compromised key was accepted {delay:?} after its retirement"
        ));
        let apis = self.world.api_ports().len();
        eventually(
            "the page does not tell when each API refused the tokens",
            async || self.shown_delays().await.len() == apis,
        )
        .await;
        let shown = self.shown_delays().await;
        print_figure(&format!(
            "the page shows {shown:?} until each API refused the tokens"
        ));
        let is_short = |time: &String| {
            let millis = time.trim_end_matches("&nbsp;ms").parse();
            millis.is_ok_and(|millis| Duration::from_millis(millis) < MAX_DELAY)
        };
        // Other tests delay the requests.
        let is_in_time = delay < MAX_DELAY && shown.iter().all(is_short);
        assert!(rounds(true, is_in_time), "{delay:?}, shown {shown:?}");
    }

    /// Finds a user by the address, and disables the account.
    async fn disable(&self, user: &User) {
        self.open("/admin/users").await;
        let found = format!("value=\"{}\"", user.email);
        let email = [("#search", user.email.as_str())];
        self.submit(&email, SUBMIT, &found).await;
        let link = format!("a[href='/admin/users/{}']", user.id);
        self.submit(&[], &link, "dialog-disable").await;
        self.chromium.press("[popovertarget=dialog-disable]").await;
        let disable = "[popover]:popover-open button.danger";
        self.submit(&[], disable, CHANGED).await;
    }
}

async fn administer(shape: Shape, has_scripts: bool) {
    let world = World::builder(shape).empty().start().await;
    let user = world.user().await;
    let admin = Visitor::start(&world, has_scripts).await;
    let (email, initial) = first_administrator(&world);
    admin.replace_initial_password(&email, &initial).await;

    let fields = [
        ("#name", "A shop"),
        ("#redirect_uris", CALLBACK),
        ("#scope", "openid posts:read"),
    ];
    let shop = admin.create_app("web", &fields).await;
    let fields = [("#name", "A service"), ("#scope", "posts:read")];
    let service = admin.create_app("service", &fields).await;
    admin.preview_tokens(&shop, &user).await;
    admin.find_failed_sign_in(&user).await;

    let grant = [("grant_type", "client_credentials")];
    let of_service = service.token(&world.anyone(), &grant).await.expect(200).json();
    let of_service = of_service["access_token"].as_str().unwrap();
    let tokens = shop.tokens(&user, "posts:read").await;
    let mut tokens = admin.rotate_keys_under_load(&shop, tokens).await;
    wait_until_signed_by(&world, &shop, &mut tokens, &key_in_state(&world, "active")).await;
    admin.retire_key_of(&tokens).await;
    // The key that signed before the rotation is not compromised.
    world.expect_accepted(of_service).await;
    wait_until_signed_by(&world, &shop, &mut tokens, &key_in_state(&world, "active")).await;
    world.expect_accepted(&tokens.access).await;

    admin.disable(&user).await;
    tokens.expect_revoked(&world, &shop).await;
    world.expect_accepted(of_service).await;
}

async fn an_administrator_works_from_the_first_start(shape: Shape) {
    administer(shape, true).await;
}

/// All but the events as they happen, which only a script can show.
async fn an_administrator_works_without_scripts(shape: Shape) {
    administer(shape, false).await;
}

on_shapes!(an_administrator_works_from_the_first_start: split Split; long: sqlite Sqlite);
on_shapes!(an_administrator_works_without_scripts: ; long: sqlite Sqlite);
