"""Latchkey under measurement: one process on a database of its own."""

import base64
import concurrent.futures
import json
import time
from datetime import datetime, timedelta, timezone
from urllib.parse import quote, urlencode

from . import database as db
from .browser import Browser, call, pkce
from .processes import Process, clean_environment, free_port, run

CLIENT_ID = "benchmark"
# The confidential client that introspects its tokens.
CONFIDENTIAL_CLIENT_ID = "introspecting"
REDIRECT_URI = "https://app.example/callback"
SCOPE = "posts:read posts:write"
USER_EMAIL = "author@example.org"
PASSWORD = "correct horse battery staple"
# Access tokens live for 600 s. A token is replaced when it has served for this time, in seconds.
TOKEN_AGE = 240


class Product:
    """One Latchkey with a signed-in user."""

    def __init__(self, program, directory, database, connections=None, redis_url=None):
        """Starts the program on an empty or existing database. `connections` is the setting DATABASE_CONNECTIONS, by
        default the program's own default. `redis_url` is the setting REDIS_URL."""
        self.program, self.directory, self.database = program, directory, database
        directory.mkdir(exist_ok=True)
        settings = {
            "LATCHKEY_DATA_DIR": directory / "data",
            "LATCHKEY_DATABASE_URL": database.url,
            # 200 sign-ins at once from one address are part of the benchmark.
            "LATCHKEY_LOGIN_FAILURES_ADDRESS": 10_000,
        }
        if connections is not None:
            settings["LATCHKEY_DATABASE_CONNECTIONS"] = connections
        if redis_url is not None:
            settings["LATCHKEY_REDIS_URL"] = redis_url
        self.environment = clean_environment(**settings)
        # The same port after a restart, because the URL of the issuer is in the tokens.
        self.port = free_port()
        self.start()

    def start(self):
        """Starts the program. `start_seconds` is the time until it listens."""
        began = time.monotonic()
        environment = self.environment | {"LATCHKEY_LISTEN": f"127.0.0.1:{self.port}"}
        self.process = Process([self.program], lambda line: "listening on http://" in line, environment, self.directory)
        self.start_seconds = time.monotonic() - began
        # The default base URL, from which the pages redirect no further.
        self.base = f"http://localhost:{self.port}"

    def stop(self):
        self.process.stop()

    def prepare(self):
        """Registers the clients, and creates the user whose bearer token reads and writes, through HTTP."""
        self.register(CLIENT_ID, "spa")
        self.client_secret = self.register(CONFIDENTIAL_CLIENT_ID, "web")["client_secret"]
        account = self.sign_up(USER_EMAIL)
        self.user_id = account["id"]
        browser = Browser(self.base)
        browser.send("POST", "/login", {"email": USER_EMAIL, "password": PASSWORD}).expect(200)
        verifier, challenge = pkce()
        query = {
            "response_type": "code",
            "client_id": CLIENT_ID,
            "redirect_uri": REDIRECT_URI,
            "scope": SCOPE,
            "state": "benchmark",
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        granted = browser.allow(f"/authorize?{urlencode(query)}")
        self._keep(self.exchange(granted["code"], verifier))

    def register(self, client_id, kind):
        """Registers a client of this type. Returns what the command prints."""
        printed = run(
            self.program, "clients", "create", "--json", "--id", client_id, "--name", "Benchmark", "--type", kind,
            "--redirect-uri", REDIRECT_URI, "--scope", SCOPE, env=self.environment, cwd=self.directory,
        )  # fmt: skip
        return json.loads(printed)

    def sign_up(self, email):
        """Creates a user. Returns the account."""
        body = {"email": email, "password": PASSWORD}
        return call(self.base, "POST", "/users", body).expect(201).json()

    def sign_up_at_once(self, count):
        """Creates users concurrently."""
        emails = [f"new{time.time_ns()}-{n}@example.org" for n in range(count)]
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            list(pool.map(self.sign_up, emails))

    def exchange(self, code, verifier, client_id=CLIENT_ID, headers=None):
        """Exchanges a code. Returns the token response."""
        fields = {"grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT_URI, "code_verifier": verifier}
        return self._token(client_id, headers, **fields)

    def _token(self, client_id, headers=None, **fields):
        credentials = {"client_id": client_id}
        if client_id == CONFIDENTIAL_CLIENT_ID:
            credentials["client_secret"] = self.client_secret
        body = urlencode(fields | credentials)
        return call(self.base, "POST", "/token", body, headers).expect(200).json()

    def _keep(self, response):
        self.access_token, self.refresh_token = response["access_token"], response["refresh_token"]
        self.token_at = time.monotonic()

    def token(self):
        """An access token that is valid for some minutes."""
        if time.monotonic() - self.token_at > TOKEN_AGE:
            self._keep(self._token(CLIENT_ID, grant_type="refresh_token", refresh_token=self.refresh_token))
        return self.access_token

    def bound_token(self, proofs):
        """An access token that is bound to the key of these proofs."""
        verifier, challenge = pkce()
        codes, made = self.insert_codes(1, challenge), proofs.make("POST", [f"{self.base}/token"], self.nonce(proofs))
        return self.exchange(codes[0], verifier, headers={"DPoP": made[0]})["access_token"]

    def nonce(self, proofs):
        """A nonce for proofs, good for some minutes, or an empty text if the program asks for none. One process without Redis
        asks for it, and one with Redis does so for half a minute after the start of Redis, which this function waits for."""
        body = {"grant_type": "refresh_token", "refresh_token": "none", "client_id": CLIENT_ID}
        while True:
            made = proofs.make("POST", [f"{self.base}/token"], "")
            reply = call(self.base, "POST", "/token", urlencode(body), {"DPoP": made[0]}).expect(400)
            nonce = reply.headers.get("dpop-nonce", "")
            if not nonce or "LATCHKEY_REDIS_URL" not in self.environment:
                return nonce
            time.sleep(1)

    def insert_codes(self, count, challenge, client_id=CLIENT_ID):
        """Inserts codes for a client. Returns them."""
        return db.insert_codes(self.database, client_id, REDIRECT_URI, challenge, count)

    def tokens(self, kind, count, client_id=CLIENT_ID):
        """Begins families of refresh tokens by exchanging codes. Returns their first tokens of the kind `access_token` or
        `refresh_token`."""
        verifier, challenge = pkce()
        codes = self.insert_codes(count, challenge, client_id)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            replies = pool.map(lambda code: self.exchange(code, verifier, client_id), codes)
            return [reply[kind] for reply in replies]

    def code_fields(self, verifier):
        """The form fields of a code exchange beside the grant type and the code."""
        return f"redirect_uri={quote(REDIRECT_URI, safe='')}&code_verifier={verifier}&client_id={CLIENT_ID}"


def rfc3339(micros):
    """A time in the form of the API: UTC, six decimals."""
    at = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=micros)
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def cursor(created_at, id):
    """The cursor of the post with this id and time of creation."""
    text = json.dumps({"created_at": rfc3339(created_at), "id": id}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()
