"""Interleaved rounds: each candidate of a path runs once per round, and the medians are compared."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field

from .load import Load
from .processes import cpu_seconds


@dataclass
class Candidate:
    """One program on one path. `prepare(seconds)` makes ready what the next run uses up, and returns the run."""

    path: str
    program: str
    kind: str  # "latchkey", "peer", "peer on SQLite" or "limit"
    prepare: Callable[[int], Callable[[], Load]]
    server: int | None = None  # the process id
    database: str | None = None  # the name of its database on the private PostgreSQL server
    rounds: list = field(default_factory=list)
    statements: float | None = None  # per request
    failed: int = 0

    def median(self, value):
        """The median of `value(round)` over the rounds, or None if the rounds do not have it."""
        values = [value(one) for one in self.rounds]
        return None if not values or None in values else statistics.median(values)

    @property
    def rate(self):
        """Requests per second."""
        return self.median(lambda one: one.load.rate)


@dataclass
class Round:
    """One run, with the CPU time in microseconds per request of the server and of PostgreSQL."""

    load: Load
    server_cpu: float | None
    database_cpu: float | None


def measure(candidates, postgres, rounds, seconds, report=lambda text: None):
    """Runs the candidates of one path. A run of one second warms up and counts the statements."""
    for candidate in candidates:
        run = candidate.prepare(1)
        is_counted = candidate.database is not None and candidate.kind != "limit"
        if is_counted:
            postgres.begin_statistics()
        load = run()
        if is_counted:
            count = postgres.end_statistics(candidate.database)
            candidate.statements = None if count is None else count / max(load.requests, 1)
        candidate.failed += load.failed
    for _ in range(rounds):
        for candidate in candidates:
            _measure_once(candidate, postgres, seconds)
            latest = candidate.rounds[-1].load
            report(f"{candidate.path}: {candidate.program}: {latest.rate:,.0f}/s, {candidate.failed} failed")


def _measure_once(candidate, postgres, seconds):
    run = candidate.prepare(seconds)
    processes = [candidate.server, postgres.process.pid if candidate.database else None]
    before = [pid and cpu_seconds(pid) for pid in processes]
    load = run()
    after = [pid and cpu_seconds(pid) for pid in processes]
    spent = [
        None if pid is None else (end - begin) * 1e6 / max(load.requests, 1)
        for pid, begin, end in zip(processes, before, after)
    ]
    candidate.rounds.append(Round(load, *spent))
    candidate.failed += load.failed
