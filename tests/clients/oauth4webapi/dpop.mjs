// The npm package oauth4webapi with DPoP (RFC 9449). The issuer and the API ask for nonces. See tests/src/independent_clients.rs.

import assert from "node:assert/strict";
import * as oauth from "oauth4webapi";
import { done, open, settings } from "./harness.mjs";

const issuer = new URL(settings.issuer);
const insecure = { [oauth.allowInsecureRequests]: true };
const discovered = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...insecure });
const server = await oauth.processDiscoveryResponse(issuer, discovered);
const client = { client_id: settings.app };
const DPoP = oauth.DPoP(client, await oauth.generateKeyPair(settings.alg));
const options = { DPoP, ...insecure };

// Makes a request, and again if it needs a nonce, which the library has kept. On a busy machine a replica may not reach Redis in
// time, and then gives a nonce that the next replica refuses.
async function withNonce(request, tries = 5) {
  try {
    return await request();
  } catch (error) {
    assert.ok(tries > 0 && oauth.isDPoPNonceError(error), error);
    return withNonce(request, tries - 1);
  }
}

const verifier = oauth.generateRandomCodeVerifier();
const state = oauth.generateRandomState();
const request = new URL(server.authorization_endpoint);
for (const [name, value] of Object.entries({
  client_id: client.client_id,
  redirect_uri: settings.redirectUri,
  response_type: "code",
  scope: "profile:read",
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: "S256",
  dpop_jkt: await DPoP.calculateThumbprint(),
  state,
})) {
  request.searchParams.set(name, value);
}
const parameters = oauth.validateAuthResponse(server, client, await open(request), state);
const tokens = await withNonce(async () => {
  const response = await oauth.authorizationCodeGrantRequest(
    server, client, oauth.None(), parameters, settings.redirectUri, verifier, options,
  );
  return oauth.processAuthorizationCodeResponse(server, client, response);
});
assert.equal(tokens.token_type, "dpop");

const refreshed = await withNonce(async () => {
  const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), tokens.refresh_token, options);
  return oauth.processRefreshTokenResponse(server, client, response);
});
assert.equal(refreshed.token_type, "dpop");

const api = new URL(`${settings.issuer}/me`);
const call = (options) =>
  oauth.protectedResourceRequest(refreshed.access_token, "GET", api, undefined, null, options);
for (let n = 0; n < 3; n++) {
  const me = await withNonce(() => call(options));
  assert.equal((await me.json()).email, settings.email);
}

// Another key, or none, gets nothing.
const other = { DPoP: oauth.DPoP(client, await oauth.generateKeyPair(settings.alg)), ...insecure };
await assert.rejects(withNonce(() => call(other)));
await assert.rejects(call(insecure));

done();
