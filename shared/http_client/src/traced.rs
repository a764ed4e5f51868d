//! The spans of requests to other servers, with the place in the trace in `traceparent`.

use opentelemetry::trace::TraceContextExt as _;
use opentelemetry::{Context, KeyValue, global};
use opentelemetry_http::HeaderInjector;
use reqwest::{Error, RequestBuilder, Response};

/// Sends a request to a server that the operator chose, in a span of the current trace if there is one.
pub async fn send(request: RequestBuilder) -> Result<Response, Error> {
    execute(request, true).await
}

/// Sends a request to a server that a third party chose, which does not learn the trace id.
pub(crate) async fn send_to_third_party(request: RequestBuilder) -> Result<Response, Error> {
    execute(request, false).await
}

async fn execute(request: RequestBuilder, tells_trace: bool) -> Result<Response, Error> {
    let (client, request) = request.build_split();
    let mut request = request?;
    let call = traces::call(|| request.method().to_string().into());
    if let Some(call) = &call {
        let method = request.method().to_string();
        // The host and not the URL, whose path or query may contain a secret.
        let host = request.url().host_str().unwrap_or_default().to_owned();
        call.span().set_attributes([
            KeyValue::new("http.request.method", method),
            KeyValue::new("server.address", host),
        ]);
    }
    if tells_trace {
        let context = call.clone().unwrap_or_else(Context::current);
        let mut headers = HeaderInjector(request.headers_mut());
        global::get_text_map_propagator(|propagator| propagator.inject_context(&context, &mut headers));
    }
    let sent = client.execute(request).await;
    if let Some(call) = call {
        let status = sent.as_ref().map(Response::status);
        if let Ok(status) = status {
            let status = KeyValue::new("http.response.status_code", i64::from(status.as_u16()));
            call.span().set_attribute(status);
        }
        let error = match status {
            Ok(status) if status.is_client_error() || status.is_server_error() => {
                Some(status.as_u16().to_string().into())
            }
            Ok(_) => None,
            Err(error) if error.is_timeout() => Some("timeout".into()),
            Err(error) if error.is_connect() => Some("connection".into()),
            Err(_) => Some("other".into()),
        };
        traces::end(&call, error);
    }
    sent
}
