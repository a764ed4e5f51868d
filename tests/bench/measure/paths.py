"""The measured paths: for each, the candidates and their requests."""

import itertools
import json
import os
from pathlib import Path

from .browser import basic_credentials, call, pkce
from .database import sample_posts
from .glewlwyd import TOKEN_PATH
from .limits import PGBENCH_SCRIPTS, password_hashes, rsa_signatures
from .load import CONNECTIONS, THREADS, pgbench, wrk, wrk_command
from .processes import BenchmarkError
from .product import CLIENT_ID, CONFIDENTIAL_CLIENT_ID, PASSWORD, USER_EMAIL, cursor
from .proofs import Proofs
from .rounds import Candidate

TITLES = {
    "list": "GET /posts, 20 of 100k, cursor",
    "one": "GET /posts/{id}",
    "one-dpop": "GET /posts/{id}, a DPoP proof each",
    "not-modified": "GET /posts/{id}, 304",
    "create": "POST /posts",
    "anonymous": "GET /posts/{id}, no token",
    "refresh": f"refresh grant, {CONNECTIONS} chains",
    "code": "code → token",
    "code-dpop": "code → token, a DPoP proof each",
    "introspect": "POST /introspect, access token",
    "introspect-refresh": "POST /introspect, refresh token",
    "login": "POST /login",
    "jwks": "GET /.well-known/jwks.json",
    "listall": "GET /posts, all by one other author",
    "listall-own": "GET /posts, all by the caller, 3 drafts",
}
PROVEN_PATHS = {"one-dpop", "code-dpop"}
ON_SQLITE = {"list", "one", "create", "refresh", "code", "introspect", "introspect-refresh", "login", "listall", "listall-own"}
RSA = "RSA-2048 signatures, all cores"
ARGON2 = "Argon2id hashes, all cores"
# Codes to prepare per second and core. Each exchange signs an access token, and a core makes some thousand signatures per
# second. The peer spends more time on other things. A program that uses up its codes fails the run.
LATCHKEY_CODES = 5000
PEER_CODES = 1200
# DPoP proofs to prepare per second and core, each for one request.
PROOFS = 10_000
INTROSPECTED_TOKENS = 1000
SIGN_IN = json.dumps({"email": USER_EMAIL, "password": PASSWORD})
NEW_POST = json.dumps({"title": "A new post", "body": "Some text of a new post. " * 8, "status": "published"})


class Requests:
    """Files of requests for wrk, in a directory."""

    def __init__(self, directory):
        self.directory, self.number = directory, 0

    def write(self, lines):
        """Writes a file with these lines and returns its path. The previous files stay."""
        self.number += 1
        file = self.directory / f"requests-{self.number}"
        file.write_text("".join(f"{line}\n" for line in lines))
        return file


class Paths:
    """Makes the candidates from the programs that a `Setup` has started. `chains` is the number of refresh chains, at
    least the number of connections."""

    def __init__(self, setup):
        self.setup = setup
        self.requests = Requests(setup.directory)
        self.proofs = Proofs(setup.directory)
        self.chains = CONNECTIONS

    def candidates(self, path):
        """All candidates of a path, Latchkey first."""
        setup = self.setup
        products = [(setup.postgres_product, "Latchkey, PostgreSQL")]
        if setup.sqlite_product is not None and path in ON_SQLITE:
            products.append((setup.sqlite_product, "Latchkey, SQLite"))
        if setup.product_before is not None and path not in PROVEN_PATHS:
            products.append((setup.product_before, "Latchkey before, PostgreSQL"))
        if path in PROVEN_PATHS:
            products.append((setup.product_with_redis, "Latchkey, PostgreSQL and Redis"))
        made = [self.of_product(path, product, name) for product, name in products]
        return made + self._peers(path) + self._limits(path)

    def of_product(self, path, product, name=None):
        """The candidate of one Latchkey. Its name is by default that of its database engine."""
        database = product.database
        prepare = {
            "refresh": lambda seconds: self._refresh(
                product.base, "/token", product.tokens("refresh_token", self.chains), seconds
            ),
            "one-dpop": lambda seconds: self._posts_with_proofs(product, seconds),
            "code": lambda seconds: self._product_codes(product, seconds),
            "code-dpop": lambda seconds: self._product_codes(product, seconds, with_proofs=True),
            "introspect": lambda seconds: self._introspect(product, "access_token", seconds),
            "introspect-refresh": lambda seconds: self._introspect(product, "refresh_token", seconds),
            "login": self._reads(product.base, ["POST\t/login\t"], 200, token=None, body=SIGN_IN),
            "jwks": self._reads(product.base, ["GET\t/.well-known/jwks.json\t"], 200, token=None),
        }.get(path) or self._posts(path, product.base, database, product.token)
        return Candidate(
            path,
            name or f"Latchkey, {database.engine}",
            "latchkey",
            prepare,
            server=product.process.pid,
            database=database.name if database.engine == "PostgreSQL" else None,
        )

    def _peers(self, path):
        setup = self.setup
        posts = setup.postgres_product.database
        if path in {"list", "one", "not-modified", "create"}:
            return [
                self._peer(path, "Fastify", peer, self._posts(path, peer.base, posts, peer.token))
                for peer in setup.fastify
            ]
        prepare = {
            "refresh": lambda peer: lambda seconds: self._refresh(
                peer.base, "/token", peer.tokens("refresh_token", CONNECTIONS), seconds
            ),
            "code": lambda peer: lambda seconds: self._codes(
                peer.base, peer.codes(request_count(PEER_CODES, seconds)), peer.code_fields(), seconds
            ),
            "introspect": lambda peer: lambda seconds: self._introspect(peer, "access_token", seconds),
            "introspect-refresh": lambda peer: lambda seconds: self._introspect(peer, "refresh_token", seconds),
            "jwks": lambda peer: self._reads(peer.base, ["GET\t/jwks\t"], 200, token=None),
        }.get(path)
        if prepare is None:
            return []
        peers = [self._peer(path, "oidc-provider", peer, prepare(peer)) for peer in setup.oidc_providers]
        if path == "refresh" and setup.glewlwyd is not None:
            peers.append(self._glewlwyd(setup.glewlwyd))
        return peers

    def _glewlwyd(self, peer):
        def prepare(seconds):
            return self._refresh(peer.base, TOKEN_PATH, peer.refresh_tokens(CONNECTIONS), seconds)

        return Candidate("refresh", "Glewlwyd, SQLite", "peer on SQLite", prepare, server=peer.process.pid)

    def _peer(self, path, name, peer, prepare):
        processes = "1 process" if peer.count == 1 else f"{peer.count} processes"
        database = peer.environment["PGDATABASE"]
        return Candidate(path, f"{name}, {processes}", "peer", prepare, server=peer.process.pid, database=database)

    def _limits(self, path):
        setup = self.setup
        if path == "jwks":
            prepare = self._reads(setup.hello.base, ["GET\t/\t"], 200, token=None)
            return [Candidate(path, "axum hello-world", "limit", prepare, server=setup.hello.process.pid)]
        if path in {"refresh", "code"}:
            return [Candidate(path, RSA, "limit", lambda seconds: lambda: rsa_signatures(seconds))]
        if path == "login":
            program = setup.limit_programs / "argon2id"
            return [Candidate(path, ARGON2, "limit", lambda seconds: lambda: password_hashes(program, seconds))]
        if path not in PGBENCH_SCRIPTS:
            return []
        script = Path(setup.directory / f"{path}.pgbench")
        script.write_text(PGBENCH_SCRIPTS[path])
        postgres, name = setup.postgres, setup.postgres_product.database.name

        def run(seconds):
            return lambda: pgbench(postgres.binaries / "pgbench", postgres.socket_directory, name, script, seconds)

        return [Candidate(path, "pgbench, the same SQL", "limit", run, database=name)]

    def _posts(self, path, base, database, token):
        """The requests for posts. Both engines and the peer have the posts under the same ids."""
        if path == "create":
            return self._reads(base, ["POST\t/posts\t"], 201, token, NEW_POST)
        if path in {"listall", "listall-own"}:
            return self._reads(base, ["GET\t/posts\t"], 200, token)
        posts = sample_posts(database)
        lines = {
            "list": lambda id, at: f"GET\t/posts?status=published&cursor={cursor(at, id)}\t",
            "not-modified": lambda id, at: f'GET\t/posts/{id}\t"{id}-1"',
        }.get(path, lambda id, at: f"GET\t/posts/{id}\t")
        status = 304 if path == "not-modified" else 200
        token = None if path == "anonymous" else token
        return self._reads(base, [lines(id, at) for id, at in posts], status, token)

    def _reads(self, base, lines, status, token, body=""):
        """Requests that can be repeated. Checks that the first has the expected status."""
        file = self.requests.write(lines)

        def prepare(seconds):
            bearer = token() if token else ""
            self._check(base, lines[0], status, bearer, body)
            command = wrk_command(base, "requests.lua", file, bearer, body, seconds=seconds)
            return lambda: wrk(command)

        return prepare

    def _posts_with_proofs(self, product, seconds):
        paths = [f"/posts/{id}" for id, _ in sample_posts(product.database)]
        used = list(itertools.islice(itertools.cycle(paths), request_count(PROOFS, seconds)))
        token = product.bound_token(self.proofs)
        proofs = self.proofs.make("GET", [f"{product.base}{path}" for path in used], product.nonce(self.proofs), token)
        file = self.requests.write(f"{path}\t{proof}" for path, proof in zip(used, proofs))
        command = wrk_command(product.base, "proofs.lua", file, THREADS, token, seconds=seconds)
        return lambda: wrk(command)

    @staticmethod
    def _check(base, line, status, bearer, body):
        method, path, etag = line.split("\t")
        headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        if etag:
            headers["If-None-Match"] = etag
        reply = call(base, method, path, json.loads(body) if body else None, headers).expect(status)
        if path.startswith("/posts?") and len(reply.json()["items"]) != 20:
            raise BenchmarkError(f"{base}{path} has not 20 items")

    def _refresh(self, base, path, tokens, seconds):
        file = self.requests.write(tokens)
        command = wrk_command(base, "refresh.lua", file, THREADS, CLIENT_ID, path, seconds=seconds, connections=CONNECTIONS)
        return lambda: wrk(command)

    def _introspect(self, program, kind, seconds):
        """`program` is a Latchkey or an oidc-provider, which have the same path and the same client."""
        tokens = self.requests.write(program.tokens(kind, INTROSPECTED_TOKENS, CONFIDENTIAL_CLIENT_ID))
        credentials = basic_credentials(CONFIDENTIAL_CLIENT_ID, program.client_secret)
        command = wrk_command(program.base, "introspect.lua", tokens, kind, credentials, seconds=seconds)
        return lambda: wrk(command)

    def _product_codes(self, product, seconds, with_proofs=False):
        verifier, challenge = pkce()
        codes = product.insert_codes(request_count(LATCHKEY_CODES, seconds), challenge)
        if with_proofs:
            proofs = self.proofs.make("POST", [f"{product.base}/token"] * len(codes), product.nonce(self.proofs))
            codes = [f"{code}\t{proof}" for code, proof in zip(codes, proofs)]
        return self._codes(product.base, codes, product.code_fields(verifier), seconds)

    def _codes(self, base, codes, fields, seconds):
        command = wrk_command(base, "codes.lua", self.requests.write(codes), THREADS, fields, seconds=seconds)
        return lambda: wrk(command)


def request_count(rate, seconds):
    """The number of requests for a run, at this rate per second and core."""
    return int(rate * cores() * (seconds + 0.5))


def cores():
    """The number of cores, and of processes in a peer's cluster."""
    return os.cpu_count() or 1
