//! Measurements of the running processes, from Linux's `/proc`.

use crate::world::World;
use std::time::Duration;

impl World {
    /// Returns the processor time that all running processes have used, to a hundredth of a second.
    pub fn processor_time(&self) -> Duration {
        self.pids().into_iter().map(processor_time).sum()
    }
}

/// Returns the most memory that a process has held so far, in KiB.
pub fn peak_memory_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.unwrap().trim_end_matches("kB").trim().parse().unwrap()
}

fn processor_time(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    // The name is in parentheses; user and system time are the 12th and 13th field after it (proc_pid_stat(5)).
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let times = fields.split_whitespace().skip(11).take(2);
    let hundredths = times.map(|time| time.parse::<u64>().unwrap()).sum::<u64>();
    Duration::from_millis(10 * hundredths)
}
