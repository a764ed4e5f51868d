"""The Python library Authlib, configured by discovery alone. See tests/src/independent_clients.rs."""

import os
import secrets
import time

import requests
from authlib.integrations.requests_client import OAuth2Session
from authlib.jose import JsonWebKey, jwt
from authlib.oauth2.rfc7523 import PrivateKeyJWT
from authlib.oidc import discovery, rpinitiated
from authlib.oidc.core import CodeIDToken
from harness import done, open_in_browser, settings

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
web, service, keyed = settings["web"], settings["service"], settings["keyed"]

# The library validates the metadata and leaves it to its user to fetch them.
metadata = requests.get(settings["issuer"] + "/.well-known/openid-configuration", timeout=10).json()
metadata = discovery.OpenIDProviderMetadata(metadata)
metadata.validate(metadata_classes=[rpinitiated.OpenIDProviderMetadata])
keys = JsonWebKey.import_key_set(requests.get(metadata["jwks_uri"], timeout=10).json())


def check_id_token(token, **parameters):
    """Verifies an ID token and returns its claims."""
    options = {"iss": {"essential": True, "value": metadata["issuer"]}, "aud": {"essential": True, "value": web["id"]}}
    parameters |= {"client_id": web["id"], "access_token": token["access_token"]}
    claims = jwt.decode(
        token["id_token"], keys, claims_cls=CodeIDToken, claims_options=options, claims_params=parameters
    )
    claims.validate()
    return claims


session = OAuth2Session(
    web["id"],
    web["secret"],
    scope="openid profile email",
    redirect_uri=settings["redirectUri"],
    code_challenge_method="S256",
    token_endpoint_auth_method="client_secret_basic",
)
verifier, nonce = secrets.token_urlsafe(48), secrets.token_urlsafe(16)
url, state = session.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier, nonce=nonce)
redirect = open_in_browser(url)
token = session.fetch_token(
    metadata["token_endpoint"], authorization_response=redirect, code_verifier=verifier, state=state
)
claims = check_id_token(token, nonce=nonce)
assert claims["sub"] == settings["user"]["id"], claims

user_info = session.get(metadata["userinfo_endpoint"]).json()
assert user_info["sub"] == claims["sub"] and user_info["email"] == settings["user"]["email"], user_info

token = session.refresh_token(metadata["token_endpoint"], refresh_token=token["refresh_token"])
assert check_id_token(token)["sub"] == claims["sub"]

introspection, access_token = metadata["introspection_endpoint"], token["access_token"]
described = session.introspect_token(introspection, token=access_token).json()
assert described["active"] and described["client_id"] == web["id"], described
session.revoke_token(metadata["revocation_endpoint"], token=access_token).raise_for_status()
# A revocation reaches every replica of the issuer within a second.
end = time.monotonic() + 1
while (described := session.introspect_token(introspection, token=access_token).json()) != {"active": False}:
    assert time.monotonic() < end, described

query = {"id_token_hint": token["id_token"], "post_logout_redirect_uri": settings["postLogoutUri"], "state": "bye"}
logout = requests.Request("GET", metadata["end_session_endpoint"], params=query).prepare().url
assert open_in_browser(logout) == settings["postLogoutUri"] + "?state=bye"

own = OAuth2Session(service["id"], service["secret"], scope="posts:read")
assert own.fetch_token(metadata["token_endpoint"], grant_type="client_credentials")["scope"] == "posts:read"

signing = OAuth2Session(keyed["id"], keyed["key"], token_endpoint_auth_method="private_key_jwt")
signing.register_client_auth_method(PrivateKeyJWT(metadata["token_endpoint"], headers={"kid": keyed["kid"]}))
assert signing.fetch_token(metadata["token_endpoint"], grant_type="client_credentials")["access_token"]

done()
