"""Growth: latencies with few and with many rows, and bytes per row, on both engines."""

import shutil

from .database import POSTS, insert_families, insert_payments, insert_posts, insert_sessions
from .paths import Paths
from .processes import BenchmarkError
from .product import CLIENT_ID
from .report import number, table
from .rounds import measure

SAMPLE = 100_000
# Measured on both engines, with the indexes and the write-ahead log.
DISK_BYTES_PER_POST = 1500
SPARE_DISK_BYTES = 8e9
# Rotated in turn, so that the rows that one refresh finds in memory are not the same as those of the last.
CHAINS = 2000
PATHS = {"list": "GET /posts, 20, cursor", "one": "GET /posts/{id}", "refresh": f"refresh grant, {CHAINS} chains"}
TABLES = ["posts", "sessions", "refresh_families", "payments"]


def measure_growth(setup, options, progress):
    """Returns a table of latencies and one of bytes per row. One engine at a time, so that the disk need not hold both."""
    rounds, seconds = (1, 2) if options.quick else (3, 3)
    posts, families = options.posts, options.posts // 5
    needed = posts * DISK_BYTES_PER_POST + SPARE_DISK_BYTES
    latencies, bytes_per_row = [], []
    for engine in ("PostgreSQL", "SQLite"):
        if shutil.disk_usage(setup.directory).free < needed:
            raise BenchmarkError(f"{setup.directory} has less than {needed / 1e9:.0f} GB of free space.")
        product = setup.start_product_with_posts(f"growth_{engine.lower()}", engine)
        few = _measure(setup, product, rounds, seconds, progress)
        _grow(product.database, posts, families, progress)
        many = _measure(setup, product, rounds, seconds, progress)
        for path in PATHS:
            latencies.append(_latency_row(engine, path, few[path], many[path]))
        progress(f"measuring the size of tables on {engine}")
        bytes_per_row.append([engine, *(number(_bytes_per_row(product.database, kind)) for kind in TABLES)])
        product.stop()
        if engine == "PostgreSQL":
            setup.postgres.drop_database(product.database.name)
        else:
            shutil.rmtree(product.directory)
    few, many = f"{POSTS:,} posts", f"{posts:,} posts, {families:,} families"
    heads = ["path", "engine", f"{few}: per second", "p50 ms", "p99 ms", f"{many}: per second", "p50 ms", "p99 ms", "p50 ratio"]
    sizes = ["bytes per row, with indexes", *(name.replace("_", " ") for name in TABLES)]
    return f"{table(heads, latencies, texts=2)}\n\n{table(sizes, bytes_per_row)}"


def _grow(database, posts, families, progress):
    """Inserts the rows, in parts of a million so that progress shows."""
    for first in range(POSTS + 1, posts, 1_000_000):
        last = min(first + 999_999, posts)
        progress(f"inserting posts up to {last:,} on {database.engine}")
        insert_posts(database, first, last)
    progress(f"inserting families, sessions and payments on {database.engine}")
    insert_families(database, CLIENT_ID, families)
    insert_sessions(database, SAMPLE)
    insert_payments(database, SAMPLE)
    database.settle()


def _measure(setup, product, rounds, seconds, progress):
    """Measures the paths. Returns the candidate of each."""
    measured = {}
    for path in PATHS:
        paths = Paths(setup)
        paths.chains = CHAINS
        measured[path] = paths.of_product(path, product)
        measure([measured[path]], setup.postgres, rounds, seconds, progress)
    return measured


def _latency_row(engine, path, few, many):
    values = []
    for one in (few, many):
        p50, p99 = one.median(lambda done: done.load.p50), one.median(lambda done: done.load.p99)
        values += [number(one.rate), number(p50, 2), number(p99, 2)]
    ratio = many.median(lambda done: done.load.p50) / few.median(lambda done: done.load.p50)
    return [PATHS[path], engine, *values, number(ratio, 2)]


def _bytes_per_row(database, name):
    count = int(database.rows(f"SELECT count(*) FROM {name}")[0][0])
    return database.bytes_of(name) / count
