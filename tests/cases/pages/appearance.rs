//! Every page in Chromium, in both languages and themes, on a desktop and a phone: its accessibility by axe-core, its use of the keyboard,
//! its console and its requests. The long tier checks every appearance, and takes a picture of each page in `target/screenshots`.

mod administration;
mod branded;
mod front_page;
mod keyboard;
mod rare_states;
mod walk;

use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tests::{Appearance, Chromium, PASSWORD, SUBMIT, Shape, User, World, on_shapes, print_figure, tool};
use url::Url;
use walk::walk;

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
/// The width of the narrowest phone, in pixels.
const NARROWEST: u32 = 320;
/// The picture of all pictures.
const CONTACT_SHEET: &str = "contact-sheet.png";
const SHEET_STYLE: &str = "body { display: grid; grid-template-columns: repeat(5, 1fr); align-items: start; font: 12px sans-serif }
    figure { margin: 0 } img { width: 100%; max-height: 24rem; object-fit: cover; object-position: top; border: 1px solid gray }";
/// A part of a form that failed.
const FAILED: &str = "id=\"error\"";
/// A part of a message page.
const DONE: &str = "class=\"button\"";
/// A part of the account page.
const SIGNED_IN: &str = "href=\"/signout\"";

/// Measures the page: the bytes that it loaded, and the milliseconds from the request to the first byte of the response.
const MEASURE: &str = r#"
    const [page] = performance.getEntriesByType("navigation");
    const entries = [page, ...performance.getEntriesByType("resource")];
    return {
        bytes: entries.reduce((sum, entry) => sum + entry.encodedBodySize, 0),
        first_byte: page.responseStart - page.requestStart,
    };
"#;
/// Returns the rules that the page violates, by axe-core.
const VIOLATIONS: &str = r#"
    const { violations } = await axe.run({ runOnly: args[0], resultTypes: ["violations"] });
    return violations.map(found =>
        found.id + ": " + found.nodes.map(node => node.html + " " + node.failureSummary).join("; "));
"#;
/// Measures by how many pixels the page is wider than its window.
const OVERFLOW: &str = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";

/// A walk through the pages in one language.
struct Walk<'w> {
    chromium: Chromium,
    world: &'w World,
    language: &'static str,
    appearances: Vec<Appearance>,
    /// The directory of the pictures, if they are taken.
    pictures: Option<PathBuf>,
    /// The origin of the captcha service, if there is one.
    captcha: Option<String>,
    /// The longest time to a first byte, in milliseconds, with its page.
    slowest: Mutex<(f64, String)>,
}

impl<'w> Walk<'w> {
    async fn start(world: &'w World, language: &'static str, appearances: Vec<Appearance>) -> Self {
        let has_every_appearance = Appearance::all().all(|appearance| appearances.contains(&appearance));
        let pictures = has_every_appearance.then(|| {
            let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/screenshots");
            std::fs::create_dir_all(&pictures).unwrap();
            pictures
        });
        let chromium = Chromium::in_language(language).await;
        let axe = std::fs::read_to_string(tool("node/node_modules/axe-core/axe.min.js")).unwrap();
        chromium.add_script(&axe).await;
        Self {
            chromium,
            world,
            language,
            appearances,
            pictures,
            captcha: None,
            slowest: Mutex::default(),
        }
    }

    /// Opens a page of the issuer and checks it.
    async fn visit(&self, name: &str, path: &str) {
        self.visit_expecting(name, path, 200).await;
    }

    /// Opens a page of the issuer, which has this status, and checks it.
    async fn visit_expecting(&self, name: &str, path: &str, status: u16) {
        self.open(path).await;
        self.check_expecting(name, status).await;
    }

    /// Checks the page that the browser shows.
    async fn check(&self, name: &str) {
        self.check_expecting(name, 200).await;
    }

    /// Checks the page that the browser shows, which has this status.
    async fn check_expecting(&self, name: &str, status: u16) {
        let chromium = &self.chromium;
        let what = format!("{name} ({})", self.language);
        for appearance in &self.appearances {
            chromium.appear(*appearance).await;
            let what = format!("{what}, {}", appearance.name());
            if appearance.is_phone {
                chromium.be_a_phone(NARROWEST).await;
                assert_eq!(
                    chromium.run(OVERFLOW, &[]).await,
                    0,
                    "{what} is wider than {NARROWEST} pixels"
                );
                chromium.appear(*appearance).await;
            }
            assert_eq!(
                chromium.run(OVERFLOW, &[]).await,
                0,
                "{what} is wider than its window"
            );
            let measured = chromium.run(MEASURE, &[]).await;
            assert!(
                measured["bytes"].as_u64().unwrap() < MAX_BYTES,
                "{what}: {measured}"
            );
            let violations = chromium.run(VIOLATIONS, &[json!(RULES)]).await;
            assert_eq!(violations, json!([]), "{what}");
            if let Some(pictures) = &self.pictures {
                let picture = format!("{name}.{}.{}.png", self.language, appearance.name());
                chromium.screenshot(&pictures.join(picture)).await;
            }
        }
        let measured = chromium.run(MEASURE, &[]).await;
        let first_byte = measured["first_byte"].as_f64().unwrap();
        self.remember_slowest(first_byte, &what);
        self.check_keyboard(&what).await;
        let language = chromium.run("return document.documentElement.lang", &[]).await;
        assert_eq!(language, self.language, "{what}");
        let goes_on = "return document.querySelector('main a[href], main form') !== null";
        assert_eq!(chromium.run(goes_on, &[]).await, true, "{what} is a dead end");
        chromium.expect_no_trace(self.captcha.as_deref(), status).await;
    }

    fn remember_slowest(&self, first_byte: f64, what: &str) {
        let mut slowest = self.slowest.lock().unwrap();
        if first_byte > slowest.0 {
            *slowest = (first_byte, what.to_owned());
        }
    }

    fn print_slowest(&self) {
        let (first_byte, page) = &*self.slowest.lock().unwrap();
        print_figure(&format!(
            "The slowest page, {page}, began after {first_byte:.1} ms."
        ));
    }

    /// Writes a page with all pictures that are there, and a picture of this page, if pictures are taken.
    async fn write_contact_sheet(&self) {
        let Some(pictures) = &self.pictures else {
            return;
        };
        let entries = std::fs::read_dir(pictures).unwrap();
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
        let file = pictures.join("index.html");
        std::fs::write(&file, page).unwrap();
        let url = Url::from_file_path(file.canonicalize().unwrap()).unwrap();
        self.chromium.appear(Appearance::default()).await;
        self.chromium.open(url.as_str()).await;
        self.chromium.screenshot(&pictures.join(CONTACT_SHEET)).await;
    }

    /// Opens a page of the issuer.
    async fn open(&self, path: &str) {
        self.chromium.open(&format!("{}{path}", self.world.base())).await;
    }

    /// Fills in fields, presses the button, and waits for the page whose source alone has this text.
    async fn submit(&self, fields: &[(&str, &str)], button: &str, text: &str) {
        self.chromium.submit(fields, button, text).await;
    }

    /// Returns the text in the language of the walk.
    fn word(&self, english: &'static str, german: &'static str) -> &'static str {
        match self.language {
            "en" => english,
            _ => german,
        }
    }

    async fn sign_in(&self, user: &User) {
        self.open("/signin").await;
        let fields = [("#email", user.email.as_str()), ("#password", PASSWORD)];
        self.submit(&fields, SUBMIT, SIGNED_IN).await;
    }

    /// Expects that a button copies the text beside it.
    async fn check_copy_button(&self) {
        let chromium = &self.chromium;
        chromium.allow_clipboard().await;
        self.open("/_design").await;
        chromium.press("[data-copy] + button").await;
        chromium.expect("Copied").await;
        let copied = chromium.run("return navigator.clipboard.readText()", &[]).await;
        assert_eq!(copied, "0h3k-8z5w-2m9x-tq7c\n7c1d-44qw-x0p2-9mfa");
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
                "This is easy to guess, because it is like your e\u{2011}mail address.",
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
    drop(world);
    branded::walk(shape, "en", vec![light_desktop, dark_phone]).await;
}

async fn every_page_is_accessible_in_every_appearance(shape: Shape) {
    let world = start(shape).await;
    for language in ["en", "de"] {
        walk(&world, language, Appearance::all().collect()).await;
    }
    drop(world);
    for language in ["en", "de"] {
        branded::walk(shape, language, Appearance::all().collect()).await;
    }
}

async fn start(shape: Shape) -> World {
    let world = World::builder(shape).flag("--terms-url", "https://example.org/terms");
    world.start().await
}

on_shapes!(every_page_is_accessible: sqlite Sqlite);
on_shapes!(every_page_is_accessible_in_every_appearance: ; long: sqlite Sqlite);
