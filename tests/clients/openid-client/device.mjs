// The npm package openid-client on a device (RFC 8628). See tests/src/independent_clients.rs.

import assert from "node:assert/strict";
import * as client from "openid-client";
import { done, open, settings } from "./harness.mjs";

const options = { execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks] };
const clients = [
  [settings.native, client.None()],
  [settings.web.id, client.ClientSecretBasic(settings.web.secret)],
];
for (const [id, authentication] of clients) {
  const config = await client.discovery(new URL(settings.issuer), id, undefined, authentication, options);
  const device = await client.initiateDeviceAuthorization(config, { scope: "openid posts:read" });
  assert.match(device.user_code, /^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/);
  const polling = client.pollDeviceAuthorizationGrant(config, device);
  await open(device.verification_uri_complete);
  const tokens = await polling;
  assert.equal(tokens.claims().sub, settings.user);
  assert.equal(tokens.scope, "openid posts:read");
  const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token);
  assert.equal(refreshed.claims().sub, settings.user);
}

done();
