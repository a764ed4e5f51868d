//! Users, sign-in, two-step sign-in, OAuth clients and the access that users give to these: the rules that both
//! servers share.
//!
//! This crate depends on sqlx and not on axum. Each table is written by one module.

pub mod accounts;
pub mod administrators;
pub mod authentication_methods;
pub mod authority;
pub mod captcha;
pub mod clients;
pub mod consents;
pub mod credential_check;
pub mod email_verifications;
pub mod end_reason;
pub mod event_subjects;
pub mod first_step;
pub mod lockout;
pub mod login;
pub mod logout_notices;
pub mod mail_throttle;
pub mod mailed_tokens;
pub mod mfa;
pub mod origins;
pub mod passkeys;
pub mod password_changes;
pub mod password_resets;
pub mod passwords;
mod recovery_codes;
pub mod refresh_families;
pub mod restored;
mod sealed_state;
pub mod second_factor;
mod services;
pub mod sessions;
pub mod settings;
mod sign_out;
pub mod sign_up;
mod totp;
pub mod users;

pub use services::{Identity, SessionLifetimes};
pub use totp::{Enrollment, opens_seeds};

/// Returns every SQL statement of this crate with its name, for the test that prepares each on both engines.
pub fn statements() -> Vec<(String, String)> {
    let constant = storage::named_statements([
        authority::STATEMENTS,
        clients::STATEMENTS,
        clients::documents::STATEMENTS,
        clients::list::STATEMENTS,
        clients::secret_rotation::STATEMENTS,
        clients::unused::STATEMENTS,
        consents::STATEMENTS,
        consents::list::STATEMENTS,
        logout_notices::STATEMENTS,
        mailed_tokens::STATEMENTS,
        passkeys::STATEMENTS,
        recovery_codes::STATEMENTS,
        refresh_families::STATEMENTS,
        refresh_families::replacement::STATEMENTS,
        refresh_families::revocation::STATEMENTS,
        refresh_families::rotation::STATEMENTS,
        sessions::STATEMENTS,
        sessions::ends::STATEMENTS,
        sessions::lists::STATEMENTS,
        totp::STATEMENTS,
        users::credentials::STATEMENTS,
        users::list::STATEMENTS,
        users::STATEMENTS,
        users::account::STATEMENTS,
        users::changes::STATEMENTS,
    ]);
    constant
        .chain(clients::list::statements())
        .chain(consents::list::statements())
        .chain(sessions::lists::statements())
        .chain(users::list::statements())
        .collect()
}
