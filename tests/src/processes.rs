//! Measurements of the running processes, from Linux's `/proc`.

use crate::world::World;
use std::collections::BTreeSet;
use std::time::Duration;

impl World {
    /// Returns the processor time that all running processes have used, to a hundredth of a second.
    pub fn processor_time(&self) -> Duration {
        self.pids().into_iter().map(processor_time).sum()
    }
}

/// Returns the most memory that a process has held so far, in KiB, or `None` if it has ended.
pub fn peak_memory_kib(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    peak.trim_end_matches("kB").trim().parse().ok()
}

/// Returns the ports of the clients whose connections to this port of 127.0.0.1 are open at both ends.
pub fn connections_to(port: u16) -> BTreeSet<u16> {
    /// TCP_ESTABLISHED of Linux.
    const ESTABLISHED: &str = "01";
    let sockets = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let port_of = |address: &str| {
        let (_, port) = address.split_once(':')?;
        u16::from_str_radix(port, 16).ok()
    };
    let client_of = |line: &str| {
        // The number of the socket, the own address, that of the peer, and the state (proc_net_tcp(5)).
        let mut fields = line.split_whitespace().skip(1);
        let own = port_of(fields.next()?)?;
        let peer = port_of(fields.next()?)?;
        (own == port && fields.next()? == ESTABLISHED).then_some(peer)
    };
    sockets.lines().filter_map(client_of).collect()
}

fn processor_time(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    // The name is in parentheses; user and system time are the 12th and 13th field after it
    // (proc_pid_stat(5)).
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let times = fields.split_whitespace().skip(11).take(2);
    let hundredths = times.map(|time| time.parse::<u64>().unwrap()).sum::<u64>();
    Duration::from_millis(10 * hundredths)
}
