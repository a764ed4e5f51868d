"""Everything that a run of the benchmark starts, and its end."""

from contextlib import ExitStack
from pathlib import Path

from . import limits
from .database import PostgresDatabase, SqliteDatabase, insert_posts, insert_users
from .glewlwyd import Glewlwyd
from .paths import PROVEN_PATHS, cores
from .peers import Fastify, OidcProvider
from .postgres import Postgres
from .processes import ignore_signals
from .product import Product
from .redis import Redis

TOKEN_PATHS = {"refresh", "code", "introspect", "introspect-refresh", "jwks"}


class Setup:
    """The running programs. Use it in a `with` statement, which stops them."""

    def __init__(self, directory, program, modules, limit_programs, report):
        self.directory, self.program, self.modules, self.limit_programs = directory, program, modules, limit_programs
        self.report = report
        self.postgres_product = self.sqlite_product = self.product_before = self.product_with_redis = None
        self.glewlwyd = self.hello = None
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

    def start_product(self, name, engine="PostgreSQL", connections=None, program=None, redis_url=None):
        """Starts Latchkey on a new database, without data. `program` is the version, by default the measured one."""
        directory = self.directory / name
        directory.mkdir()
        if engine == "PostgreSQL":
            database = PostgresDatabase(self.postgres, name)
        else:
            database = SqliteDatabase(directory / "latchkey.db")
        product = Product(program or self.program, directory, database, connections, redis_url)
        return self._stopped_at_end(product)

    def start_product_with_posts(self, name, engine="PostgreSQL", program=None, redis_url=None):
        """Starts Latchkey with clients, users and 100,000 posts."""
        self.report(f"starting {name} on {engine}")
        product = self.start_product(name, engine, program=program, redis_url=redis_url)
        product.prepare()
        insert_users(product.database)
        insert_posts(product.database)
        return product

    def start_for(self, paths, with_sqlite, before=None):
        """Starts the programs that these paths need. `before` is an earlier version of Latchkey."""
        self.postgres_product = self.start_product_with_posts("latchkey")
        if with_sqlite:
            self.sqlite_product = self.start_product_with_posts("latchkey_sqlite", "SQLite")
        if before is not None:
            self.product_before = self.start_product_with_posts("latchkey_before", program=Path(before).resolve())
        if paths & PROVEN_PATHS:
            redis = self._stopped_at_end(Redis(self.directory / "redis"))
            self.product_with_redis = self.start_product_with_posts("latchkey_redis", redis_url=redis.url)
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

    def products_of_engines(self):
        """The running Latchkeys of the measured version, one for each engine."""
        return [product for product in (self.postgres_product, self.sqlite_product) if product is not None]

    def products(self):
        """All running Latchkeys."""
        others = (self.product_before, self.product_with_redis)
        return self.products_of_engines() + [product for product in others if product is not None]
