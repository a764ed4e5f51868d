"""A private PostgreSQL server with durable commits."""

import os
import shutil
import signal
from pathlib import Path

from .processes import BenchmarkError, Process, run

# Everything else keeps PostgreSQL's own default: fsync, synchronous_commit and full_page_writes are on.
SETTINGS = {
    "listen_addresses": "",
    "shared_buffers": "512MB",
    "max_wal_size": "2GB",
    "max_connections": "200",
    "logging_collector": "off",
}


def find_binaries():
    """The directory of PostgreSQL's programs, the newest installed version."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    if found:
        return found[-1].parent
    initdb = shutil.which("initdb")
    if initdb is None:
        raise BenchmarkError("PostgreSQL's initdb is missing.")
    return Path(initdb).resolve().parent


class Postgres:
    """A running server."""

    def __init__(self, directory):
        """Creates a cluster in this directory and starts it."""
        self.binaries = find_binaries()
        self.socket_directory = directory / "postgres"
        self.socket_directory.mkdir()
        as_postgres = []
        if os.geteuid() == 0:
            # The server refuses to run as root.
            shutil.chown(self.socket_directory, "postgres")
            # A change of the user clears the signal that `Process` sets, so it is set again.
            as_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig=INT"]
        data = self.socket_directory / "data"
        run(
            *as_postgres, self.binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
            "--locale=C.UTF-8", cwd=self.socket_directory,
        )  # fmt: skip
        settings = SETTINGS | {"unix_socket_directories": str(self.socket_directory)}
        self.has_statistics = self._has_statistics()
        if self.has_statistics:
            settings["shared_preload_libraries"] = "pg_stat_statements"
            (data / "postgresql.auto.conf").open("a").write("pg_stat_statements.track = 'none'\n")
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        # The server logs to standard error, which the shell redirects so that "ready" can be read.
        command = [*as_postgres, self.binaries / "postgres", "-D", data, *options]
        self.process = Process(
            ["sh", "-c", 'exec "$@" 2>&1', "sh", *command],
            lambda line: "ready to accept connections" in line,
            directory=self.socket_directory,
        )
        if self.has_statistics:
            self.query("CREATE EXTENSION pg_stat_statements")

    def _has_statistics(self):
        """Whether the extension pg_stat_statements is installed."""
        share = Path(run(self.binaries / "pg_config", "--sharedir").strip())
        return (share / "extension" / "pg_stat_statements.control").exists()

    def stop(self):
        self.process.stop(signal.SIGINT)

    def query(self, sql, database="postgres"):
        """Runs SQL statements. Returns the rows of the last as lists of text."""
        output = run(
            self.binaries / "psql", "-h", self.socket_directory, "-U", "postgres", "-d", database,
            "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-f", "-",
            stdin=sql,
        )  # fmt: skip
        return [line.split("\t") for line in output.splitlines()]

    def create_database(self, name):
        self.query(f"CREATE DATABASE {name}")

    def drop_database(self, name):
        self.query(f"DROP DATABASE {name} WITH (FORCE)")

    def url(self, database):
        """The URL for Latchkey."""
        return f"postgres://postgres@localhost/{database}?host={self.socket_directory}"

    def environment(self, database):
        """The variables for pg, the driver of the peers."""
        return {"PGHOST": self.socket_directory, "PGUSER": "postgres", "PGDATABASE": database}

    def begin_statistics(self):
        """Begins to count statements. The count costs time, so it is off otherwise."""
        if self.has_statistics:
            self.query("ALTER SYSTEM SET pg_stat_statements.track = 'top'")
            self.query("SELECT pg_reload_conf(), pg_stat_statements_reset()")

    def end_statistics(self, database):
        """Returns the number of statements that ran in a database since `begin_statistics`, or None if the extension is
        not installed. BEGIN and COMMIT are statements too."""
        if not self.has_statistics:
            return None
        rows = self.query(
            f"""SELECT coalesce(sum(calls), 0) FROM pg_stat_statements
                JOIN pg_database ON pg_database.oid = dbid WHERE datname = '{database}'"""
        )
        self.query("ALTER SYSTEM SET pg_stat_statements.track = 'none'")
        self.query("SELECT pg_reload_conf()")
        return int(rows[0][0])
