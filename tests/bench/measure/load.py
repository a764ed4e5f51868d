"""The load: runs of wrk with the scripts in tests/bench/load, and pgbench."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .processes import BenchmarkError, clean_environment, run

SCRIPTS = Path(__file__).resolve().parent.parent / "load"
THREADS = 2
CONNECTIONS = 16
FORM = "application/x-www-form-urlencoded"


@dataclass
class Load:
    """The result of one run: requests, seconds, median and 99th percentile of the latency in milliseconds (None if the
    tool does not measure them), and the number of failed requests."""

    requests: int
    seconds: float
    p50: float | None
    p99: float | None
    failed: int = 0

    @property
    def rate(self):
        """Requests per second."""
        return self.requests / self.seconds


def wrk_command(url, script, *arguments, seconds, connections=CONNECTIONS):
    """The command line of wrk. The timeout is longer than any answer, so that slow ones are measured."""
    threads = min(THREADS, connections)
    options = [f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s"]
    return ["wrk", *options, "-s", SCRIPTS / script, url, "--", *arguments]


def wrk(command):
    """Runs wrk and returns its load."""
    return parse_wrk(run(*command, cwd=SCRIPTS, env=clean_environment()))


def start_wrk(command):
    """Starts wrk beside another run. Returns the process, whose output `parse_wrk` reads."""
    return subprocess.Popen(
        [str(part) for part in command], cwd=SCRIPTS, env=clean_environment(), text=True, stdout=subprocess.PIPE
    )


def parse_wrk(output):
    """Reads the line that `done` in common.lua prints."""
    line = next((line for line in output.splitlines() if line.startswith("RESULT ")), None)
    if line is None:
        raise BenchmarkError(f"wrk printed no result:\n{output}")
    result = json.loads(line.removeprefix("RESULT "))
    return Load(
        requests=result["requests"],
        seconds=result["microseconds"] / 1e6,
        p50=result["p50"] / 1e3,
        p99=result["p99"] / 1e3,
        failed=max(result["failed"], result["wrong"]),
    )


def pgbench(binary, socket_directory, database, script, seconds, clients=4):
    """Runs a pgbench script with prepared statements."""
    output = run(
        binary, "-h", socket_directory, "-U", "postgres", "-n", "-M", "prepared", "-f", script,
        "-c", clients, "-j", min(2, clients), "-T", seconds, database,
    )  # fmt: skip
    count = int(re.search(r"transactions actually processed: (\d+)", output)[1])
    failed = re.search(r"number of failed transactions: (\d+)", output)
    rate = float(re.search(r"tps = ([0-9.]+)", output)[1])
    return Load(requests=count, seconds=count / rate, p50=None, p99=None, failed=int(failed[1]) if failed else 0)
