//! Traces over OTLP: the spans of both services, with the trace id of the logs and without secrets; and a
//! collector that does not answer.

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message as _;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tests::{Shape, StubServer, Tokens, World, WorldBuilder, eventually, on_every_shape, on_one_process};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
/// The id of the span of the client.
const CLIENT: &str = "00f067aa0ba902b7";

fn with_collector(shape: Shape, collector: &StubServer) -> WorldBuilder {
    World::builder(shape).flag("--otlp-url", &collector.url)
}

fn traceparent(trace_id: &str, flags: &str) -> String {
    format!("00-{trace_id}-{CLIENT}-{flags}")
}

/// The spans that the collector received, each with the name of its program as `service`.
fn spans(collector: &StubServer) -> Vec<Value> {
    let mut spans = Vec::new();
    for request in collector.received() {
        let export = ExportTraceServiceRequest::decode(request.bytes.as_slice()).unwrap();
        let body = serde_json::to_value(export).unwrap();
        for process in body["resourceSpans"].as_array().unwrap() {
            let service = attribute(&process["resource"], "service.name");
            for span in process["scopeSpans"][0]["spans"].as_array().unwrap() {
                let mut span = span.clone();
                span["service"] = service.clone();
                spans.push(span);
            }
        }
    }
    spans
}

/// The value of an attribute of a span or of a process; null if it has none.
fn attribute(object: &Value, key: &str) -> Value {
    let mut attributes = object["attributes"].as_array().unwrap().iter();
    let found = attributes.find(|attribute| attribute["key"] == key);
    let value = found.and_then(|found| found["value"].as_object()?.values().next());
    value.cloned().unwrap_or_default()
}

fn find<'a>(spans: &'a [Value], name: &str) -> &'a Value {
    let found = spans.iter().find(|span| span["name"] == name);
    found.unwrap_or_else(|| panic!("no span {name} in {spans:#?}"))
}

fn children<'a>(spans: &'a [Value], parent: &Value) -> Vec<&'a Value> {
    let is_child = |span: &&Value| span["parentSpanId"] == parent["spanId"];
    spans.iter().filter(is_child).collect()
}

async fn a_trace_covers_both_services_and_has_no_secret(shape: Shape) {
    let collector = StubServer::start().await;
    let headers = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(headers.path(), "Authorization: Bearer of-the-collector\n").unwrap();
    let setup = with_collector(shape, &collector);
    let setup = setup.flag("--otlp-headers-file", headers.path().to_str().unwrap());
    let mut world = setup.start().await;
    world.register_secret("Bearer of-the-collector");
    let (ann, app) = world.user_and_app().await;
    let first = app.tokens(&ann, "posts:read posts:write").await;
    let traceparent = traceparent(TRACE, "01");
    let refresh = app.refresh(&world.anyone(), &first.refresh);
    let second = Tokens::parse(refresh.header("traceparent", &traceparent).await);
    let bearer = world.anyone().bearer(&second.access);
    let create = bearer.post("/posts").json(&json!({ "title": "A title of Ann" }));
    create.header("traceparent", &traceparent).await.expect(201);
    let list = bearer.get("/posts?limit=17");
    list.header("traceparent", &traceparent).await.expect(200);
    let without_parent = bearer.get("/posts").await.expect(200).correlation_id().to_owned();
    // Sends the last spans.
    world.stop().await;

    let all = spans(&collector);
    let trace: Vec<Value> = all
        .iter()
        .filter(|span| span["traceId"] == TRACE)
        .cloned()
        .collect();
    let (issuer, api) = match shape {
        Shape::Split => ("auth-server", "api-server"),
        _ => ("latchkey", "latchkey"),
    };
    for (name, service, status) in [
        ("POST /token", issuer, "200"),
        ("POST /posts", api, "201"),
        ("GET /posts", api, "200"),
    ] {
        let span = find(&trace, name);
        assert_eq!(span["service"], service, "{span:#}");
        assert_eq!(span["parentSpanId"], CLIENT, "{span:#}");
        assert_eq!(span["kind"], 2, "{span:#}");
        assert_eq!(attribute(span, "http.response.status_code"), status, "{span:#}");
        let calls = children(&trace, span);
        let statement = calls.iter().find(|call| {
            let name = call["name"].as_str().unwrap();
            call["kind"] == 3 && name.contains("::") && !name.contains(' ')
        });
        let statement = statement.unwrap_or_else(|| panic!("{name} has no statement: {calls:#?}"));
        let system = match shape {
            Shape::Sqlite => "sqlite",
            _ => "postgresql",
        };
        assert_eq!(attribute(statement, "db.system.name"), system, "{statement:#}");
    }
    let lines = world.log_lines();
    for (route, id) in [("/token", TRACE), ("/posts", TRACE), ("/posts", &without_parent)] {
        let is_logged = |line: &Value| line["route"] == route && line["span"]["trace_id"] == id;
        assert!(lines.iter().any(is_logged), "{route} {id}");
    }
    let own = |span: &Value| span["name"] == "GET /posts" && span["traceId"] == without_parent.as_str();
    assert!(all.iter().any(own), "{without_parent}: {all:#?}");
    for request in collector.received() {
        assert_eq!(request.headers["authorization"], "Bearer of-the-collector");
        for secret in [
            first.refresh.as_str(),
            &second.refresh,
            &second.access,
            &ann.password,
            &ann.email,
            &ann.sid,
            "A title of Ann",
            "limit=17",
            "SELECT ",
            "INSERT INTO",
        ] {
            assert!(!request.body.contains(secret), "{secret} is in {}", request.body);
        }
    }
}

/// The API fetches the keys of the issuer in a trace of its own, which the issuer continues.
async fn a_background_task_is_a_trace_that_the_other_service_continues(shape: Shape) {
    let collector = StubServer::start().await;
    let _world = with_collector(shape, &collector).start().await;
    eventually("no trace has the fetch of the keys", || async {
        let spans = spans(&collector);
        let mut roots = spans
            .iter()
            .filter(|span| span["name"] == "fetch the keys of the issuer");
        roots.any(|root| {
            assert_eq!(root["parentSpanId"], "", "{root:#}");
            let calls = children(&spans, root);
            let mut answers = calls.iter().flat_map(|call| children(&spans, call));
            answers.any(|answer| answer["name"] == "GET /.well-known/jwks.json" && answer["kind"] == 2)
        })
    })
    .await;
}

async fn only_recorded_traces_are_exported(shape: Shape) {
    let collector = StubServer::start().await;
    let setup = with_collector(shape, &collector).flag("--traces-per-thousand", "0");
    let mut world = setup.start().await;
    let recorded = TRACE.replace('4', "5");
    for (trace_id, flags) in [(TRACE, "00"), (recorded.as_str(), "01")] {
        let call = world.anyone().get("/.well-known/jwks.json");
        let call = call.header("traceparent", &traceparent(trace_id, flags));
        assert_eq!(call.await.expect(200).correlation_id(), trace_id);
    }
    world.anyone().get("/.well-known/jwks.json").await.expect(200);
    world.stop().await;
    let spans = spans(&collector);
    let mut requests = spans
        .iter()
        .filter(|span| span["name"] == "GET /.well-known/jwks.json");
    let exported = requests.next().map(|span| &span["traceId"]);
    assert_eq!(exported, Some(&json!(recorded)), "{spans:#?}");
    assert!(requests.next().is_none(), "{spans:#?}");
}

async fn a_collector_that_fails_is_reported_once_and_delays_nothing(shape: Shape) {
    let collector = StubServer::start().await;
    collector.answer(503, "");
    let mut world = with_collector(shape, &collector).start().await;
    for _ in 0..2 {
        let before = collector.received().len();
        world.anyone().get("/posts").await;
        eventually("no attempt", || async { collector.received().len() > before }).await;
    }
    assert_eq!(
        world
            .log()
            .matches("the collector does not accept traces")
            .count(),
        1
    );
    collector.answer(200, "");
    world.anyone().get("/posts").await;
    eventually("the export does not go on", || async {
        world.log().contains("the collector accepts traces again")
    })
    .await;

    collector.never_answer();
    let began = Instant::now();
    for _ in 0..100 {
        world.anyone().get("/livez").await.expect(200);
    }
    world.stop().await;
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

on_every_shape!(
    a_trace_covers_both_services_and_has_no_secret,
    a_background_task_is_a_trace_that_the_other_service_continues,
);
on_one_process!(
    only_recorded_traces_are_exported,
    a_collector_that_fails_is_reported_once_and_delays_nothing,
);
