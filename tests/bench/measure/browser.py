"""HTTP calls of one user, and the sign-in of an app through the pages of the issuer."""

import base64
import hashlib
import json
import secrets
from html.parser import HTMLParser
from http.client import HTTPConnection
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

from .processes import BenchmarkError

MAX_PAGES = 12


class Reply:
    """A response: its status, its headers (names in lower case) and its body as text."""

    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.cookies = [value for name, value in response.getheaders() if name.lower() == "set-cookie"]
        self.text = response.read().decode()

    def expect(self, status):
        """Returns this reply. Fails if it has another status."""
        if self.status != status:
            raise BenchmarkError(f"expected {status}, got {self.status}: {self.text[:500]}")
        return self

    def json(self):
        return json.loads(self.text)


def basic_credentials(client_id, client_secret):
    """The value of Authorization by which a client authenticates (RFC 6749 §2.3.1). Both parts need no escaping."""
    return "Basic " + base64.b64encode(f"{client_id}:{client_secret}".encode()).decode()


def call(base, method, path, body=None, headers=None, timeout=60):
    """Sends one request. `body` is a dictionary for JSON, or text for a form."""
    headers = dict(headers or {})
    if isinstance(body, dict):
        headers["Content-Type"] = "application/json"
        body = json.dumps(body)
    elif body is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    address = urlsplit(base)
    connection = HTTPConnection(address.hostname, address.port, timeout=timeout)
    try:
        connection.request(method, path, body, headers)
        return Reply(connection.getresponse())
    finally:
        connection.close()


class Form(HTMLParser):
    """The action and the hidden fields of the form that has a field of this name."""

    def __init__(self, html, field):
        super().__init__()
        self.forms, self.action, self.fields = [], None, {}
        self.feed(html)
        for action, names, hidden in self.forms:
            if field in names:
                self.action, self.fields = action, hidden

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form":
            self.forms.append((attributes.get("action"), set(), {}))
        elif self.forms and "name" in attributes:
            _, names, hidden = self.forms[-1]
            names.add(attributes["name"])
            if attributes.get("type") == "hidden":
                hidden[attributes["name"]] = attributes.get("value", "")


class Browser:
    """A browser with cookies that follows no redirects by itself."""

    def __init__(self, base):
        self.base, self.cookies = base, {"csrf": secrets.token_urlsafe(16)}

    def send(self, method, path, body=None):
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        if method == "POST":
            headers |= {"Origin": self.base, "Sec-Fetch-Site": "same-origin", "x-csrf-token": self.cookies["csrf"]}
        reply = call(self.base, method, path, body, headers)
        for line in reply.cookies:
            name, _, value = line.split(";")[0].partition("=")
            self.cookies[name] = value
        return reply

    def allow(self, path):
        """Opens an authorization request as a user who is signed in, and allows it. Returns the query parameters of the
        redirect to the app."""
        reply = self.send("GET", path)
        for _ in range(MAX_PAGES):
            location = reply.headers.get("location")
            if location is not None:
                target = urlsplit(urljoin(self.base, location))
                if f"{target.scheme}://{target.netloc}" != self.base:
                    return {name: values[0] for name, values in parse_qs(target.query).items()}
                reply = self.send("GET", f"{target.path}?{target.query}")
                continue
            form = Form(reply.text, "decision")
            if form.action is None:
                break
            reply = self.send("POST", form.action, urlencode(form.fields | {"decision": "allow"}))
        raise BenchmarkError(f"the authorization ended without a redirect to the app: {reply.status} {reply.text[:500]}")


def pkce():
    """A code verifier and its S256 challenge (RFC 7636)."""
    verifier = secrets.token_urlsafe(32)
    digest = hashlib.sha256(verifier.encode()).digest()
    return verifier, base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
