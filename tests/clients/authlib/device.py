"""The Python library Authlib on a device (RFC 8628). See tests/src/independent_clients.rs."""

import os

import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc8628 import DEVICE_CODE_GRANT_TYPE
from harness import done, open_in_browser, settings

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
metadata = requests.get(settings["issuer"] + "/.well-known/openid-configuration", timeout=10).json()


def poll(session, device):
    """Sends a token request with the device code."""
    grant = {"grant_type": DEVICE_CODE_GRANT_TYPE, "device_code": device["device_code"]}
    return session.fetch_token(metadata["token_endpoint"], **grant)


native = OAuth2Session(settings["native"], token_endpoint_auth_method="none")
web = OAuth2Session(settings["web"]["id"], settings["web"]["secret"], token_endpoint_auth_method="client_secret_basic")
for session in (native, web):
    # The library has no function for this request. Its session authenticates the client.
    endpoint = metadata["device_authorization_endpoint"]
    authentication = session.client_auth(session.token_endpoint_auth_method)
    device = session.post(endpoint, data={"scope": "posts:read"}, auth=authentication, withhold_token=True).json()
    try:
        raise AssertionError(poll(session, device))
    except OAuthError as error:
        assert error.error == "authorization_pending", error
    open_in_browser(device["verification_uri_complete"])
    token = poll(session, device)
    assert token["scope"] == "posts:read", token
    refreshed = session.refresh_token(metadata["token_endpoint"], refresh_token=token["refresh_token"])
    assert refreshed["refresh_token"] != token["refresh_token"]

done()
