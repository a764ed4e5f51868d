// The npm package openid-client with DPoP (RFC 9449). The issuer and the API ask for nonces. See tests/src/independent_clients.rs.

import assert from "node:assert/strict";
import * as client from "openid-client";
import { done, open, settings } from "./harness.mjs";

const options = { execute: [client.allowInsecureRequests] };
const config = await client.discovery(new URL(settings.issuer), settings.app, undefined, client.None(), options);
assert.ok(config.serverMetadata().dpop_signing_alg_values_supported.includes(settings.alg));

const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair(settings.alg));
const verifier = client.randomPKCECodeVerifier();
const state = client.randomState();
const redirect = await open(
  client.buildAuthorizationUrl(config, {
    redirect_uri: settings.redirectUri,
    scope: "openid profile:read",
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    dpop_jkt: await DPoP.calculateThumbprint(),
    state,
  }),
);
const checks = { pkceCodeVerifier: verifier, expectedState: state };
const tokens = await client.authorizationCodeGrant(config, redirect, checks, undefined, { DPoP });
assert.equal(tokens.token_type, "dpop");
const { sub } = tokens.claims();

const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token, undefined, { DPoP });
assert.equal(refreshed.token_type, "dpop");

const api = new URL(`${settings.issuer}/me`);
for (let call = 0; call < 3; call++) {
  const me = await client.fetchProtectedResource(config, refreshed.access_token, api, "GET", null, undefined, { DPoP });
  assert.equal(`${(await me.json()).id}`, sub);
}
assert.equal((await client.fetchUserInfo(config, refreshed.access_token, sub, { DPoP })).sub, sub);

// Another key gets nothing.
const other = client.getDPoPHandle(config, await client.randomDPoPKeyPair(settings.alg));
const refused = (error) => error.error === "invalid_grant";
await assert.rejects(client.refreshTokenGrant(config, refreshed.refresh_token, undefined, { DPoP: other }), refused);
await assert.rejects(client.fetchUserInfo(config, refreshed.access_token, sub, { DPoP: other }));
await assert.rejects(client.fetchUserInfo(config, refreshed.access_token, sub));

done();
