//! The outermost middleware: trace id, log line, time limit, error body and the headers of every response.

use crate::connection::Connection;
use crate::deferred_headers::{DeferredHeaders, add_to_list};
use crate::error::body::ErrorFormat;
use crate::error::{Code, Error, IntentionallyEmpty};
use crate::headers::single;
use crate::{Policy, allowed_methods, health};
use audit::figures::{COUNTERS, Figure};
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use foundation::clock::Clock;
use foundation::context::RequestContext;
use foundation::log::{ACCESS, method_label};
use foundation::{random, time_limits};
use opentelemetry::trace::{
    FutureExt as _, SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{Context, KeyValue};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tracing::Instrument as _;

/// The time limit of a request, from its head to the head of its response. The factor of [`time_limits`]
/// multiplies it.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum length of a stored `User-Agent`, in characters. The rest is cut off.
const MAX_USER_AGENT: usize = 200;

/// The values of a request that [`complete_response`] needs.
struct ResponseContext {
    method: Method,
    error_format: ErrorFormat,
    request: Arc<RequestContext>,
    deferred_headers: DeferredHeaders,
}

/// Creates the request context with the time of this clock, calls `respond` within the time limit and in a
/// span if `is_traced`, completes the response and logs the request.
pub(crate) async fn wrap<F: Future<Output = Response>>(
    policy: &Policy,
    is_traced: bool,
    clock: Clock,
    mut request: Request,
    respond: impl FnOnce(Request) -> F,
) -> Response {
    let began = Instant::now();
    let caller = caller(request.headers());
    let trace = is_traced.then(|| traces::request(caller.clone()));
    let own = trace.as_ref().map(|trace| trace.span().span_context().clone());
    let trace_id = own
        .or(caller)
        .map_or_else(random::trace_id, |span| span.trace_id().to_string());
    let trace = trace.unwrap_or_default();
    let connection = request.extensions().get::<Arc<Connection>>();
    let proxies = &policy.trusted_proxies;
    let address = connection.map(|connection| proxies.client_address(connection.peer, request.headers()));
    let user_agent = user_agent(request.headers());
    let deferred_headers = DeferredHeaders::default();
    let span = tracing::info_span!("request", trace_id);
    let context = Arc::new(RequestContext {
        now: clock.now(),
        clock,
        trace_id,
        address,
        user_agent,
        administrator: None,
        route: OnceLock::new(),
    });
    let response_context = ResponseContext {
        method: request.method().clone(),
        error_format: ErrorFormat::negotiate(request.headers()),
        request: Arc::clone(&context),
        deferred_headers: deferred_headers.clone(),
    };
    let extensions = request.extensions_mut();
    extensions.insert(deferred_headers);
    extensions.insert(context);

    let time_limit = time_limits::multiplied(REQUEST_TIMEOUT);
    let responding = async {
        let response = match tokio::time::timeout(time_limit, respond(request)).await {
            Ok(response) => response,
            Err(_) => Error::unavailable(&format!(
                "the request took longer than {} s",
                time_limit.as_secs()
            ))
            .into_response(),
        };
        let response = complete_response(response, &response_context);
        if !health::PATHS.contains(&response_context.request.route()) {
            count(response.status());
        }
        tracing::info!(
            target: ACCESS,
            method = response_context.method.as_str(),
            // The pattern and not the path, because paths and queries may contain personal data or secrets.
            route = response_context.request.route.get(),
            status = response.status().as_u16(),
            duration_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
        );
        end_span(&trace, &response_context, response.status());
        response
    };
    responding.with_context(trace.clone()).instrument(span).await
}

/// Ends the span of a request, if it is recorded. It has the pattern of the path, as the log line does.
fn end_span(trace: &Context, response_context: &ResponseContext, status: StatusCode) {
    let span = trace.span();
    if !span.is_recording() {
        return;
    }
    let method = method_label(response_context.method.as_str());
    let route = response_context.request.route();
    span.update_name(format!("{method} {route}").trim_end().to_owned());
    span.set_attribute(KeyValue::new("http.request.method", method));
    if !route.is_empty() {
        span.set_attribute(KeyValue::new("http.route", route.to_owned()));
    }
    span.set_attribute(KeyValue::new(
        "http.response.status_code",
        i64::from(status.as_u16()),
    ));
    let class = status
        .is_server_error()
        .then(|| status.as_u16().to_string().into());
    traces::end(trace, class);
}

/// Counts a response in the figures of administrators.
fn count(status: StatusCode) {
    COUNTERS.count(Figure::Requests, 1);
    if status.is_client_error() {
        COUNTERS.count(Figure::ClientErrors, 1);
    } else if status.is_server_error() {
        COUNTERS.count(Figure::ServerErrors, 1);
    }
}

/// Returns the span of the caller, from the header `traceparent` (W3C Trace Context §3.2); `None` if the
/// header is absent, repeated or invalid. A later version than 00 may have further parts (§4.3). The
/// propagator of OpenTelemetry accepts ids of any length.
fn caller(headers: &HeaderMap) -> Option<SpanContext> {
    let is_hex_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_id = |text: &str, length| {
        text.len() == length && text.bytes().all(is_hex_digit) && text.bytes().any(|byte| byte != b'0')
    };
    let value = single(headers, "traceparent")?;
    let mut parts = value.split('-');
    let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_byte = |text: &str| text.len() == 2 && text.bytes().all(is_hex_digit);
    let is_known_form = match version {
        "00" => parts.next().is_none(),
        later => is_byte(later) && later != "ff",
    };
    if !(is_known_form && is_byte(flags) && is_id(trace, 32) && is_id(parent, 16)) {
        return None;
    }
    let (trace, parent) = (TraceId::from_hex(trace).ok()?, SpanId::from_hex(parent).ok()?);
    let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()?) & TraceFlags::SAMPLED;
    Some(SpanContext::new(trace, parent, flags, true, TraceState::NONE))
}

/// Returns the `User-Agent` without control characters, cut to [`MAX_USER_AGENT`] characters; `None` if
/// nothing remains.
fn user_agent(headers: &HeaderMap) -> Option<String> {
    let value = String::from_utf8_lossy(headers.get(header::USER_AGENT)?.as_bytes());
    let printable = value.chars().filter(|char| !char.is_control());
    Some(printable.take(MAX_USER_AGENT).collect()).filter(|text: &String| !text.is_empty())
}

/// Adds the headers of every response, and the error body of an error that has none yet.
fn complete_response(mut response: Response, response_context: &ResponseContext) -> Response {
    response_context.deferred_headers.write_to(response.headers_mut());
    allowed_methods::answer_unmatched_method(&mut response, &response_context.method);
    allowed_methods::name_patch_type(&mut response, &response_context.method);
    let error = take_unwritten_error(&mut response);
    let trace_id = &response_context.request.trace_id;
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(trace_id) {
        headers.insert("x-correlation-id", id);
    }
    let value = HeaderValue::from_static("nosniff");
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, value);
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    if let Some(error) = error {
        let format = if error.code().is_problem() {
            ErrorFormat::Problem
        } else {
            response_context.error_format
        };
        let media_type = HeaderValue::from_static(format.media_type());
        headers.insert(header::CONTENT_TYPE, media_type);
        headers.remove(header::CONTENT_LENGTH);
        add_to_list(headers, &header::VARY, &HeaderValue::from_static("Accept"));
        if error.code() == Code::RequestTimeout || error.code() == Code::PayloadTooLarge {
            // The rest of the body may still arrive and must not be read as the next request.
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        *response.body_mut() = Body::from(error.body(format, trace_id));
    }
    response
}

/// Returns whether this is a 4xx or 5xx response whose body is still to be written. Pages and OAuth errors
/// already have a body, and [`IntentionallyEmpty`] marks responses that must not get one.
pub fn is_unwritten_error(response: &Response) -> bool {
    let status = response.status();
    let failed = status.is_client_error() || status.is_server_error();
    failed
        && !response.headers().contains_key(header::CONTENT_TYPE)
        && response.extensions().get::<IntentionallyEmpty>().is_none()
}

/// Removes and returns the error of a response whose body is still to be written; `None` for any other
/// response.
fn take_unwritten_error(response: &mut Response) -> Option<Error> {
    let status = response.status();
    is_unwritten_error(response).then(|| {
        let error = response.extensions_mut().remove::<Error>();
        error.unwrap_or_else(|| Error::from_status(status))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace_id(value: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert("traceparent", value.parse().unwrap());
        caller(&headers).map(|caller| caller.trace_id().to_string())
    }

    #[test]
    fn only_a_valid_traceparent_is_continued() {
        for good in [
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future-will-be-like",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
        ] {
            assert_eq!(
                trace_id(good).as_deref(),
                Some("4bf92f3577b34da6a3ce929d0e0e4736"),
                "{good}"
            );
        }
        for bad in [
            "",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "0x-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.x",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-short-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-zz",
        ] {
            assert_eq!(trace_id(bad), None, "{bad}");
        }
    }
}
