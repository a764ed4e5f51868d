"""Glewlwyd, the peer of Latchkey on SQLite: an OAuth server in C, with rotating refresh tokens on a SQLite file."""

import sqlite3
from pathlib import Path
from urllib.parse import urlencode

from .browser import call
from .processes import Process, free_port, run
from .product import CLIENT_ID, REDIRECT_URI

# Where Debian's packages put them.
SCHEMA = Path("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3")
MODULES = Path("/usr/lib/glewlwyd")
# The account in that schema.
USER, PASSWORD = "admin", "password"
SCOPE = "posts"
CLIENT_SECRET = "only-for-the-preparation"
# The OpenID Connect plugin is named "oidc", and its token endpoint after that.
TOKEN_PATH = "/api/oidc/token"
GRANTS = ["code", "token", "id-token", "none", "password", "client", "refresh", "device"]


class Glewlwyd:
    """The token endpoint. Refresh tokens are valid once, and access tokens are signed with RS256, as in Latchkey."""

    def __init__(self, directory):
        directory.mkdir()
        database = directory / "glewlwyd.db"
        with sqlite3.connect(database) as connection:
            connection.executescript(SCHEMA.read_text())
        port = free_port()
        self.base = f"http://localhost:{port}"
        settings = directory / "glewlwyd.conf"
        settings.write_text(self._settings(port, database, directory))
        self.process = Process(["glewlwyd", "-c", settings], lambda line: "Glewlwyd started" in line)
        self._configure()

    def stop(self):
        self.process.stop()

    def _settings(self, port, database, directory):
        """The settings of its documentation with this port and file. SQLite keeps its defaults, so every commit is on disk."""
        return f"""
            port = {port}
            bind_address = "127.0.0.1"
            external_url = "{self.base}"
            api_prefix = "api"
            static_files_path = "{directory}"
            log_mode = "console"
            log_level = "INFO"
            cookie_domain = "localhost"
            session_key = "session"
            admin_scope = "g_admin"
            profile_scope = "g_profile"
            user_module_path = "{MODULES / 'user'}"
            user_middleware_module_path = "{directory}"
            client_module_path = "{MODULES / 'client'}"
            user_auth_scheme_module_path = "{MODULES / 'scheme'}"
            plugin_module_path = "{MODULES / 'plugin'}"
            hash_algorithm = "SHA512"
            database = {{ type = "sqlite3" path = "{database}" }};
        """

    def _configure(self):
        """Creates the plugin, the scope and the client through its API, as its administration page does."""
        signed_in = call(self.base, "POST", "/api/auth/", {"username": USER, "password": PASSWORD}).expect(200)
        self.session = {"Cookie": signed_in.cookies[0].split(";")[0]}
        key = run("openssl", "genrsa", "2048")
        grants = {f"auth-type-{grant}-enabled": grant in {"password", "refresh"} for grant in GRANTS}
        plugin = {
            "iss": self.base,
            "jwt-type": "rsa",
            "jwt-key-size": "256",
            "key": key,
            "cert": run("openssl", "rsa", "-pubout", stdin=key),
            "access-token-duration": 600,
            "refresh-token-duration": 1_209_600,
            "code-duration": 60,
            "refresh-token-rolling": True,
            "refresh-token-one-use": "always",
            "allow-non-oidc": True,
            "subject-type": "public",
            "scope": [],
            "additional-parameters": [],
            "claims": [],
            "service-documentation": self.base,
            "op-policy-uri": "",
            "op-tos-uri": "",
            "request-parameter-allow": False,
            "allowed-scope": ["openid"],
            **grants,
        }
        module = {"module": "oidc", "name": "oidc", "display_name": "oidc", "parameters": plugin, "order_rank": 1}
        self._send("POST", "/api/mod/plugin/", module)
        scope = {"name": SCOPE, "display_name": SCOPE, "description": "Posts", "scheme": {}}
        self._send("POST", "/api/scope/", scope | {"password_required": True, "password_max_age": 0})
        user = self._send("GET", f"/api/user/{USER}").json()
        self._send("PUT", f"/api/user/{USER}", user | {"scope": [*user["scope"], SCOPE]})
        # Only a confidential client gets tokens for a password, see `tokens`.
        self.client = {
            "client_id": CLIENT_ID,
            "name": "Benchmark",
            "enabled": True,
            "confidential": True,
            "password": CLIENT_SECRET,
            "authorization_type": ["password", "refresh_token"],
            "redirect_uri": [REDIRECT_URI],
            "scope": [],
            "token_endpoint_auth_method": ["client_secret_post", "none"],
        }
        self._send("POST", "/api/client/", self.client)

    def _send(self, method, path, body=None):
        return call(self.base, method, path, body, self.session).expect(200)

    def refresh_tokens(self, count):
        """Begins families of refresh tokens for a password. Returns their first tokens, which the client, then public as
        that of Latchkey, uses without a secret."""
        path = f"/api/client/{CLIENT_ID}"
        self._send("PUT", path, self.client)
        fields = {"grant_type": "password", "username": USER, "password": PASSWORD, "scope": SCOPE}
        form = urlencode(fields | {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET})
        tokens = [call(self.base, "POST", TOKEN_PATH, form).expect(200).json()["refresh_token"] for _ in range(count)]
        public = {name: value for name, value in self.client.items() if name != "password"}
        self._send("PUT", path, public | {"confidential": False, "token_endpoint_auth_method": ["none"]})
        return tokens
