//! Accounts, sign-in, sessions, passwords, lockout and mail.

mod accounts;
mod captcha;
mod ends;
mod lockout;
mod mail;
mod passwords;
mod sessions;
