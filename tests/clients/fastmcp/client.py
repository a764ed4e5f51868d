"""The Python library fastmcp, which learns everything from a 401 of the API. See tests/src/independent_clients.rs."""

import asyncio
import threading
import time
import webbrowser
from urllib.parse import parse_qs, urlsplit

import httpx2
from fastmcp.client.auth import OAuth
from harness import done, open_in_browser, settings


class Browser(webbrowser.BaseBrowser):
    """The browser of this machine, which the library opens."""

    def open(self, url, new=0, autoraise=True):
        request = parse_qs(urlsplit(url).query)
        assert request["resource"] == [settings["resource"]], request
        # The library adds offline_access, because the issuer supports it.
        assert request["scope"] == [settings["scope"] + " offline_access"], request
        threading.Thread(target=load, args=[open_in_browser(url)]).start()
        return True


def load(url):
    """Loads a page of the library's own server, which it starts after it has opened the browser."""
    end = time.monotonic() + 10
    while True:
        try:
            return httpx2.get(url).raise_for_status()
        except httpx2.ConnectError:
            assert time.monotonic() < end, url
            time.sleep(0.02)


async def call(http):
    """Calls the API, and expects a token of the user."""
    response = await http.get(settings["server"])
    token = response.raise_for_status().json()
    assert token["sub"] == settings["user"] and token["scope"] == settings["scope"], token


async def sign_in(app):
    """Signs the user in and refreshes."""
    # The library would take a port that a connection can get before the library's server listens.
    port = app["callbackPort"]
    oauth = OAuth(settings["server"], client_id=app["id"], client_secret=app["secret"], callback_port=port)
    async with httpx2.AsyncClient(auth=oauth) as http:
        await call(http)
        refresh_token = oauth.context.current_tokens.refresh_token
        oauth.context.token_expiry_time = time.time() - 1
        await call(http)
        assert oauth.context.current_tokens.refresh_token != refresh_token


webbrowser.register("test", None, Browser(), preferred=True)
for app in settings["apps"]:
    asyncio.run(sign_in(app))

done()
