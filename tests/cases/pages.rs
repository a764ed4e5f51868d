//! The pages: sign-in, sign-up, the account with its address, its two-step sign-in, its passkeys and its deletion, their languages,
//! their branding, their fields for passwords, and in Chromium
//! their appearance, their accessibility and the life of an account.

mod account;
mod appearance;
mod branding;
mod deletion;
mod email;
mod journey;
mod languages;
mod links;
mod passkeys;
mod password_fields;
mod sign_in;
mod sign_up;
mod two_step;
