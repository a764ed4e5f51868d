"""A command-line app: signs a user in by the browser of this machine (RFC 8252), and asks the API who that is."""

import os
import secrets
import sys
import webbrowser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl

import requests
from authlib.integrations.requests_client import OAuth2Session

issuer, api = os.environ["ISSUER"], os.environ["API"]
metadata = requests.get(f"{issuer}/.well-known/oauth-authorization-server", timeout=10).json()
if metadata["issuer"] != issuer:  # RFC 8414 §3.3.
    sys.exit("The metadata are those of another issuer.")


class Callback(BaseHTTPRequestHandler):
    def do_GET(self):
        path, _, query = self.path.partition("?")
        parameters = dict(parse_qsl(query))
        # Any page can send the browser here. Only the issuer's response to this request counts (RFC 9207 §2.4).
        if path != "/callback" or (parameters.get("state"), parameters.get("iss")) != (state, issuer):
            return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.wfile.write(b"You can close this page.\n")
        self.server.parameters = parameters
        self.server.shutdown()

    def log_message(self, *_):
        """Prints nothing: the path has the code."""


# The system chooses a free port, and the issuer accepts each port on loopback.
server = ThreadingHTTPServer(("127.0.0.1", 0), Callback)
session = OAuth2Session(
    os.environ["CLIENT_ID"],
    scope="profile:read",
    redirect_uri=f"http://127.0.0.1:{server.server_port}/callback",
    code_challenge_method="S256",
    token_endpoint=metadata["token_endpoint"],
    default_timeout=10,
)
verifier = secrets.token_urlsafe(48)
url, state = session.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier)
print(f"Sign in at {url}", flush=True)
webbrowser.open(url)
server.serve_forever()

response = server.parameters
if "code" not in response:
    sys.exit(f"{response.get('error')}: {response.get('error_description')}")
session.fetch_token(code=response["code"], code_verifier=verifier)
me = session.get(f"{api}/me")
me.raise_for_status()
print(f"You are signed in as {me.json()['email']}.")
