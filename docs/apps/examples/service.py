"""A service: gets an access token for itself, without a user, and reads the published posts."""

import os
import sys

import requests
from authlib.integrations.requests_client import OAuth2Session

issuer, api = os.environ["ISSUER"], os.environ["API"]
metadata = requests.get(f"{issuer}/.well-known/oauth-authorization-server", timeout=10).json()
if metadata["issuer"] != issuer:  # RFC 8414 §3.3.
    sys.exit("The metadata are those of another issuer.")

# With the grant type, the session also renews the token of a program that runs for longer.
session = OAuth2Session(
    os.environ["CLIENT_ID"],
    os.environ["CLIENT_SECRET"],
    token_endpoint=metadata["token_endpoint"],
    grant_type="client_credentials",
    default_timeout=10,
)
token = session.fetch_token()
print(f"The token has the scope {token['scope']} and expires in {token['expires_in']} seconds.")

response = session.get(f"{api}/posts")
response.raise_for_status()
posts = response.json()["items"]
print(f"The first page has {len(posts)} posts.")
for post in posts:
    print(f"- {post['title']}")
