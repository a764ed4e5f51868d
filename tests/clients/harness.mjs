// The exchange of the scripts in this directory with the tests. See tests/src/independent_clients.rs.

import assert from "node:assert/strict";
import { createPrivateKey, webcrypto } from "node:crypto";
import { createInterface } from "node:readline/promises";

const lines = createInterface({ input: process.stdin });

export const settings = JSON.parse(process.env.SETTINGS);

// Asks the test to open a URL in a browser. Returns the URL at which the browser leaves the issuer.
export async function open(url) {
  console.log(`OPEN ${url}`);
  return new URL((await lines[Symbol.asyncIterator]().next()).value);
}

// Waits until a token is inactive. A revocation reaches every replica of the issuer within a second.
export async function untilInactive(introspect) {
  const end = Date.now() + 1000;
  while ((await introspect()).active) assert.ok(Date.now() < end, "the revoked token is active");
}

// Returns the private key of the client that authenticates by private_key_jwt.
export async function privateKey() {
  const pkcs8 = createPrivateKey(settings.keyed.key).export({ type: "pkcs8", format: "der" });
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const key = await webcrypto.subtle.importKey("pkcs8", pkcs8, algorithm, false, ["sign"]);
  return { key, kid: settings.keyed.kid };
}

// Tells the test that all assertions held.
export function done() {
  console.log("DONE");
  process.exit(0);
}
