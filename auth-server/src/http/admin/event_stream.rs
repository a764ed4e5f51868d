//! `/admin/events/stream`: the security events as they are recorded, as server-sent events (HTML Standard,
//! section 9.2).

use super::Administrator;
use crate::app::App;
use crate::pages::{EventWords, Language};
use crate::paths;
use audit::events::list::{Filter, ListQuery, POLL_INTERVAL, SecurityEvent, Tail};
use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use foundation::list_query::Query;
use futures_util::stream;
use identity::event_subjects::EventSubjects;
use serde::Serialize;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;
use storage::db;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep_until};
use web::body::Authorization as _;
use web::headers::single;
use web::{Code, Error, SmallStream};

/// The longest life of a stream, in seconds. A browser connects again. A program that stops waits a little
/// longer than that for its responses.
const MAX_SECONDS: i64 = 15;
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
    /// The id of the event after which the stream begins. By default it begins with the events that are
    /// recorded from now on.
    after: Option<i64>,
    /// The number of seconds after which the stream ends, 15 by default and at most.
    #[param(maximum = 15)]
    seconds: Option<i64>,
}

/// The header with which a client connects again.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[allow(dead_code, reason = "the handler reads it among the headers")]
pub(crate) struct StreamHeader {
    /// The `id` of the last message that the client received.
    #[param(rename = "Last-Event-ID")]
    last_event_id: Option<i64>,
}

/// A stream of events to one client.
struct EventStream {
    app: App,
    administrator: Administrator,
    filter: Filter,
    tail: Tail,
    /// The language of the page that shows the events, if one does.
    language: Option<Language>,
    /// The messages that are to be sent.
    queue: VecDeque<Event>,
    next_search: Instant,
    end: Instant,
    _permit: OwnedSemaphorePermit,
}

/// The data of a message.
#[derive(Serialize)]
struct Data<'a> {
    #[serde(flatten)]
    event: &'a SecurityEvent,
    /// The words with which a page shows the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<EventWords>,
}

/// Follow the security events
///
/// Returns the events that fit the conditions, each within about a second after it was recorded. The data of
/// a message is the event as the list has it, and the `id` of a message is a position. A client that connects
/// again with this position as `Last-Event-ID` misses no event, and may get one again; the `id` in the data
/// tells. The stream ends after 15 seconds, or when the administrator is signed out. A process has at most 50
/// streams. Invalid query parameters are ignored.
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
    let mut parameters = Query::read(&query);
    let seconds = parameters.number("seconds").unwrap_or(MAX_SECONDS);
    let end = Duration::from_secs(seconds.clamp(0, MAX_SECONDS).unsigned_abs());
    let position = single(&headers, "last-event-id").and_then(|id| id.parse().ok());
    let position = position.filter(|id: &i64| *id >= 0);
    // A script cannot send the header with the first request of a stream. The parameter is no part of the API.
    let position = position.or_else(|| parameters.number("last_event_id"));
    let permit = app.event_streams.clone().try_acquire_owned();
    let permit = permit.map_err(|_| too_many())?;
    let tail = match (parameters.number("after"), position) {
        (after, Some(position)) => Tail::resumed(after.unwrap_or_default(), position),
        (Some(after), None) => Tail::after(after),
        (None, None) => Tail::of_new(&app.identity.db).await?,
    };
    let opening = Event::default().retry(RETRY).id(tail.position().to_string());
    let now = Instant::now();
    let events = EventStream {
        filter: ListQuery::parse(&query).filter,
        tail,
        // The page asks for the words in its language. They are no part of the API.
        language: parameters.first("language", Language::of_locales),
        administrator,
        queue: [opening].into(),
        next_search: now,
        end: now + end,
        _permit: permit,
        app,
    };
    let messages = stream::unfold(events, |mut events| async move {
        let message = events.next().await?;
        Some((Ok::<_, Infallible>(message), events))
    });
    // With this header nginx passes each message on at once, and does not buffer the response.
    let headers = [
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
    let messages = Sse::new(messages).keep_alive(keep_alive);
    Ok((Extension(SmallStream), headers, messages).into_response())
}

impl EventStream {
    /// Returns the next message, or `None` at the end of the stream.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(message) = self.queue.pop_front() {
                return Some(message);
            }
            if self.next_search > self.end {
                return None;
            }
            sleep_until(self.next_search).await;
            self.administrator.check_again(&self.app).await.ok()?;
            let is_full = match self.read().await {
                Ok(is_full) => is_full,
                Err(error) => {
                    tracing::warn!(%error, "a stream of security events ended");
                    return None;
                }
            };
            // A search that follows at once comes later than the end, too.
            let pause = if is_full { Duration::ZERO } else { POLL_INTERVAL };
            self.next_search = Instant::now() + pause;
        }
    }

    /// Reads the new events and queues the messages about them. The id of a message is a position up to which
    /// all were sent. Returns whether there may be more events.
    async fn read(&mut self) -> Result<bool, db::Error> {
        let (db, language) = (&self.app.identity.db, self.language);
        let mut sent = self.tail.position();
        let (events, is_full) = self.tail.read(db, &self.filter).await?;
        let subjects = match language.is_some() && !events.is_empty() {
            true => EventSubjects::read(db, &events).await?,
            false => EventSubjects::default(),
        };
        for event in &events {
            sent = sent.max(event.id);
            let words = language.map(|language| EventWords::new(event, &subjects, language));
            self.queue.push_back(message(&Data { event, words }, sent));
        }
        if self.tail.position() != sent {
            // A client that connects again does not search the events after the last one that fits.
            let position = self.tail.position().to_string();
            self.queue.push_back(Event::default().id(position));
        }
        Ok(is_full)
    }
}

/// Returns the message with this data. Its id is this position.
fn message(data: &Data<'_>, position: i64) -> Event {
    let message = Event::default().id(position.to_string());
    message
        .json_data(data)
        .unwrap_or_else(|_| Event::default().comment("an event that cannot be written"))
}

fn too_many() -> Error {
    let message = "Too many administrators follow the events. Close another page, or try again later.";
    Error::new(Code::RateLimited, message).retry_after(RETRY)
}
