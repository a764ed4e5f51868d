//! Section 5 of the API specification: authentication, one file per heading. Not covered: refresh tokens in
//! cookies of browser apps.

mod anti_csrf;
mod bearer_token_model;
mod coverage;
mod passwords_and_lockout;
mod session_model;
