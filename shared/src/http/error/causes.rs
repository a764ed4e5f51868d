//! What the errors of the domain modules of both services are on the wire.

use super::{Code, Error, FieldError};
use crate::identity::{login, passwords};
use crate::{db, redis};

impl From<db::Error> for Error {
    fn from(error: db::Error) -> Self {
        match error {
            db::Error::Unavailable(_) => Self::unavailable(&error),
            db::Error::Conflict | db::Error::Failed(_) => Self::internal(&error),
        }
    }
}

impl From<redis::Unavailable> for Error {
    fn from(error: redis::Unavailable) -> Self {
        Self::unavailable(&error)
    }
}

impl From<passwords::Error> for Error {
    fn from(error: passwords::Error) -> Self {
        match error {
            passwords::Error::Overloaded => Self::unavailable(&error),
            passwords::Error::Failed(_) => Self::internal(&error),
        }
    }
}

impl From<login::Error> for Error {
    fn from(error: login::Error) -> Self {
        match error {
            login::Error::Wrong => Self::new(Code::Unauthenticated, "The e-mail or the password is wrong."),
            login::Error::Locked { retry_after } => {
                Self::new(Code::LoginLocked, format!("Sign-in is blocked: {error}.")).retry_after(retry_after)
            }
            login::Error::Captcha => Self::validation(vec![FieldError {
                pointer: "/captcha".to_owned(),
                code: "required",
                message: "is required after repeated failures: the answer of a captcha just solved"
                    .to_owned(),
            }]),
            login::Error::Unverified(error) => Self::unavailable(&error),
            login::Error::Passwords(error) => error.into(),
            login::Error::Uncounted(error) => error.into(),
            login::Error::Database(error) => error.into(),
        }
    }
}
