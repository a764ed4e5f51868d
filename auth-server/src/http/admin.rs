//! `/admin/…`: the operations for administrators.

mod administrator;
pub(crate) mod clients;
pub(crate) mod keys;
mod page;
mod path_id;
pub(crate) mod security_events;

pub(super) use administrator::{Administrator, AdministratorRequest};
use page::Page;
use path_id::PathId;
