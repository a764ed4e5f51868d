"""The exchange of the scripts in this directory with the tests. See tests/src/independent_clients.rs."""

import json
import os

settings = json.loads(os.environ["SETTINGS"])


def open_in_browser(url):
    """Asks the test to open a URL in a browser. Returns the URL at which the browser leaves the issuer."""
    print(f"OPEN {url}", flush=True)
    return input()


def done():
    """Tells the test that all assertions held."""
    print("DONE", flush=True)
