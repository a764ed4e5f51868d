//! Writing of log lines by a thread of its own, so that a slow reader of standard error never delays a
//! request.
//!
//! The libraries for this wake their thread for every line, which costs a busy server more than the line
//! itself. This thread writes the first line after a pause at once, and the lines that follow it a short time
//! later together.

use foundation::sync::lock;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tracing_subscriber::fmt::MakeWriter;

/// The pause after a write, in which further lines are collected.
const COLLECTION_TIME: Duration = Duration::from_millis(10);
/// The size of the collected lines, in bytes, at which further lines are dropped. Reached only if standard
/// error is not read.
const MAX_SIZE: usize = 4 * 1024 * 1024;

/// The log's writer. Cheap to clone; clones write to the same log.
#[derive(Clone, Debug, Default)]
pub(super) struct LogWriter(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    collected: Mutex<Collected>,
    /// Notified of the first line after a pause, and of the end.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Collected {
    lines: Vec<u8>,
    /// The number of lines that did not fit.
    dropped: u64,
    is_ended: bool,
}

/// Writes the remaining lines when it is dropped.
#[derive(Debug)]
pub struct LogGuard {
    writer: LogWriter,
    thread: Option<JoinHandle<()>>,
}

impl LogWriter {
    /// Starts the thread that writes to `output`.
    pub(super) fn start(output: impl Write + Send + 'static) -> io::Result<(Self, LogGuard)> {
        let writer = Self::default();
        let thread = {
            let writer = writer.clone();
            std::thread::Builder::new()
                .name("log".to_owned())
                .spawn(move || writer.write_to(output))?
        };
        let guard = LogGuard {
            writer: writer.clone(),
            thread: Some(thread),
        };
        Ok((writer, guard))
    }

    /// Writes the collected lines until the end.
    fn write_to(self, mut output: impl Write) {
        let mut lines = Vec::new();
        loop {
            let is_ended = self.wait_for_lines();
            let dropped = {
                let mut collected = lock(&self.0.collected);
                std::mem::swap(&mut collected.lines, &mut lines);
                std::mem::take(&mut collected.dropped)
            };
            // There is no other place to report that standard error cannot be written.
            let _ = output.write_all(&lines);
            if dropped > 0 {
                let _ = writeln!(
                    output,
                    "{{\"level\":\"WARN\",\"message\":\"{dropped} log lines were dropped because standard error was not read\"}}"
                );
            }
            lines.clear();
            if is_ended {
                return;
            }
            #[allow(clippy::disallowed_methods, reason = "this thread does nothing else")]
            std::thread::sleep(COLLECTION_TIME);
        }
    }

    /// Waits until there are lines. Returns whether the log has ended.
    fn wait_for_lines(&self) -> bool {
        let mut collected = lock(&self.0.collected);
        while collected.lines.is_empty() && !collected.is_ended {
            let woken = self.0.changed.wait(collected);
            collected = woken.unwrap_or_else(PoisonError::into_inner);
        }
        collected.is_ended
    }
}

impl Write for LogWriter {
    /// Collects a line, or counts it as dropped. Never fails and never waits for the output.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let is_first = {
            let mut collected = lock(&self.0.collected);
            if collected.lines.len() + line.len() > MAX_SIZE {
                collected.dropped += 1;
                return Ok(line.len());
            }
            let is_first = collected.lines.is_empty();
            collected.lines.extend_from_slice(line);
            is_first
        };
        if is_first {
            self.0.changed.notify_one();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        lock(&self.writer.0.collected).is_ended = true;
        self.writer.0.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed already.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default)]
    struct Output(Arc<Mutex<Vec<u8>>>);

    impl Write for Output {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            lock(&self.0).write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn all_lines_are_written_in_order_when_the_guard_is_dropped() {
        let output = Output::default();
        let (mut writer, guard) = LogWriter::start(output.clone()).unwrap();
        let expected: String = (0..1_000).map(|number| format!("line {number}\n")).collect();
        for line in expected.split_inclusive('\n') {
            writer.write_all(line.as_bytes()).unwrap();
        }
        drop(guard);
        assert_eq!(String::from_utf8(lock(&output.0).clone()).unwrap(), expected);
    }

    #[test]
    fn lines_beyond_the_limit_are_dropped_and_counted() {
        let output = Output::default();
        // Holding the lock of the output stops the thread, like a reader that has stopped.
        let stopped = lock(&output.0);
        let (mut writer, guard) = LogWriter::start(output.clone()).unwrap();
        let line = [b'x'; 1024];
        for _ in 0..3 * MAX_SIZE / line.len() {
            writer.write_all(&line).unwrap();
        }
        drop(stopped);
        drop(guard);
        let written = String::from_utf8(lock(&output.0).clone()).unwrap();
        assert!(written.len() <= 2 * MAX_SIZE + 200, "{}", written.len());
        assert!(
            written.contains("log lines were dropped"),
            "{}",
            &written[written.len() - 200..]
        );
    }
}
