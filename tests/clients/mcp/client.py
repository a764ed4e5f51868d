"""The Python library mcp, which learns everything from a 401 of the API. See tests/src/independent_clients.rs."""

import asyncio
import time
from urllib.parse import parse_qs, urlsplit

import httpx2
from harness import done, open_in_browser, settings
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata


class Storage:
    """Keeps the registration and the tokens, which the library leaves to its user."""

    def __init__(self, client):
        self.client, self.tokens = client, None

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens


class Browser:
    """Opens authorization requests, and remembers their scopes."""

    def __init__(self):
        self.scopes = []

    async def open(self, url):
        request = parse_qs(urlsplit(url).query)
        assert request["resource"] == [settings["resource"]], request
        self.scopes += request["scope"]
        self.answer = parse_qs(urlsplit(open_in_browser(url)).query)

    async def wait(self):
        return AuthorizationCodeResult(**{name: self.answer[name][0] for name in ["code", "state", "iss"]})


def client_of(app):
    """Returns the client information of a registered app."""
    if app["id"] is None:
        return None
    method = "client_secret_basic" if app["secret"] else "none"
    return OAuthClientInformationFull(
        client_id=app["id"], client_secret=app["secret"], token_endpoint_auth_method=method
    )


async def call(http, scope):
    """Calls the API, and expects a token of the user with this scope."""
    response = await http.get(settings["server"])
    token = response.raise_for_status().json()
    assert token["sub"] == settings["user"] and token["scope"].split() == scope.split(), token


def asked(browser):
    """The scopes of each authorization request. The SDK adds offline_access, because the issuer supports it."""
    return [[name for name in scope.split() if name != "offline_access"] for scope in browser.scopes]


async def sign_in(app):
    """Signs the user in, refreshes, and asks for more when the API names another scope."""
    browser, storage = Browser(), Storage(client_of(app))
    oauth = OAuthClientProvider(
        server_url=settings["server"],
        client_metadata=OAuthClientMetadata(client_name="Some agent", redirect_uris=[app["redirectUri"]]),
        storage=storage,
        redirect_handler=browser.open,
        callback_handler=browser.wait,
    )
    async with httpx2.AsyncClient(auth=oauth) as http:
        await call(http, settings["scope"])
        assert asked(browser) == [settings["scope"].split()], browser.scopes

        refresh_token = storage.tokens.refresh_token
        oauth.context.token_expiry_time = time.time() - 1
        await call(http, settings["scope"])
        assert storage.tokens.refresh_token != refresh_token and len(browser.scopes) == 1

        if app["id"] is not None:
            created = await http.post(settings["resource"] + "/posts", json={"title": "By an agent"})
            assert created.status_code == 201, created.text
            assert asked(browser)[1:] == [[*settings["scope"].split(), "posts:write"]], browser.scopes


for app in settings["apps"]:
    asyncio.run(sign_in(app))

done()
