"""The tables and the JSON document."""

import dataclasses
import json
import os
import platform
import subprocess
from pathlib import Path

from .paths import ARGON2, RSA, TITLES


def number(value, digits=0):
    """A number with separators, or a dash."""
    return "–" if value is None else f"{value:,.{digits}f}"


def table(heads, rows, texts=1):
    """A Markdown table whose first columns are text and whose others are numbers."""
    align = ["---"] * texts + ["---:"] * (len(heads) - texts)
    lines = [heads, align, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def best_peer(candidates):
    """The fastest peer of a path, or None."""
    peers = [candidate for candidate in candidates if candidate.kind == "peer"]
    return max(peers, key=lambda peer: peer.rate, default=None)


def against(candidate, candidates):
    """The ratio to the fastest peer on the same engine and the shares of the limits, for a row of Latchkey. pgbench has no
    row on SQLite."""
    if candidate.kind != "latchkey":
        return ""
    is_first = candidate is candidates[0]
    peer = best_peer(candidates) if is_first else next((one for one in candidates if one.kind == "peer on SQLite"), None)
    before = next((one for one in candidates if one.program.startswith("Latchkey before")), None)
    parts = [f"{candidate.rate / before.rate:.2f} × before"] if is_first and before is not None else []
    parts += [] if peer is None else [f"{candidate.rate / peer.rate:.2f} × {peer.program.split(',')[0]}"]
    for limit in candidates:
        if limit.kind == "limit" and (is_first or limit.program in {RSA, ARGON2}):
            parts.append(f"{candidate.rate / limit.rate:.0%} of {limit.program.split(',')[0]}")
    return ", ".join(parts)


def speed_table(paths):
    """The table of the paths. `paths` maps the name of a path to its candidates. Of the peers in one and in several
    processes, the faster one is shown."""
    heads = ["path", "program", "per second", "against", "p50 ms", "p99 ms", "server CPU µs", "PostgreSQL CPU µs", "statements"]
    rows = []
    for path, candidates in paths.items():
        shown = [candidate for candidate in candidates if candidate.kind != "peer" or candidate is best_peer(candidates)]
        for index, candidate in enumerate(shown):
            rows.append(
                [
                    TITLES[path] if index == 0 else "",
                    candidate.program,
                    number(candidate.rate),
                    against(candidate, candidates),
                    number(candidate.median(lambda one: one.load.p50), 2),
                    number(candidate.median(lambda one: one.load.p99), 2),
                    number(candidate.median(lambda one: one.server_cpu)),
                    number(candidate.median(lambda one: one.database_cpu)),
                    number(candidate.statements, 2),
                ]
            )
    return table(heads, rows, texts=2)


def sign_in_table(measured):
    heads = ["reads beside 200 sign-ins", "program", "per second", "p50 ms", "p99 ms", "p99 ratio", "sign-ins per second"]
    rows = []
    for one in measured:
        accepted = (one.sign_ins.requests - one.sign_ins.failed) / one.sign_ins.seconds
        for name, load in (("alone", one.alone), ("beside", one.beside)):
            is_alone = load is one.alone
            ratio = "" if is_alone else number(load.p99 / one.alone.p99, 1)
            signed_in = "" if is_alone else number(accepted)
            rows.append([name, one.program, number(load.rate), number(load.p50, 2), number(load.p99, 2), ratio, signed_in])
    return table(heads, rows, texts=2)


def memory_table(measured):
    heads = [
        "resident memory, MB", "started", "after 16 sign-ups", "loaded", "after a warm start",
        "first start ms", "warm start ms",
    ]  # fmt: skip
    rows = [
        [
            one.program,
            *(number(value) for value in (one.started, one.signed_up, one.loaded, one.warm)),
            number(one.first_start),
            number(one.warm_start),
        ]
        for one in measured
    ]
    return table(heads, rows)


def machine():
    """A line about the machine and the versions."""
    cpu = next((l.split(":")[1].strip() for l in Path("/proc/cpuinfo").open() if l.startswith("model name")), "?")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    node = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout.strip()
    load = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} cores of {cpu}, {memory:.0f} GB, Linux {platform.release()}, Node.js {node}, "
        f"load average {load:.1f} at the start"
    )


def as_json(value):
    """The measurements as a JSON document."""

    def plain(part):
        if dataclasses.is_dataclass(part):
            kept = {item.name: getattr(part, item.name) for item in dataclasses.fields(part)}
            return {name: item for name, item in kept.items() if name not in {"prepare", "server", "database"}}
        raise TypeError(type(part))

    return json.dumps(value, default=plain, indent=2, ensure_ascii=False)
