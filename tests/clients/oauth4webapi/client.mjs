// The npm package oauth4webapi, configured by discovery alone. See tests/src/independent_clients.rs.

import assert from "node:assert/strict";
import * as oauth from "oauth4webapi";
import { done, open, privateKey, settings, untilInactive } from "./harness.mjs";

const insecure = { [oauth.allowInsecureRequests]: true };

const issuer = new URL(settings.issuer);
const discovered = await oauth.discoveryRequest(issuer, insecure);
const server = await oauth.processDiscoveryResponse(issuer, discovered);
const client = { client_id: settings.web.id, userinfo_signed_response_alg: "RS256" };
const authentication = oauth.ClientSecretPost(settings.web.secret);

const verifier = oauth.generateRandomCodeVerifier();
const [nonce, state] = [oauth.generateRandomNonce(), oauth.generateRandomState()];
const request = new URL(server.authorization_endpoint);
for (const [name, value] of Object.entries({
  client_id: client.client_id,
  redirect_uri: settings.redirectUri,
  response_type: "code",
  scope: "openid email",
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: "S256",
  resource: settings.issuer,
  nonce,
  state,
})) {
  request.searchParams.set(name, value);
}
const parameters = oauth.validateAuthResponse(server, client, await open(request), state);
const exchanged = await oauth.authorizationCodeGrantRequest(
  server, client, authentication, parameters, settings.redirectUri, verifier, insecure,
);
const tokens = await oauth.processAuthorizationCodeResponse(server, client, exchanged, {
  expectedNonce: nonce,
  requireIdToken: true,
});
await oauth.validateApplicationLevelSignature(server, exchanged, insecure);
const { sub } = oauth.getValidatedIdTokenClaims(tokens);
assert.equal(sub, settings.user.id);

// A pushed request (RFC 9126). The user has consented and is signed in, so the browser returns at once.
const parametersToPush = new URLSearchParams(request.searchParams);
parametersToPush.set("scope", "openid");
const pushed = await oauth.pushedAuthorizationRequest(server, client, authentication, parametersToPush, insecure);
const { request_uri } = await oauth.processPushedAuthorizationResponse(server, client, pushed);
const reference = new URL(server.authorization_endpoint);
reference.searchParams.set("client_id", client.client_id);
reference.searchParams.set("request_uri", request_uri);
const answered = oauth.validateAuthResponse(server, client, await open(reference), state);
const exchangedAgain = await oauth.authorizationCodeGrantRequest(
  server, client, authentication, answered, settings.redirectUri, verifier, insecure,
);
await oauth.processAuthorizationCodeResponse(server, client, exchangedAgain, { expectedNonce: nonce });

// The response is a signed JWT, because the client has registered an algorithm with the library.
const read = await oauth.userInfoRequest(server, client, tokens.access_token, insecure);
assert.match(read.headers.get("content-type"), /^application\/jwt/);
const userInfo = await oauth.processUserInfoResponse(server, client, sub, read);
await oauth.validateApplicationLevelSignature(server, read, insecure);
assert.equal(userInfo.email, settings.user.email);

const refresh = await oauth.refreshTokenGrantRequest(server, client, authentication, tokens.refresh_token, insecure);
const refreshed = await oauth.processRefreshTokenResponse(server, client, refresh);
assert.equal(oauth.getValidatedIdTokenClaims(refreshed).sub, sub);

const introspect = async (token) => {
  const answer = await oauth.introspectionRequest(server, client, authentication, token, insecure);
  return oauth.processIntrospectionResponse(server, client, answer);
};
assert.equal((await introspect(refreshed.access_token)).active, true);
const revoked = await oauth.revocationRequest(server, client, authentication, refreshed.refresh_token, insecure);
await oauth.processRevocationResponse(revoked);
await untilInactive(() => introspect(refreshed.access_token));

const logout = new URL(server.end_session_endpoint);
logout.searchParams.set("id_token_hint", refreshed.id_token);
logout.searchParams.set("post_logout_redirect_uri", settings.postLogoutUri);
assert.equal(`${await open(logout)}`, settings.postLogoutUri);

const grant = async (id, method) => {
  const service = { client_id: id };
  const answer = await oauth.clientCredentialsGrantRequest(server, service, method, {}, insecure);
  return oauth.processClientCredentialsResponse(server, service, answer);
};
assert.ok((await grant(settings.service.id, oauth.ClientSecretBasic(settings.service.secret))).access_token);

assert.ok((await grant(settings.keyed.id, oauth.PrivateKeyJwt(await privateKey()))).access_token);

done();
