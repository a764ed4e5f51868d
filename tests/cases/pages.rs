//! The pages: sign-in, sign-up, the account with its address, its two-step sign-in, its passkeys, its missing
//! password and its deletion, the recent sign-in that they require, the figures, the signing keys, the users,
//! the sessions, the apps, the consents and the security events for administrators, their languages, their
//! branding, their fields for passwords, and in Chromium their appearance, their accessibility, their local
//! times, their use without scripts, the life of an account, the work of an administrator and the demo app.

use tests::{Browser, PASSWORD, Page, User, World};

mod account;
mod administrator_journey;
mod appearance;
mod branding;
mod clients;
mod consents;
mod dashboard;
mod deletion;
mod demo;
mod email;
mod errors;
mod event_stream;
mod events;
mod journey;
mod languages;
mod large_account;
mod large_installation;
mod links;
mod list_order;
mod local_times;
mod passkey_offer;
mod passkeys;
mod password_fields;
mod password_verdicts;
mod passwordless;
mod recent_sign_in;
mod refusals;
mod searches;
mod sessions;
mod sign_in;
mod sign_up;
mod signing_keys;
mod token_preview;
mod two_step;
mod users;
mod way_back;
mod without_scripts;

/// Expects a redirect to this path.
fn expect_redirect(page: &Page, path: &str) {
    assert_eq!(page.reply.status, 303, "{}", page.reply);
    assert_eq!(page.location().unwrap().path(), path, "{}", page.reply);
}

/// Expects a page with this status and these words.
fn expect_words(page: &Page, status: u16, words: &str) {
    assert_eq!(page.reply.status, status, "{}", page.reply);
    assert!(page.visible_text().contains(words), "{words}: {}", page.reply);
}

/// Opens a page that loads nothing from another origin.
async fn open(browser: &mut Browser, path: &str) -> Page {
    let page = browser.open(path).await;
    assert_eq!(page.reply.status, 200, "{}", page.reply);
    page.expect_page_within_origin();
    page
}

/// Posts a form of the page that the user of this browser saw, with these further fields.
async fn post(browser: &mut Browser, page: &Page, action: &str, further: &[(&str, &str)]) -> Page {
    let (csrf, user) = (page.hidden("csrf").unwrap(), page.hidden("user").unwrap());
    let fields = [("csrf", csrf.as_str()), ("user", &user)];
    let fields = fields.iter().chain(further);
    let fields: Vec<_> = fields
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    browser.post(&page.url.join(action).unwrap(), &fields).await
}

/// Opens a page in a new browser, which is sent to sign in, and signs in. Returns the browser and the redirect
/// back to the page.
async fn sign_in_at(world: &World, user: &User, path: &str) -> (Browser, Page) {
    let mut browser = world.browser();
    let sent = browser.open(path).await;
    expect_redirect(&sent, "/signin");
    let sign_in = browser.open(sent.location().unwrap().as_str()).await;
    let fields = [("email", user.email.as_str()), ("password", PASSWORD)];
    let signed_in = browser.submit(&sign_in, &fields).await;
    expect_redirect(&signed_in, path);
    (browser, signed_in)
}
