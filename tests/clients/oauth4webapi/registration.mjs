// The npm package oauth4webapi, which registers itself (RFC 7591) and signs the user in. See tests/src/independent_clients.rs.

import assert from "node:assert/strict";
import * as oauth from "oauth4webapi";
import { done, open, settings } from "./harness.mjs";

const issuer = new URL(settings.issuer);
const insecure = { [oauth.allowInsecureRequests]: true };
const discovered = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...insecure });
const server = await oauth.processDiscoveryResponse(issuer, discovered);

async function register(metadata, initialAccessToken) {
  const response = await oauth.dynamicClientRegistrationRequest(server, metadata, { initialAccessToken, ...insecure });
  return oauth.processDynamicClientRegistrationResponse(response);
}

async function exchange(client, authentication) {
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
    state,
  })) {
    request.searchParams.set(name, value);
  }
  const parameters = oauth.validateAuthResponse(server, client, await open(request), state);
  const response = await oauth.authorizationCodeGrantRequest(
    server, client, authentication, parameters, settings.redirectUri, verifier, insecure,
  );
  return oauth.processAuthorizationCodeResponse(server, client, response);
}

const metadata = { client_name: "oauth4webapi", redirect_uris: [settings.redirectUri] };
const agent = await register({ ...metadata, token_endpoint_auth_method: "none" });
assert.equal(agent.client_secret, undefined);
const first = await exchange(agent, oauth.None());

const site = await register(metadata, settings.initialAccessToken);
assert.deepEqual([site.token_endpoint_auth_method, site.client_secret_expires_at], ["client_secret_basic", 0]);
assert.ok((await exchange(site, oauth.ClientSecretBasic(site.client_secret))).refresh_token);

// The token endpoint knows the first client until it deletes itself (RFC 7592).
const refresh = async () => {
  const response = await oauth.refreshTokenGrantRequest(server, agent, oauth.None(), first.refresh_token, insecure);
  return oauth.processRefreshTokenResponse(server, agent, response);
};
const manage = (method) =>
  fetch(agent.registration_client_uri, {
    method,
    headers: { authorization: `Bearer ${agent.registration_access_token}` },
  });
assert.equal((await (await manage("GET")).json()).client_id, agent.client_id);
assert.ok((await refresh()).access_token);
assert.equal((await manage("DELETE")).status, 204);
assert.equal((await manage("GET")).status, 401);
await assert.rejects(refresh());

await assert.rejects(register({ redirect_uris: ["http://app.test/cb"] }), (error) => error.error === "invalid_redirect_uri");

done();
