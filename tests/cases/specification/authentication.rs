//! Section 5 of the API's specification: authentication, a file a heading. Not here: that a browser's app may
//! keep its refresh token in a cookie.

mod anti_csrf;
mod bearer_token_model;
mod coverage;
mod passwords_and_lockout;
mod session_model;
