//! The pages: sign-in, sign-up, the account with its address, its two-step sign-in, its passkeys, its missing
//! password and its deletion, the recent sign-in that they require, the figures, the signing keys, the users,
//! the apps and the security events for administrators, their languages, their branding, their fields for
//! passwords, and in Chromium their appearance, their accessibility, their local times, their use without
//! scripts and the life of an account.

use tests::Page;

mod account;
mod appearance;
mod branding;
mod clients;
mod dashboard;
mod deletion;
mod email;
mod errors;
mod events;
mod journey;
mod languages;
mod large_account;
mod links;
mod local_times;
mod passkey_offer;
mod passkeys;
mod password_fields;
mod password_verdicts;
mod passwordless;
mod recent_sign_in;
mod sign_in;
mod sign_up;
mod signing_keys;
mod token_preview;
mod two_step;
mod users;
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
