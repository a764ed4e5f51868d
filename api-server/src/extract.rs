//! What handlers take out of a request. Authentication comes first in each handler's list, so that 401 and
//! 403 go before whatever else is wrong.

mod author;
mod bearer_only;
mod credentials;
mod path_id;
mod principal;
mod public;
mod session;

pub(crate) use author::{Author, Commenter};
pub(crate) use bearer_only::BearerOnly;
pub(crate) use path_id::PathId;
pub(crate) use principal::{Method, Principal};
pub(crate) use public::Public;
pub(crate) use session::{CurrentSession, OwnSession};
