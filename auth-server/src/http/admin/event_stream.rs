//! `/admin/events/stream`: the security events as they are recorded, as server-sent events (HTML Standard, section 9.2).

use super::Administrator;
use crate::app::App;
use crate::http::paths;
use audit::events::list::{Filter, ListQuery, SecurityEvent, Tail};
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::{StreamExt as _, stream};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;
use storage::paging::Query;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep_until};
use web::body::Authorization as _;
use web::headers::single;
use web::{Code, Error};

/// The time between two searches for new events.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The longest life of a stream, in seconds. A browser connects again, and the program can stop meanwhile.
const MAX_LIFETIME: i64 = 30;
/// The time without an event after which a comment keeps the connection open.
const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// The time after which a browser connects again.
const RETRY: Duration = Duration::from_secs(1);
/// The number of streams of a process.
pub(crate) const MAX_STREAMS: usize = 50;

/// The query parameters of the stream, beside those that select events.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "the handler reads them together with the condition")]
pub(crate) struct StreamQuery {
    /// The id of the event after which the stream begins. By default it begins with the events that are recorded from now on.
    after: Option<i64>,
    /// The number of seconds after which the stream ends, 30 by default and at most.
    #[param(maximum = 30)]
    seconds: Option<i64>,
}

/// The header with which a client connects again.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[allow(dead_code, reason = "the handler reads it among the headers")]
pub(crate) struct StreamHeader {
    /// The id of the last event that the client received.
    #[param(rename = "Last-Event-ID")]
    last_event_id: Option<i64>,
}

/// A stream to one client.
struct Stream {
    app: App,
    administrator: Administrator,
    filter: Filter,
    tail: Tail,
    /// The events that are to be sent.
    queue: VecDeque<SecurityEvent>,
    next_search: Instant,
    end: Instant,
    _permit: OwnedSemaphorePermit,
}

/// Follow the security events
///
/// Returns the events that fit the conditions, each within about a second after it was recorded. The `id` of a message is that of its event,
/// and its data is the event as the list has it. A client that connects again with `Last-Event-ID` misses none. The stream ends after 30
/// seconds, or when the administrator is signed out. A process has at most 50 streams. Invalid query parameters are ignored.
#[utoipa::path(
    get, path = paths::ADMIN_EVENTS_STREAM, operation_id = "followSecurityEvents", tag = "Pages",
    params(Filter, StreamQuery, StreamHeader),
    security(("session" = []), ("oauth2" = ["admin"])),
    responses(
        (status = 200, description = "The events.", body = String, content_type = "text/event-stream",
         headers(("Cache-Control"))),
        Administrator,
    )
)]
pub(crate) async fn follow(
    administrator: Administrator,
    State(app): State<App>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Result<Response, Error> {
    let query = query.unwrap_or_default();
    let mut numbers = Query::read(&query);
    let lifetime = numbers
        .number("seconds")
        .unwrap_or(MAX_LIFETIME)
        .min(MAX_LIFETIME);
    let last = single(&headers, "last-event-id").and_then(|id| id.parse().ok());
    let after = last.or_else(|| numbers.number("after"));
    let permit = app.event_streams.clone().try_acquire_owned();
    let permit = permit.map_err(|_| too_many())?;
    let now = Instant::now();
    let stream = Stream {
        filter: ListQuery::parse(&query).filter,
        tail: Tail::begin(&app.identity.db, after).await?,
        administrator,
        queue: VecDeque::new(),
        next_search: now,
        end: now + Duration::from_secs(lifetime.unsigned_abs()),
        _permit: permit,
        app,
    };
    let events = stream::unfold(stream, |mut stream| async move {
        let event = stream.next().await?;
        Some((Ok::<_, Infallible>(message(&event)), stream))
    });
    let first = stream::once(async { Ok(Event::default().retry(RETRY).comment("begin")) });
    let events = first.chain(events);
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
    // Proxies that collect responses before they send them leave this one alone.
    let headers = [
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    Ok((headers, Sse::new(events).keep_alive(keep_alive)).into_response())
}

impl Stream {
    /// Returns the next event, or `None` at the end of the stream.
    async fn next(&mut self) -> Option<SecurityEvent> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return Some(event);
            }
            if self.next_search > self.end {
                return None;
            }
            sleep_until(self.next_search).await;
            self.next_search = Instant::now() + POLL_INTERVAL;
            self.administrator.check_again(&self.app).await.ok()?;
            match self.tail.read(&self.app.identity.db, &self.filter).await {
                Ok(events) => self.queue.extend(events),
                Err(error) => {
                    tracing::warn!(%error, "a stream of security events ended");
                    return None;
                }
            }
        }
    }
}

fn message(event: &SecurityEvent) -> Event {
    let message = Event::default().id(event.id.to_string());
    message
        .json_data(event)
        .unwrap_or_else(|_| Event::default().comment("an event that cannot be written"))
}

fn too_many() -> Error {
    let message = "Too many administrators follow the events. Close another page, or try again later.";
    Error::new(Code::RateLimited, message).retry_after(RETRY)
}
