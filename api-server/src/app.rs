//! The state that handlers and extractors share.

use crate::resource_metadata::Metadata;
use access_tokens::Verifier;
use axum::extract::FromRef;
use resources::idempotency::Idempotency;
use shared::db::Db;
use shared::http::{Cors, Policy};
use shared::identity::Identity;
use shared::limits::Limits;
use std::sync::Arc;

/// The application state. Handlers take single fields of it with `State`.
#[derive(Clone, FromRef)]
pub(crate) struct App {
    pub(crate) db: Db,
    pub(crate) idempotency: Idempotency,
    pub(crate) identity: Identity,
    pub(crate) policy: Arc<Policy>,
    pub(crate) cors: Cors,
    pub(crate) limits: Limits,
    pub(crate) verifier: Arc<Verifier>,
    pub(crate) metadata: Arc<Metadata>,
}
