//! Payments: their fields, their state transitions, and how they are stored. A payment is visible to its user
//! only.

mod currency;
mod error;
mod fields;
mod id;
pub(crate) mod list;
mod payment;
pub(crate) mod store;
pub(crate) mod transitions;

pub use currency::Currency;
pub use error::Error;
pub use fields::{Amount, Description, Metadata, NewPayment, Status};
pub use id::PaymentId;
pub use list::list;
pub use payment::{Payment, State};
pub use store::{create, find, of_user};
pub use transitions::{Transition, apply};
