//! The resolution of names to addresses that a [`Guard`] allows.

use crate::Guard;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// Resolves names and passes only addresses that the guard allows. The connection is made to these very
/// addresses, so a name that resolves differently the next time gains nothing.
pub(crate) struct GuardedResolver<L> {
    pub(crate) guard: Guard,
    pub(crate) lookup: Arc<L>,
}

impl<L, F> Resolve for GuardedResolver<L>
where
    L: Fn(String) -> F + Send + Sync + 'static,
    F: Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'static,
{
    fn resolve(&self, name: Name) -> Resolving {
        let addresses = (self.lookup)(name.as_str().to_owned());
        let guard = self.guard;
        Box::pin(async move {
            let addresses = addresses.await?;
            guard.check(&addresses)?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
