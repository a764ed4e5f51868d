"""Everything that a run of the benchmark starts, and its end."""

from contextlib import ExitStack

from . import limits
from .database import PostgresDatabase, SqliteDatabase, insert_posts, insert_users
from .glewlwyd import Glewlwyd
from .paths import cores
from .peers import Fastify, OidcProvider
from .postgres import Postgres
from .processes import ignore_signals
from .product import Product

TOKEN_PATHS = {"refresh", "code", "introspect", "introspect-refresh", "jwks"}


class Setup:
    """The running programs. Use it in a `with` statement, which stops them."""

    def __init__(self, directory, program, modules, limit_programs, report):
        self.directory, self.program, self.modules, self.limit_programs = directory, program, modules, limit_programs
        self.report = report
        self.postgres_product = self.sqlite_product = self.glewlwyd = self.hello = None
        self.fastify, self.oidc_providers = [], []
        self._stack = ExitStack()

    def __enter__(self):
        self.report("measuring the rate of synced writes")
        self.sync_rate = limits.synced_writes_per_second(self.directory)
        self.report("starting PostgreSQL")
        self.postgres = self._stopped_at_end(Postgres(self.directory))
        return self

    def __exit__(self, *exception):
        ignore_signals()
        self._stack.close()

    def _stopped_at_end(self, program):
        self._stack.callback(program.stop)
        return program

    def start_product(self, name, engine="PostgreSQL", connections=None):
        """Starts Latchkey on a new database, without data."""
        directory = self.directory / name
        directory.mkdir()
        if engine == "PostgreSQL":
            database = PostgresDatabase(self.postgres, name)
        else:
            database = SqliteDatabase(directory / "latchkey.db")
        return self._stopped_at_end(Product(self.program, directory, database, connections))

    def start_product_with_posts(self, name, engine="PostgreSQL"):
        """Starts Latchkey with clients, users and 100,000 posts."""
        self.report(f"starting Latchkey on {engine}")
        product = self.start_product(name, engine)
        product.prepare()
        insert_users(product.database)
        insert_posts(product.database)
        return product

    def start_for(self, paths, with_sqlite):
        """Starts the programs that these paths need."""
        self.postgres_product = self.start_product_with_posts("latchkey")
        if with_sqlite:
            self.sqlite_product = self.start_product_with_posts("latchkey_sqlite", "SQLite")
        # In one process, and in one for each core.
        counts = sorted({1, cores()})
        if paths & {"list", "one", "not-modified", "create"}:
            self.report("starting Fastify")
            Fastify.create_database(self.postgres, "fastify", "latchkey")
            for count in counts:
                peer = Fastify(self.modules, count, self.postgres, "fastify")
                self.fastify.append(self._stopped_at_end(peer))
        if paths & TOKEN_PATHS:
            self.report("starting oidc-provider")
            self.postgres.create_database("oidc_provider")
            for count in counts:
                peer = OidcProvider(self.modules, count, self.postgres, "oidc_provider")
                self.oidc_providers.append(self._stopped_at_end(peer))
        if "refresh" in paths and with_sqlite:
            self.report("starting Glewlwyd")
            self.glewlwyd = self._stopped_at_end(Glewlwyd(self.directory / "glewlwyd"))
        if "jwks" in paths:
            self.hello = self._stopped_at_end(limits.Hello(self.limit_programs / "hello"))

    def products(self):
        """The running Latchkeys."""
        return [product for product in (self.postgres_product, self.sqlite_product) if product is not None]
