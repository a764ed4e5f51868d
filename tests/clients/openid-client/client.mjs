// The npm package openid-client, configured by discovery alone. See tests/src/independent_clients.rs.

import assert from "node:assert/strict";
import * as client from "openid-client";
import { done, open, privateKey, settings, untilInactive } from "./harness.mjs";

const options = { execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks] };

function discover(id, authentication) {
  return client.discovery(new URL(settings.issuer), id, undefined, authentication, options);
}

const config = await discover(settings.web.id, client.ClientSecretBasic(settings.web.secret));
const verifier = client.randomPKCECodeVerifier();
const [nonce, state] = [client.randomNonce(), client.randomState()];
const redirect = await open(
  client.buildAuthorizationUrl(config, {
    redirect_uri: settings.redirectUri,
    scope: "openid profile email posts:read",
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    max_age: "3600",
    nonce,
    state,
  }),
);
const tokens = await client.authorizationCodeGrant(config, redirect, {
  pkceCodeVerifier: verifier,
  expectedNonce: nonce,
  expectedState: state,
  maxAge: 3600,
  idTokenExpected: true,
});
const { sub } = tokens.claims();
assert.equal(sub, settings.user.id);

// A pushed request (RFC 9126). The user has consented and is signed in, so the browser returns at once.
const pushed = await client.buildAuthorizationUrlWithPAR(config, {
  redirect_uri: settings.redirectUri,
  scope: "posts:read",
  code_challenge: await client.calculatePKCECodeChallenge(verifier),
  code_challenge_method: "S256",
  state,
});
assert.deepEqual([...pushed.searchParams.keys()].sort(), ["client_id", "request_uri"]);
const again = await client.authorizationCodeGrant(config, await open(pushed), {
  pkceCodeVerifier: verifier,
  expectedState: state,
});
assert.equal(again.scope, "posts:read");

const userInfo = await client.fetchUserInfo(config, tokens.access_token, sub);
assert.equal(userInfo.email, settings.user.email);

const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token);
assert.equal(refreshed.claims().sub, sub);

const described = await client.tokenIntrospection(config, refreshed.access_token);
assert.deepEqual([described.active, described.sub, described.client_id], [true, sub, settings.web.id]);
await client.tokenRevocation(config, refreshed.access_token);
await untilInactive(() => client.tokenIntrospection(config, refreshed.access_token));

const logout = await open(
  client.buildEndSessionUrl(config, {
    id_token_hint: refreshed.id_token,
    post_logout_redirect_uri: settings.postLogoutUri,
    state: "bye",
  }),
);
assert.equal(`${logout}`, `${settings.postLogoutUri}?state=bye`);

const service = await discover(settings.service.id, client.ClientSecretPost(settings.service.secret));
const own = await client.clientCredentialsGrant(service, { scope: "posts:read" });
assert.equal(own.scope, "posts:read");

const keyed = await discover(settings.keyed.id, client.PrivateKeyJwt(await privateKey()));
assert.ok((await client.clientCredentialsGrant(keyed)).access_token);

done();
