//! The spans of requests, of their calls to the database, Redis and other servers, and of the steps of
//! background tasks.
//!
//! The context of OpenTelemetry travels with the task, so a function needs no argument to add a span. A task
//! that is spawned gets it only by [`FutureExt::with_context`]. The tracer is the global one of
//! OpenTelemetry. Names and attributes contain no data of a user.

use opentelemetry::trace::{FutureExt, SpanContext, SpanKind, Status, TraceContextExt as _, Tracer as _};
use opentelemetry::{Context, KeyValue, global};
use std::borrow::Cow;

/// Begins the span of a request: below that of its caller if there is one, or as the root of a new trace. It
/// costs allocations also without an exporter.
pub fn request(caller: Option<SpanContext>) -> Context {
    let parent = caller.map(|caller| Context::new().with_remote_span_context(caller));
    begin(SpanKind::Server, "request", &parent.unwrap_or_default())
}

/// Begins the span of a call to the database, Redis or another server. Returns `None` outside a span and in a
/// trace that is not recorded.
pub fn call(name: impl FnOnce() -> Cow<'static, str>) -> Option<Context> {
    let is_recorded = Context::map_current(|current| current.span().span_context().is_sampled());
    is_recorded.then(|| begin(SpanKind::Client, name(), &Context::current()))
}

/// Runs a step of a background task in a span, which is the root of a trace.
pub async fn step<F: Future>(name: impl Into<Cow<'static, str>>, work: F) -> F::Output {
    let context = begin(SpanKind::Internal, name, &Context::current());
    let output = work.with_context(context.clone()).await;
    end(&context, None);
    output
}

/// Ends the span of a context, with the class of its error if the work failed. A span whose work is given up
/// ends when its last context is dropped.
pub fn end(context: &Context, error: Option<Cow<'static, str>>) {
    let span = context.span();
    if let Some(class) = error {
        span.set_attribute(KeyValue::new("error.type", class));
        span.set_status(Status::error(""));
    }
    span.end();
}

fn begin(kind: SpanKind, name: impl Into<Cow<'static, str>>, parent: &Context) -> Context {
    let tracer = global::tracer("latchkey");
    let builder = tracer.span_builder(name).with_kind(kind);
    parent.with_span(builder.start_with_context(&tracer, parent))
}
