"""The effect of the number of connections to PostgreSQL."""

import statistics

from .paths import TITLES, Paths
from .report import number, table
from .rounds import measure

PATHS = ["list", "one", "create", "refresh"]


def measure_connections(setup, options, progress):
    """Measures Latchkey with each number of connections on one database. Returns a table of requests per second."""
    rounds, seconds = (1, 2) if options.quick else (3, 3)
    counts = [int(count) for count in options.connections.split(",")]
    product = setup.start_product_with_posts("latchkey")
    paths = Paths(setup)
    rates = {}
    for _ in range(rounds):
        for count in counts:
            product.stop()
            product.environment["LATCHKEY_DATABASE_CONNECTIONS"] = str(count)
            product.start()
            for path in PATHS:
                candidate = paths.of_product(path, product)
                measure([candidate], setup.postgres, 1, seconds)
                progress(f"{count} connections: {path}: {candidate.rate:,.0f}/s")
                rates.setdefault((count, path), []).append(candidate.rate)
    heads = ["connections", *(TITLES[path] for path in PATHS)]
    rows = [[str(count), *(number(statistics.median(rates[count, path])) for path in PATHS)] for count in counts]
    return table(heads, rows)
