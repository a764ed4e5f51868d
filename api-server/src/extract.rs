//! What handlers take out of a request. Authentication comes first in each handler's list, so that 401 and
//! 403 go before whatever else is wrong; before it stands only [`Once`], whose 400 goes before all.

mod author;
mod bearer_only;
mod credentials;
mod once;
mod path_id;
mod principal;
mod public;
mod session;

pub(crate) use author::{Author, Commenter, Payer};
pub(crate) use bearer_only::BearerOnly;
pub(crate) use once::{Keyed, Once};
pub(crate) use path_id::PathId;
pub(crate) use principal::{Method, Principal};
pub(crate) use public::Public;
pub(crate) use session::{CurrentSession, SettledSession};
