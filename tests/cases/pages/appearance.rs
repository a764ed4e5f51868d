//! Every page in Chromium, in both languages and themes, on a desktop and a phone: its accessibility by axe-core, its use of the keyboard,
//! its console and its requests. The pictures are in `target/screenshots`; the long tier takes those of every appearance.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use storage::execute;
use tests::{Appearance, Authenticator, Chromium, PASSWORD, Shape, User, World, on_shapes, tool};
use url::Url;

/// The rules of axe-core: WCAG 2.2 AA and its best practices.
const RULES: [&str; 6] = [
    "wcag2a",
    "wcag2aa",
    "wcag21a",
    "wcag21aa",
    "wcag22aa",
    "best-practice",
];
/// The largest size of a page with all that it loads, in bytes over the wire.
const MAX_BYTES: u64 = 60_000;
/// The picture of all pictures.
const CONTACT_SHEET: &str = "contact-sheet.png";
const SHEET_STYLE: &str = "body { display: grid; grid-template-columns: repeat(5, 1fr); align-items: start; font: 12px sans-serif }
    figure { margin: 0 } img { width: 100%; max-height: 24rem; object-fit: cover; object-position: top; border: 1px solid gray }";
const TAB: &str = "\u{e004}";

/// Measures the page, and counts the elements that a keyboard must reach.
const MEASURE: &str = r#"
    const entries = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
    const focusable = "a[href], button, input:not([type=hidden]):not([hidden]), select, summary";
    return {
        bytes: entries.reduce((sum, entry) => sum + entry.encodedBodySize, 0),
        overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        focusable: document.querySelectorAll(focusable).length,
    };
"#;

/// A walk through the pages in one language.
struct Walk<'w> {
    chromium: Chromium,
    world: &'w World,
    axe: String,
    language: &'static str,
    appearances: Vec<Appearance>,
    pictures: PathBuf,
}

impl<'w> Walk<'w> {
    async fn start(world: &'w World, language: &'static str, appearances: Vec<Appearance>) -> Self {
        let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/screenshots");
        std::fs::create_dir_all(&pictures).unwrap();
        Self {
            chromium: Chromium::in_language(language).await,
            world,
            axe: std::fs::read_to_string(tool("node/node_modules/axe-core/axe.min.js")).unwrap(),
            language,
            appearances,
            pictures,
        }
    }

    /// Opens a page of the issuer and checks it.
    async fn visit(&self, name: &str, path: &str) {
        self.chromium.open(&format!("{}{path}", self.world.base())).await;
        self.check(name).await;
    }

    /// Checks the page that the browser shows.
    async fn check(&self, name: &str) {
        let chromium = &self.chromium;
        let what = format!("{name} ({})", self.language);
        for appearance in &self.appearances {
            chromium.appear(*appearance).await;
            let what = format!("{what}, {}", appearance.name());
            let measured = chromium.run(MEASURE, &[]).await;
            assert_eq!(measured["overflow"], 0, "{what} is wider than its window");
            assert!(
                measured["bytes"].as_u64().unwrap() < MAX_BYTES,
                "{what}: {measured}"
            );
            let script = format!(
                "{}; return (await axe.run({{ runOnly: args[0] }})).violations.map(found =>
                     found.id + ': ' + found.nodes.map(node => node.html + ' ' + node.failureSummary).join('; '));",
                self.axe
            );
            let violations = chromium.run(&script, &[json!(RULES)]).await;
            assert_eq!(violations, json!([]), "{what}");
            let picture = format!("{name}.{}.{}.png", self.language, appearance.name());
            chromium.screenshot(&self.pictures.join(picture)).await;
        }
        self.check_keyboard(&what).await;
        let language = chromium.run("return document.documentElement.lang", &[]).await;
        assert_eq!(language, self.language, "{what}");
        chromium.expect_no_trace().await;
    }

    /// Writes a page with all pictures that are there, and a picture of this page.
    async fn write_contact_sheet(&self) {
        let entries = std::fs::read_dir(&self.pictures).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".png") && name != CONTACT_SHEET)
            .collect();
        names.sort();
        let figure = |name: &String| {
            format!(
                "<figure><a href=\"{name}\"><img src=\"{name}\"></a><figcaption>{name}</figcaption></figure>"
            )
        };
        let figures: String = names.iter().map(figure).collect();
        let page = format!("<!doctype html><title>All pages</title><style>{SHEET_STYLE}</style>{figures}");
        let file = self.pictures.join("index.html");
        std::fs::write(&file, page).unwrap();
        let url = Url::from_file_path(file.canonicalize().unwrap()).unwrap();
        self.chromium.appear(Appearance::default()).await;
        self.chromium.open(url.as_str()).await;
        self.chromium.screenshot(&self.pictures.join(CONTACT_SHEET)).await;
    }

    /// Expects that the Tab key reaches every link, field and button, and that a focused element has an outline.
    async fn check_keyboard(&self, what: &str) {
        // Forms in a closed `details` are not visible.
        const BLUR: &str = "document.activeElement.blur(); window.reached = new Set();
            const elements = document.querySelectorAll('a[href], button, input:not([type=hidden]):not([hidden]), select, summary');
            return [...elements].filter(element => element.checkVisibility()).length;";
        const REACHED: &str = "const element = document.activeElement;
            if (element !== document.body) {
                window.reached.add(element);
                if (getComputedStyle(element).outlineStyle === 'none') return `no outline: ${element.outerHTML}`;
            }
            return window.reached.size;";
        let count = self.chromium.run(BLUR, &[]).await.as_u64().unwrap();
        let mut reached = Value::from(0);
        for _ in 0..=count {
            self.chromium.press_key(TAB).await;
            reached = self.chromium.run(REACHED, &[]).await;
            assert!(reached.is_u64(), "{what}: {reached}");
        }
        assert_eq!(
            reached, count,
            "{what}: the keyboard does not reach every element"
        );
    }

    async fn sign_in(&self, user: &User) {
        self.chromium.open(&format!("{}/signin", self.world.base())).await;
        self.chromium.fill("#email", &user.email).await;
        self.chromium.fill("#password", PASSWORD).await;
        self.chromium.press("button[type=submit]").await;
        self.chromium.expect("href=\"/signout\"").await;
    }

    /// Expects that the script shows a password on demand, hides it before the form is sent, and counts its characters.
    async fn check_password_script(&self) {
        let chromium = &self.chromium;
        chromium.open(&format!("{}/signup", self.world.base())).await;
        chromium.fill("#password", "päss wörd").await;
        let state =
            "const field = document.querySelector('#password'), button = document.querySelector('.reveal');
                     return [field.type, button.ariaLabel, document.querySelector('.count').textContent];";
        let hidden = chromium.run(state, &[]).await;
        assert_eq!(
            hidden,
            json!(["password", "Show password", "9 of at least 8 characters"])
        );
        chromium.press(".reveal").await;
        let shown = chromium.run(state, &[]).await;
        assert_eq!(
            shown,
            json!(["text", "Hide password", "9 of at least 8 characters"])
        );
        self.check("sign-up-typing").await;
        let verdict = "return document.querySelector('.verdict').textContent";
        chromium.fill("#email", "annabelle.lee@example.org").await;
        let long = "many words ".repeat(12);
        for (password, expected) in [
            ("short", ""),
            ("long enough", "Long enough."),
            ("87654321", "A sequence of characters is easy to guess."),
            ("aaaaaaaaaaaa", "A sequence of characters is easy to guess."),
            (
                "Annabelle.Lee99",
                "This is easy to guess, because it is like your e-mail address.",
            ),
            ("annabelle.lee-20881", "Long enough."),
            (long.as_str(), "Use at most 128 characters."),
        ] {
            chromium.fill("#password", password).await;
            assert_eq!(chromium.run(verdict, &[]).await, expected, "{password}");
        }
        chromium.fill("#password", "87654321").await;
        self.check("sign-up-easy").await;
        let submitted = "document.querySelector('form').addEventListener('submit', event => event.preventDefault());
                         document.querySelector('form').requestSubmit(); return document.querySelector('#password').type;";
        chromium.fill("#email", "ann@example.org").await;
        assert_eq!(chromium.run(submitted, &[]).await, "password");
    }
}

/// Each language in one appearance; together these have both themes and both sizes.
async fn every_page_is_accessible(shape: Shape) {
    let [light_desktop, dark_phone] = [false, true].map(|both| Appearance {
        is_dark: both,
        is_phone: both,
    });
    let world = start(shape).await;
    walk(&world, "en", vec![light_desktop]).await;
    walk(&world, "de", vec![dark_phone]).await;
}

async fn every_page_is_accessible_in_every_appearance(shape: Shape) {
    let world = start(shape).await;
    for language in ["en", "de"] {
        walk(&world, language, Appearance::all().collect()).await;
    }
}

async fn start(shape: Shape) -> World {
    let world = World::builder(shape).flag("--terms-url", "https://example.org/terms");
    world.start().await
}

async fn walk(world: &World, language: &'static str, appearances: Vec<Appearance>) {
    let user = world.sign_up().await;
    let mail = world.mail(&user.email, "Confirm your e-mail address", 1).await;
    let link = format!("/verify?token={}", mail.token());
    let reset = format!("/reset?token={}", world.reset_token(&user.email, 1).await);
    let walk = Walk::start(world, language, appearances).await;
    let chromium = &walk.chromium;
    if language == "en" {
        walk.visit("design", "/_design").await;
        walk.check_password_script().await;
    }
    for (name, path) in [
        ("front-page", "/"),
        ("sign-up", "/signup"),
        ("sign-in", "/signin"),
        ("forgot", "/forgot"),
        ("reset", &reset),
        ("verify", &link),
        ("invalid-link", "/verify?token="),
        ("invalid-reset-link", "/reset?token="),
        ("invalid-authorization", "/authorize?client_id=none"),
        ("signed-out", "/signout"),
        ("not-found", "/nowhere"),
        ("flow-not-found", "/consent?flow=unknown"),
        ("demo", "/demo?code=some-code&state=some-state"),
    ] {
        walk.visit(name, path).await;
    }

    chromium.open(&format!("{}/signin", world.base())).await;
    chromium.fill("#email", &user.email).await;
    chromium.fill("#password", "not the password").await;
    chromium.press("button[type=submit]").await;
    chromium.expect("id=\"error\"").await;
    walk.check("sign-in-failed").await;
    chromium.open(&format!("{}/forgot", world.base())).await;
    chromium.fill("#email", &user.email).await;
    chromium.press("button[type=submit]").await;
    chromium
        .expect(if language == "de" {
            "unterwegs"
        } else {
            "on its way"
        })
        .await;
    walk.check("forgot-sent").await;

    chromium.open(&format!("{}/signup", world.base())).await;
    chromium.fill("#email", &user.email).await;
    chromium.fill("#password", PASSWORD).await;
    chromium.press("button[type=submit]").await;
    chromium.expect("id=\"error\"").await;
    walk.check("sign-up-failed").await;
    walk_when_locked(&walk).await;
    walk_sessions(&walk).await;

    walk.sign_in(&user).await;
    walk.visit("account-new", "/account").await;
    let connected_app = world.app().register();
    connected_app.tokens(&user, "posts:read").await;
    walk.visit("account", "/account").await;
    walk.visit("verify-signed-in", &link).await;
    walk.visit("password", "/password").await;
    walk.visit("email", "/account/email").await;
    walk.visit("passkeys-none", "/account/passkeys").await;
    let passkey = world.add_passkey(&mut user.browser()).await;
    walk.visit("passkeys", "/account/passkeys").await;
    chromium.press("summary").await;
    walk.check("passkeys-change").await;
    user.publish("A post").await;
    walk.visit("deletion", "/account/deletion").await;
    world.confirm_email(&user.email).await;
    chromium.open(&format!("{}/account/email", world.base())).await;
    chromium.fill("#email", &world.fresh_email()).await;
    chromium.press("button[type=submit]").await;
    chromium.expect("class=\"button\"").await;
    walk.check("email-sent").await;
    // As if the session had begun with the passkey.
    let sign_in = "UPDATE sessions SET amr = 'passkey' WHERE user_id = $1";
    execute!(world.db().await.writer(), sign_in, user.id).unwrap();
    passkey.sign_in(&mut world.browser()).await;
    walk.visit("passkeys-password", "/account/passkeys").await;
    chromium.press("[popovertarget='password-removal']").await;
    walk.check("passkeys-remove-password").await;
    chromium
        .press("form[action='/account/password/removal'] button")
        .await;
    chromium.expect("href=\"/password\"").await;
    walk.check("passkeys-without-password").await;
    walk.visit("account-without-password", "/account").await;
    chromium.open(&format!("{}/password", world.base())).await;
    chromium.fill("#new_password", PASSWORD).await;
    chromium.press("button[type=submit]").await;
    chromium.expect("id=\"email\"").await;
    walk.sign_in(&user).await;
    walk.visit("two-step-on", "/account/two-step").await;
    chromium.press("button[type=submit]").await;
    chromium.expect("otpauth://").await;
    walk.check("two-step-enrollment").await;
    let link = chromium
        .run("return document.querySelector('a[href^=otpauth]').href", &[])
        .await;
    let app = Authenticator::of_link(link.as_str().unwrap());
    chromium.fill("#otp", &app.next_code(world)).await;
    chromium.press("button[type=submit]").await;
    chromium.expect("class=\"codes\"").await;
    walk.check("recovery-codes").await;
    let hidden = "return document.querySelector('[data-action=print]').hidden";
    assert_eq!(chromium.run(hidden, &[]).await, false);
    walk.visit("two-step-off", "/account/two-step").await;
    world.age_sign_ins_of(&user).await;
    walk.visit("sign-in-again", "/account/email").await;
    chromium.delete_cookies().await;
    chromium.open(&format!("{}/signin", world.base())).await;
    chromium.fill("#email", &user.email).await;
    chromium.fill("#password", PASSWORD).await;
    chromium.press("button[type=submit]").await;
    chromium.expect("id=\"otp\"").await;
    walk.check("second-step").await;
    chromium.fill("#otp", &app.code(world, 120)).await;
    chromium.press("button[type=submit]").await;
    chromium.expect("id=\"error\"").await;
    walk.check("second-step-failed").await;
    chromium.fill("#otp", &app.next_code(world)).await;
    chromium.press("button[type=submit]").await;
    chromium.expect("href=\"/signout\"").await;
    walk.visit("sign-out", "/signout").await;
    walk.visit("admin-only", "/admin/keys").await;
    let app = world.app().kind("spa").register();
    walk.visit("consent", &app.authorization().path()).await;
    let more = connected_app
        .authorization()
        .set("scope", "posts:read posts:write");
    walk.visit("consent-more", &more.path()).await;
    walk.visit("device-empty", "/device").await;
    chromium.fill("#user_code", "BCDF-GHJK").await;
    chromium.press("button[type=submit]").await;
    chromium.expect("id=\"error\"").await;
    walk.check("device-failed").await;
    let device_app = world.app().kind("native").option(&["--device"]).register();
    let device = device_app.device(&world.anyone(), "posts:read posts:write").await;
    walk.visit("device", &format!("/device?user_code={}", device.user_code))
        .await;
    chromium.press("button[type=submit]").await;
    chromium.expect("value=\"allow\"").await;
    walk.check("device-confirmation").await;
    chromium.press("button[value=deny]").await;
    chromium
        .expect(if language == "de" {
            "abgelehnt"
        } else {
            "You denied"
        })
        .await;
    walk.check("device-denied").await;
    world.cli(&["users", "reset-mfa", "--email", &user.email, "--json"], "");
    walk.visit("sign-in-after-end", "/signin").await;
    walk_as_administrator(&walk).await;
    walk.write_contact_sheet().await;
}

/// Shows the sign-in page of an account after too many failed attempts.
async fn walk_when_locked(walk: &Walk<'_>) {
    let (world, chromium) = (walk.world, &walk.chromium);
    let user = world.sign_up().await;
    for _ in 0..5 {
        world.anyone().login(&user.email, "not the password").await;
    }
    chromium.open(&format!("{}/signin", world.base())).await;
    chromium.fill("#email", &user.email).await;
    chromium.fill("#password", PASSWORD).await;
    chromium.press("button[type=submit]").await;
    chromium.expect("id=\"error\"").await;
    walk.check("sign-in-locked").await;
}

/// Shows the account of a user who is signed in elsewhere too, and ends the other sessions.
async fn walk_sessions(walk: &Walk<'_>) {
    let chromium = &walk.chromium;
    let user = walk.world.user().await;
    walk.sign_in(&user).await;
    walk.visit("account-sessions", "/account").await;
    chromium.press("[popovertarget=end-others]").await;
    walk.check("account-end-others").await;
    chromium
        .press("form[action='/account/sessions/end-others'] button")
        .await;
    chromium.expect("class=\"success\"").await;
    walk.check("account-others-ended").await;
    chromium.delete_cookies().await;
}

async fn walk_as_administrator(walk: &Walk<'_>) {
    let (world, chromium) = (walk.world, &walk.chromium);
    let admin = world.user_with_role("admin").await;
    walk.sign_in(&admin).await;
    walk.visit("signing-keys", "/admin/keys").await;
    // The keys can be rotated once in five minutes.
    let (button, action, name, news) = match walk.language {
        "en" => (
            "[popovertarget=rotation]",
            "rotate",
            "rotation",
            "can be rotated in",
        ),
        _ => (
            "[popovertarget=retirement-2]",
            "retire",
            "retirement",
            "zurückgezogen",
        ),
    };
    chromium.press(button).await;
    chromium.press("[popover]:popover-open summary").await;
    walk.check(&format!("signing-keys-{name}")).await;
    let submit = format!("[popover]:popover-open form[action='/admin/keys/{action}'] button");
    chromium.press(&submit).await;
    chromium.expect(news).await;
    walk.check(&format!("signing-keys-after-{name}")).await;
    walk.visit("events", "/admin/events").await;
    walk.visit("events-none", "/admin/events?user_id=1000000000&outcome=failure")
        .await;
    world.age_sign_ins_of(&admin).await;
    walk.visit("signing-keys-later", "/admin/keys").await;
}

on_shapes!(every_page_is_accessible: sqlite Sqlite);
on_shapes!(every_page_is_accessible_in_every_appearance: ; long: sqlite Sqlite);
