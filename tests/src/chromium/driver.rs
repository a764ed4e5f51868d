//! The process of ChromeDriver, which starts the browser.

use crate::installed_programs::INSTALL_HINT;
use crate::ports::free_port;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

/// Becomes ChromeDriver with the port `$1`. Standard input is a pipe from the test process. It closes when
/// that process ends, even by SIGKILL, and then the whole process group is killed: the driver and its
/// browser.
const SUPERVISE: &str = r#"
exec 3<&0
{ cat <&3; kill -KILL 0; } >/dev/null &
exec chromedriver "--port=$1" </dev/null 3<&-
"#;

/// A running driver. Dropping it kills it with its browser.
#[derive(Debug)]
pub(super) struct Driver {
    process: Child,
    /// The port of 127.0.0.1 on which it listens.
    pub(super) port: u16,
}

impl Driver {
    /// Starts ChromeDriver, and waits until it listens.
    pub(super) fn start() -> Self {
        // With port 0 it would take a free port of IPv6, and end if the same port of IPv4 is in use.
        let port = free_port();
        let mut process = Command::new("sh")
            .args(["-c", SUPERVISE, "sh", &port.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // A process group of its own, so that the browser is killed with its driver.
            .process_group(0)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok);
        let driver = Self { process, port };
        let started = lines.find(|line| line.contains("started successfully") || line.contains("Exiting"));
        assert!(
            started.as_ref().is_some_and(|line| !line.contains("Exiting")),
            "chromedriver did not start: {started:?}; {INSTALL_HINT}"
        );
        std::thread::spawn(move || lines.for_each(drop));
        driver
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let group = format!("-{}", self.process.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::polling::pause;
    use std::os::unix::process::ExitStatusExt as _;
    use std::time::{Duration, Instant};

    /// The maximum time until the driver has ended on a busy machine.
    const TIMEOUT: Duration = Duration::from_secs(20);
    const SIGKILL: i32 = 9;

    #[test]
    fn the_driver_ends_with_the_test_process() {
        let mut driver = Driver::start();
        // The kernel closes the pipe likewise when the test process is killed.
        drop(driver.process.stdin.take());
        let began = Instant::now();
        let status = loop {
            if let Some(status) = driver.process.try_wait().unwrap() {
                break status;
            }
            assert!(began.elapsed() < TIMEOUT, "the driver did not end");
            pause();
        };
        assert_eq!(status.signal(), Some(SIGKILL));
    }
}
