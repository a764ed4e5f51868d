//! The filter of log lines, which can be replaced while the program runs.

use arc_swap::ArcSwap;
use std::sync::Arc;
use tracing::Metadata;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Filter};

/// The filter of log lines. Clones share it. Unlike `tracing_subscriber::reload` it takes no lock when a
/// request enters its span.
#[derive(Clone, Debug)]
pub(crate) struct LogFilter(Arc<ArcSwap<Targets>>);

impl LogFilter {
    pub(super) fn new(targets: Targets) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(targets)))
    }

    /// Replaces the filter.
    pub(crate) fn replace(&self, targets: Targets) {
        self.0.store(Arc::new(targets));
        // Each place that logs remembers whether it is enabled.
        tracing::callsite::rebuild_interest_cache();
    }
}

impl<S> Filter<S> for LogFilter {
    fn enabled(&self, metadata: &Metadata<'_>, context: &Context<'_, S>) -> bool {
        Filter::<S>::enabled(&**self.0.load(), metadata, context)
    }

    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        Filter::<S>::callsite_enabled(&**self.0.load(), metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Filter::<S>::max_level_hint(&**self.0.load())
    }
}
