"""Child processes of the benchmark: starting, stopping, and their CPU time and memory from /proc."""

import collections
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
STOP_SECONDS = 25


class BenchmarkError(Exception):
    """The benchmark cannot go on. The message says why."""


@contextlib.contextmanager
def work_directory():
    """A directory on disk that is deleted at the end. /var/tmp, because /tmp may be kept in memory, where commits cost
    nothing."""
    base = os.environ.get("TMPDIR") or "/var/tmp"
    path = Path(tempfile.mkdtemp(prefix="latchkey-bench-", dir=base))
    path.chmod(0o755)
    try:
        yield path
    finally:
        ignore_signals()
        shutil.rmtree(path, ignore_errors=True)


def ignore_signals():
    """Ignores requests to end from here on, so that the end is complete."""
    for ignored in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)


def run(*command, stdin="", **options):
    """Runs a command to completion and returns its standard output. Fails if its exit code is not 0."""
    done = subprocess.run(
        [str(part) for part in command], input=stdin, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )
    if done.returncode != 0:
        raise BenchmarkError(f"{' '.join(map(str, command))}\nexit {done.returncode}\n{done.stdout}{done.stderr}"[:4000])
    return done.stdout


def clean_environment(**settings):
    """The environment of this process without settings of Latchkey and PostgreSQL, and with these variables."""
    prefixes = ("LATCHKEY_", "PG")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}
    return kept | {name: str(value) for name, value in settings.items()}


def free_port():
    """A TCP port on which nobody listens now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Process:
    """A server that runs until `stop`. It is killed if this process dies."""

    def __init__(self, command, is_ready, environment=None, directory=None):
        """Starts the command and reads its standard output until `is_ready(line)` is true. Discards its standard
        error: log lines are written, but they do not fill the disk that the databases use."""
        self.command = [str(part) for part in command]
        self.options = {"env": environment or clean_environment(), "cwd": directory}
        self.child = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *self.command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            **self.options,
        )
        self.first_line = next((line for line in self.child.stdout if is_ready(line)), None)
        if self.first_line is None:
            self.stop()
            raise BenchmarkError(f"{' '.join(self.command)} did not start:\n{self._error()}")
        # A full pipe would block the process.
        threading.Thread(target=collections.deque, args=(self.child.stdout, 0), daemon=True).start()

    def _error(self):
        """Starts the command again to learn why it fails."""
        try:
            again = subprocess.run(
                self.command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10, **self.options
            )
            return (again.stdout + again.stderr)[-2000:]
        except subprocess.TimeoutExpired:
            return "the second attempt did not fail within 10 s"

    @property
    def pid(self):
        return self.child.pid

    def stop(self, stop_signal=signal.SIGTERM):
        """Ends the process, at the latest by SIGKILL."""
        if self.child.poll() is None:
            self.child.send_signal(stop_signal)
            try:
                self.child.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(self.child.pid, signal.SIGKILL)
                self.child.wait()


def _stat_fields(pid):
    """The fields of /proc/PID/stat after the command name, or None if the process has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return text[text.rindex(")") + 2 :].split()


def process_tree(root):
    """The process `root` and its descendants, with their fields of /proc/PID/stat."""
    fields = {int(entry.name): _stat_fields(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()}
    tree, children = {}, {}
    for pid, stat in fields.items():
        if stat is not None:
            children.setdefault(int(stat[1]), []).append(pid)
    pending = [root]
    while pending:
        pid = pending.pop()
        if fields.get(pid) is not None:
            tree[pid] = fields[pid]
            pending += children.get(pid, [])
    return tree


def cpu_seconds(root):
    """The CPU time that a process and its descendants have used, including those that have ended."""
    ticks = sum(int(field) for stat in process_tree(root).values() for field in stat[11:15])
    return ticks / TICKS_PER_SECOND


def resident_megabytes(root):
    """The resident memory of a process and its descendants."""
    pages = sum(int(stat[21]) for stat in process_tree(root).values())
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
