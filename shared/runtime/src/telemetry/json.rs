//! Log lines as JSON objects: `timestamp`, `level`, the fields of the event, `target`, and the fields of the
//! innermost span as `span`.
//!
//! The JSON formatter of tracing-subscriber writes the same lines and costs several times more per request.

use foundation::clock;
use std::fmt::{self, Debug};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::field::{RecordFields, VisitOutput};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

/// Formats events and the fields of spans.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonLines;

/// Writes fields as members of a JSON object, each after a comma.
struct Members<'a> {
    writer: Writer<'a>,
    result: fmt::Result,
}

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let metadata = event.metadata();
        write!(
            writer,
            r#"{{"timestamp":"{}","level":"{}""#,
            clock::now(),
            metadata.level()
        )?;
        let mut members = Members {
            writer: writer.by_ref(),
            result: Ok(()),
        };
        event.record(&mut members);
        members.result?;
        write!(writer, r#","target":"{}""#, metadata.target())?;
        if let Some(span) = context.lookup_current() {
            write!(writer, r#","span":{{"name":"{}""#, span.name())?;
            if let Some(fields) = span.extensions().get::<FormattedFields<N>>() {
                writer.write_str(fields)?;
            }
            writer.write_char('}')?;
        }
        writer.write_str("}\n")
    }
}

impl<'writer> FormatFields<'writer> for JsonLines {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut members = Members {
            writer,
            result: Ok(()),
        };
        fields.record(&mut members);
        members.finish()
    }
}

impl Members<'_> {
    fn add(&mut self, field: &Field, write_value: impl FnOnce(&mut Writer<'_>) -> fmt::Result) {
        if self.result.is_ok() {
            self.result =
                write!(self.writer, r#","{}":"#, field.name()).and_then(|()| write_value(&mut self.writer));
        }
    }
}

impl VisitOutput<fmt::Result> for Members<'_> {
    fn finish(self) -> fmt::Result {
        self.result
    }
}

impl Visit for Members<'_> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        // JSON has no infinity and no NaN.
        match value.is_finite() {
            true => self.add(field, |writer| write!(writer, "{value}")),
            false => self.add(field, |writer| writer.write_str("null")),
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, |writer| write!(writer, "{value}"));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, |writer| write!(writer, "{value}"));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, |writer| write!(writer, "{value}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, |writer| write_string(writer, value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.add(field, |writer| write_string(writer, &format!("{value:?}")));
    }
}

/// Writes a JSON string.
fn write_string(writer: &mut Writer<'_>, text: &str) -> fmt::Result {
    let needs_escape = |byte| matches!(byte, b'"' | b'\\' | 0..=31);
    if text.bytes().any(needs_escape) {
        return writer.write_str(&serde_json::Value::from(text).to_string());
    }
    write!(writer, "\"{text}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use foundation::sync::lock;
    use serde_json::{Value, json};
    use std::io;
    use std::sync::{Arc, Mutex};
    use tracing_subscriber::layer::SubscriberExt as _;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            lock(&self.0).write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_is_one_json_object_with_the_fields_and_the_span() {
        let lines = Lines::default();
        let output = lines.clone();
        let layer = tracing_subscriber::fmt::layer()
            .event_format(JsonLines)
            .fmt_fields(JsonLines)
            .with_writer(move || output.clone());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            tracing::info_span!("request", trace_id = "4bf9").in_scope(|| {
                let route: Option<&str> = None;
                tracing::warn!(target: "access", route, text = "a\"b\\\n\u{1}é", n = -1, status = 200_u16, ok = true,
                               ratio = 0.5, not_a_number = f64::NAN, error = %"x \"y\"", "said {}", 1);
            });
            tracing::error!("outside");
        });
        let text = String::from_utf8(lock(&lines.0).clone()).unwrap();
        let mut parsed: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        for line in &mut parsed {
            let timestamp = line.as_object_mut().unwrap().remove("timestamp");
            assert_eq!(timestamp.unwrap().as_str().unwrap().len(), 27);
        }
        let inside = json!({
            "level": "WARN", "message": "said 1", "text": "a\"b\\\n\u{1}é", "n": -1, "status": 200, "ok": true,
            "ratio": 0.5, "not_a_number": null, "error": "x \"y\"", "target": "access",
            "span": { "name": "request", "trace_id": "4bf9" },
        });
        let target = module_path!();
        assert_eq!(
            parsed,
            [
                inside,
                json!({ "level": "ERROR", "message": "outside", "target": target })
            ]
        );
    }
}
