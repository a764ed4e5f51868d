//! Every page in Chromium, in both languages and themes, on a desktop and a phone: its accessibility by
//! axe-core, its use of the keyboard, its tables, its console and its requests. The long tier checks every
//! appearance, and takes a picture of each page.

mod account;
mod administration;
mod branded;
mod checks;
mod front_page;
mod keyboard;
mod outages;
mod pictures;
mod public;
mod rare_states;
mod scripts;
mod tables;

use pictures::Pictures;
use std::sync::Mutex;
use tests::{Appearance, Chromium, PASSWORD, SUBMIT, Shape, User, World, on_shapes, tool};
use tokio::sync::Semaphore;

/// A part of a form that failed.
const FAILED: &str = "id=\"error\"";
/// A part of a message page.
const DONE: &str = "class=\"button\"";
/// A part of a page that reports a change.
const CHANGED: &str = "class=\"success\"";
/// A part of the account page.
const SIGNED_IN: &str = "href=\"/signout\"";

/// The walks with pictures that run at once. More of them would last so long that a sign-in within ten
/// minutes, which pages require, would be too old in the middle of a part.
static TURNS: Semaphore = Semaphore::const_new(2);

/// A part of the walk, which needs no other part before it. The pages of an installation with a branding of
/// its own are one more part.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// The pages for everybody, and those behind mailed links.
    Public,
    /// The account, and the decisions of its user.
    Account,
    /// The pages for administrators.
    Administration,
    /// The states that few people meet, which are visited for their pictures alone.
    Rare,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Account => "account",
            Self::Administration => "administration",
            Self::Rare => "rare",
        }
    }

    async fn visit(self, walk: &Walk<'_>) {
        match self {
            Self::Public => public::visit(walk).await,
            Self::Account => account::visit(walk).await,
            Self::Administration => administration::visit(walk).await,
            Self::Rare => rare_states::visit(walk).await,
        }
    }
}

/// A walk through pages in one language.
struct Walk<'w> {
    chromium: Chromium,
    world: &'w World,
    language: &'static str,
    appearances: Vec<Appearance>,
    /// The pictures, if they are taken.
    pictures: Option<Pictures>,
    /// The origins of the captcha service, if there is one.
    third_parties: Vec<String>,
    /// The time to the first byte of each page, in milliseconds.
    first_bytes: Mutex<Vec<(f64, String)>>,
}

impl<'w> Walk<'w> {
    async fn start(world: &'w World, language: &'static str, appearances: Vec<Appearance>) -> Self {
        let chromium = Chromium::in_language(language).await;
        let axe = std::fs::read_to_string(tool("node/node_modules/axe-core/axe.min.js")).unwrap();
        chromium.add_script(&axe).await;
        Self {
            chromium,
            world,
            language,
            appearances,
            pictures: None,
            third_parties: Vec::new(),
            first_bytes: Mutex::default(),
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

    /// Opens a page as a browser in which nobody is signed in.
    async fn open_as_stranger(&self, path: &str) {
        self.open("/signin").await;
        self.chromium.delete_cookies().await;
        self.open(path).await;
    }

    /// Signs a user in, in place of the present one.
    async fn sign_in(&self, user: &User) {
        self.open_as_stranger("/signin").await;
        let fields = [("#email", user.email.as_str()), ("#password", PASSWORD)];
        self.submit(&fields, SUBMIT, SIGNED_IN).await;
    }
}

/// Each part in one language and appearance; together these have both languages, themes and sizes.
async fn every_page_is_accessible(shape: Shape) {
    let [light_desktop, dark_phone] = [false, true].map(|both| Appearance {
        is_dark: both,
        is_phone: both,
    });
    let world = start(shape).await;
    let turns = [
        (
            "en",
            light_desktop,
            [Part::Public, Part::Administration].as_slice(),
        ),
        ("de", dark_phone, &[Part::Account]),
    ];
    for (language, appearance, parts) in turns {
        let walk = Walk::start(&world, language, vec![appearance]).await;
        for part in parts {
            part.visit(&walk).await;
        }
        walk.print_first_bytes();
    }
    drop(world);
    branded::walk(shape, "en", vec![light_desktop, dark_phone], None).await;
}

/// Visits a part in a deployment of its own, and takes pictures of its pages in every appearance.
async fn visit_for_pictures(shape: Shape, part: Part, language: &'static str) {
    let _turn = TURNS.acquire().await.unwrap();
    let world = start(shape).await;
    let walk = Walk {
        pictures: Some(Pictures::begin(part.name(), language)),
        ..Walk::start(&world, language, Appearance::all().collect()).await
    };
    part.visit(&walk).await;
    walk.end().await;
}

async fn visit_branded_for_pictures(shape: Shape, language: &'static str) {
    let _turn = TURNS.acquire().await.unwrap();
    let pictures = Pictures::begin("branded", language);
    branded::walk(shape, language, Appearance::all().collect(), Some(pictures)).await;
}

async fn visit_outages_for_pictures(shape: Shape, language: &'static str) {
    let _turn = TURNS.acquire().await.unwrap();
    outages::walk(shape, language, Pictures::begin("outages", language)).await;
}

async fn start(shape: Shape) -> World {
    let world = World::builder(shape).flag("--terms-url", "https://example.org/terms");
    world.start().await
}

async fn public_pages_in_every_appearance_in_english(shape: Shape) {
    visit_for_pictures(shape, Part::Public, "en").await;
}

async fn public_pages_in_every_appearance_in_german(shape: Shape) {
    visit_for_pictures(shape, Part::Public, "de").await;
}

async fn account_pages_in_every_appearance_in_english(shape: Shape) {
    visit_for_pictures(shape, Part::Account, "en").await;
}

async fn account_pages_in_every_appearance_in_german(shape: Shape) {
    visit_for_pictures(shape, Part::Account, "de").await;
}

async fn administration_in_every_appearance_in_english(shape: Shape) {
    visit_for_pictures(shape, Part::Administration, "en").await;
}

async fn administration_in_every_appearance_in_german(shape: Shape) {
    visit_for_pictures(shape, Part::Administration, "de").await;
}

async fn rare_states_in_every_appearance_in_english(shape: Shape) {
    visit_for_pictures(shape, Part::Rare, "en").await;
}

async fn rare_states_in_every_appearance_in_german(shape: Shape) {
    visit_for_pictures(shape, Part::Rare, "de").await;
}

async fn branded_pages_in_every_appearance_in_english(shape: Shape) {
    visit_branded_for_pictures(shape, "en").await;
}

async fn branded_pages_in_every_appearance_in_german(shape: Shape) {
    visit_branded_for_pictures(shape, "de").await;
}

async fn outages_in_every_appearance_in_english(shape: Shape) {
    visit_outages_for_pictures(shape, "en").await;
}

async fn outages_in_every_appearance_in_german(shape: Shape) {
    visit_outages_for_pictures(shape, "de").await;
}

on_shapes!(every_page_is_accessible: sqlite Sqlite);
on_shapes!(public_pages_in_every_appearance_in_english: ; long: sqlite Sqlite);
on_shapes!(public_pages_in_every_appearance_in_german: ; long: sqlite Sqlite);
on_shapes!(account_pages_in_every_appearance_in_english: ; long: sqlite Sqlite);
on_shapes!(account_pages_in_every_appearance_in_german: ; long: sqlite Sqlite);
on_shapes!(administration_in_every_appearance_in_english: ; long: sqlite Sqlite);
on_shapes!(administration_in_every_appearance_in_german: ; long: sqlite Sqlite);
on_shapes!(rare_states_in_every_appearance_in_english: ; long: sqlite Sqlite);
on_shapes!(rare_states_in_every_appearance_in_german: ; long: sqlite Sqlite);
on_shapes!(branded_pages_in_every_appearance_in_english: ; long: sqlite Sqlite);
on_shapes!(branded_pages_in_every_appearance_in_german: ; long: sqlite Sqlite);
on_shapes!(outages_in_every_appearance_in_english: ; long: sqlite Sqlite);
on_shapes!(outages_in_every_appearance_in_german: ; long: sqlite Sqlite);
