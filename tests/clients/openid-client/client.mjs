// The npm package openid-client, configured by discovery alone. See tests/src/independent_clients.rs.

import assert from "node:assert/strict";
import { createPrivateKey, webcrypto } from "node:crypto";
import { createInterface } from "node:readline/promises";
import * as client from "openid-client";

const settings = JSON.parse(process.env.SETTINGS);
const lines = createInterface({ input: process.stdin });
const insecure = { execute: [client.allowInsecureRequests] };

// Asks the test to open a URL in a browser. Returns the URL at which the browser leaves the issuer.
async function open(url) {
  console.log(`OPEN ${url}`);
  return new URL((await lines[Symbol.asyncIterator]().next()).value);
}

// A revocation reaches every replica of the issuer within a second.
async function untilInactive(introspect) {
  const end = Date.now() + 1000;
  while ((await introspect()).active) assert.ok(Date.now() < end, "the revoked token is active");
}

function discover(id, authentication) {
  return client.discovery(new URL(settings.issuer), id, undefined, authentication, insecure);
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

const pkcs8 = createPrivateKey(settings.keyed.key).export({ type: "pkcs8", format: "der" });
const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
const key = await webcrypto.subtle.importKey("pkcs8", pkcs8, algorithm, false, ["sign"]);
const keyed = await discover(settings.keyed.id, client.PrivateKeyJwt({ key, kid: settings.keyed.kid }));
assert.ok((await client.clientCredentialsGrant(keyed)).access_token);

console.log("DONE");
process.exit(0);
