"""The benchmark's command. `tests/bench/run` installs what it needs and calls it."""

import argparse
import signal
import sys
import time
from pathlib import Path

from . import report
from .connections import measure_connections
from .database import first_user, give_all_posts_to
from .extra import memory_of_fastify, memory_of_product, reads_beside_sign_ins
from .growth import measure_growth
from .paths import TITLES, Paths
from .processes import BenchmarkError, work_directory
from .rounds import measure
from .setup import Setup

EXTRA = ["sign-ins", "memory"]


def arguments():
    parser = argparse.ArgumentParser(prog="tests/bench/run", description="Measures Latchkey beside its peers.")
    parser.add_argument("--quick", action="store_true", help="one round of 2 s instead of five of 3 s")
    parser.add_argument("--sqlite", action="store_true", help="add rows for Latchkey on SQLite")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--only", metavar="NAME,…", help=f"measure only these: {', '.join([*TITLES, *EXTRA])}")
    parser.add_argument("--growth", action="store_true", help="measure with few and with many rows instead, and bytes per row")
    parser.add_argument("--posts", metavar="N", type=int, default=5_000_000, help="the many rows of --growth (5 million)")
    parser.add_argument("--connections", metavar="N,…", help="compare these values of LATCHKEY_DATABASE_CONNECTIONS instead")
    parser.add_argument("--program", metavar="PATH", help="measure this latchkey instead of building one")
    parser.add_argument("--before", metavar="PATH", help="measure this latchkey too, of an earlier version, in the same rounds")
    # These are for tests/bench/run.
    parser.add_argument("--modules", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--limits", type=Path, help=argparse.SUPPRESS)
    parsed = parser.parse_args()
    parsed.only = parsed.only.split(",") if parsed.only else [*TITLES, *EXTRA]
    unknown = [name for name in parsed.only if name not in [*TITLES, *EXTRA]]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}")
    return parsed


def progress(text):
    """Prints a line of progress to standard error."""
    print(f"[{time.monotonic() - BEGAN:5.0f} s] {text}", file=sys.stderr, flush=True)


def measure_speed(setup, options):
    """Measures the paths, the sign-ins and the memory."""
    rounds, seconds = (1, 2) if options.quick else (5, 3)
    paths = [path for path in TITLES if path in options.only]
    setup.start_for(set(paths) | ({"one"} if "memory" in options.only else set()), options.sqlite, options.before)
    made = Paths(setup)
    measured = {"machine": MACHINE, "synced_writes": setup.sync_rate}
    measured |= {"paths": {}, "sign_ins": [], "memory": []}
    for path in paths:
        for product in setup.products():
            if path == "listall":
                give_all_posts_to(product.database, first_user(product.database))
            if path == "listall-own":
                give_all_posts_to(product.database, product.user_id, drafts=3)
        measured["paths"][path] = made.candidates(path)
        measure(measured["paths"][path], setup.postgres, rounds, seconds, progress)
    if "sign-ins" in options.only:
        for product in setup.products_of_engines():
            progress(f"sign-ins: Latchkey, {product.database.engine}")
            measured["sign_ins"].append(reads_beside_sign_ins(product, made.requests, 3 if options.quick else 5))
    if "memory" in options.only:
        for engine in ("PostgreSQL", "SQLite"):
            progress(f"memory: Latchkey, {engine}")
            measured["memory"].append(memory_of_product(setup, engine, made.requests, seconds))
        measured["memory"].append(memory_of_fastify(setup, made.requests, seconds))
    return measured


def print_speed(measured):
    """Prints the tables."""
    print(f"{measured['machine']}.")
    print(f"One writer makes {measured['synced_writes']:,.0f} writes of 8 KiB per second that are on disk.\n")
    if measured["paths"]:
        print(report.speed_table(measured["paths"]), end="\n\n")
    if measured["sign_ins"]:
        print(report.sign_in_table(measured["sign_ins"]), end="\n\n")
    if measured["memory"]:
        print(report.memory_table(measured["memory"]), end="\n\n")


def failures(measured):
    """Descriptions of the failed requests."""
    candidates = [candidate for found in measured["paths"].values() for candidate in found]
    failed = [f"{one.path}: {one.program}: {one.failed} failed" for one in candidates if one.failed]
    for one in measured["sign_ins"]:
        if one.alone.failed or one.beside.failed:
            failed.append(f"sign-ins: {one.program}: reads failed")
    return failed


def main():
    # The `with` statements stop all programs when this one is asked to end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options = arguments()
    with work_directory() as directory, Setup(
        directory, Path(options.program).resolve(), options.modules, options.limits, progress
    ) as setup:
        if options.growth:
            print(measure_growth(setup, options, progress))
            return 0
        if options.connections:
            print(measure_connections(setup, options, progress))
            return 0
        measured = measure_speed(setup, options)
    if options.json:
        print(report.as_json(measured))
    else:
        print_speed(measured)
    failed = failures(measured)
    for failure in failed:
        print(failure, file=sys.stderr)
    return 1 if failed else 0


BEGAN = time.monotonic()
MACHINE = report.machine()
try:
    sys.exit(main())
except BenchmarkError as error:
    sys.exit(f"tests/bench/run: {error}")
except KeyboardInterrupt:
    sys.exit(130)
