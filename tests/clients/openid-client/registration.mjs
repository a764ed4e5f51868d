// The npm package openid-client, which registers itself (RFC 7591) and signs the user in. See tests/src/independent_clients.rs.

import assert from "node:assert/strict";
import * as client from "openid-client";
import { done, open, settings } from "./harness.mjs";

const issuer = new URL(settings.issuer);

async function register(metadata, initialAccessToken) {
  const options = { execute: [client.allowInsecureRequests], initialAccessToken };
  return client.dynamicClientRegistration(issuer, metadata, undefined, options);
}

for (const method of ["none", "client_secret_post"]) {
  const config = await register({
    client_name: "openid-client",
    redirect_uris: [settings.redirectUri],
    token_endpoint_auth_method: method,
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    scope: "openid profile:read",
  });
  const registered = config.clientMetadata();
  assert.equal(registered.token_endpoint_auth_method, method);
  assert.equal(typeof registered.client_secret, method === "none" ? "undefined" : "string");

  const verifier = client.randomPKCECodeVerifier();
  const state = client.randomState();
  const redirect = await open(
    client.buildAuthorizationUrl(config, {
      redirect_uri: settings.redirectUri,
      scope: "openid profile:read",
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      state,
    }),
  );
  const checks = { pkceCodeVerifier: verifier, expectedState: state };
  const tokens = await client.authorizationCodeGrant(config, redirect, checks);
  assert.equal(tokens.claims().sub, settings.user);
  const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token);
  assert.equal(refreshed.claims().aud, registered.client_id);
}

// A service, with the initial access token of an administrator.
const job = { client_name: "A job", grant_types: ["client_credentials"], response_types: [], scope: "posts:read" };
const service = await register(job, settings.initialAccessToken);
assert.equal((await client.clientCredentialsGrant(service)).scope, "posts:read");
await assert.rejects(register(job), (error) => error.error === "invalid_client_metadata");

done();
