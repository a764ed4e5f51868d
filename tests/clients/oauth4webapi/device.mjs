// The npm package oauth4webapi on a device (RFC 8628). See tests/src/independent_clients.rs.

import assert from "node:assert/strict";
import * as oauth from "oauth4webapi";
import { done, open, settings } from "./harness.mjs";

const insecure = { [oauth.allowInsecureRequests]: true };
const issuer = new URL(settings.issuer);
const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));

const clients = [
  [{ client_id: settings.native }, oauth.None()],
  [{ client_id: settings.web.id }, oauth.ClientSecretPost(settings.web.secret)],
];
for (const [client, authentication] of clients) {
  const parameters = { scope: "openid posts:read", resource: settings.issuer };
  const begun = await oauth.deviceAuthorizationRequest(server, client, authentication, parameters, insecure);
  const device = await oauth.processDeviceAuthorizationResponse(server, client, begun);
  assert.deepEqual([device.expires_in, device.interval], [600, 5]);
  const poll = async () => {
    const response = await oauth.deviceCodeGrantRequest(server, client, authentication, device.device_code, insecure);
    return oauth.processDeviceCodeResponse(server, client, response);
  };
  await assert.rejects(poll(), { error: "authorization_pending" });
  await assert.rejects(poll(), { error: "slow_down" });
  await open(device.verification_uri_complete);
  const tokens = await poll();
  assert.equal(oauth.getValidatedIdTokenClaims(tokens).sub, settings.user);
  const refresh = await oauth.refreshTokenGrantRequest(server, client, authentication, tokens.refresh_token, insecure);
  const refreshed = await oauth.processRefreshTokenResponse(server, client, refresh);
  assert.equal(refreshed.scope, "openid posts:read");
}

done();
