// deploy/latchkey-auth against the real issuer and API, without and with DPoP. See tests/src/independent_clients.rs.

import assert from "node:assert/strict";
import { LatchkeyError, Latchkey } from "../../../deploy/latchkey-auth/latchkey-auth.js";
import { done, open, settings } from "../harness.mjs";
import { Databases, openPage, until } from "./fakes.mjs";

const { issuer, app, redirectUri, dpop, user } = settings;
const { origin } = new URL(redirectUri);
const cookies = new Map();

// The fetch of the browser: it sends the cookies of the path where a request includes them, and the page reads a response
// only if CORS allows it.
async function browserFetch(request) {
  const { pathname } = new URL(request.url);
  const withCookies = request.credentials === "include";
  const sent = [...cookies].filter(([, { path }]) => withCookies && `${pathname}/`.startsWith(path));
  request.headers.set("Origin", origin);
  if (sent.length) request.headers.set("Cookie", sent.map(([name, { value }]) => `${name}=${value}`).join("; "));
  const response = await fetch(request);
  const allowed = response.headers.get("Access-Control-Allow-Origin");
  assert.ok(allowed === origin || (allowed === "*" && !withCookies), `${request.url}: ${allowed}`);
  if (withCookies) assert.equal(response.headers.get("Access-Control-Allow-Credentials"), "true", request.url);
  for (const line of withCookies ? response.headers.getSetCookie() : []) {
    const [pair, ...attributes] = line.split("; ");
    const [name, value] = pair.split("=");
    const path = attributes.find((attribute) => attribute.startsWith("Path=")).slice("Path=".length);
    if (attributes.includes("Max-Age=0")) cookies.delete(name);
    else cookies.set(name, { value, path: path.endsWith("/") ? path : `${path}/` });
  }
  return response;
}

function openTab() {
  return new Latchkey({
    issuer, clientId: app, redirectUri, dpop, fetch: browserFetch, scope: "openid posts:read profile:read payments:write",
  });
}

// Asks until a condition holds, for revocations, which reach every replica within a second.
async function soon(condition) {
  const end = Date.now() + 10_000;
  while (!(await condition())) assert.ok(Date.now() < end, "the revoked token is accepted");
}

globalThis.indexedDB = new Databases();
const page = openPage(`${origin}/`);
const leaving = openTab();
await leaving.signIn();
leaving.close();
const { entries } = sessionStorage;
openPage(String(await open(page.visited[0])));
sessionStorage.entries = entries;
let tab = openTab();
assert.equal(await tab.start(), "signed_in");
assert.equal(location.href, redirectUri);
assert.equal(tab.claims.sub, user.id);
const email = async () => (await (await tab.fetch(`${issuer}/me`)).json()).email;
assert.equal(await email(), user.email);

const pay = () => tab.fetch(`${issuer}/payments`, {
  method: "POST",
  body: '{"amount":1250,"currency":"EUR"}',
  headers: { "Content-Type": "application/json", "Idempotency-Key": "order-1" },
});
const [first, second] = [await pay(), await pay()];
assert.deepEqual([first.status, second.status], [201, 201]);
assert.equal(second.headers.get("Idempotent-Replayed"), "true");
const missing = await LatchkeyError.from(await tab.fetch(`${issuer}/posts/4711`));
assert.deepEqual([missing.error, missing.status], ["not_found", 404]);
assert.match(missing.correlationId, /^[0-9a-f]{32}$/);

// A reload, and a second tab at the same time.
tab.close();
tab = openTab();
const other = openTab();
assert.deepEqual(await Promise.all([tab.start(), other.start()]), ["signed_in", "signed_in"]);
assert.equal(await email(), user.email);

// The token is renewed after it was revoked.
const revoked = await tab.accessToken();
const body = new URLSearchParams({ client_id: app, token: revoked });
assert.equal((await fetch(`${issuer}/revoke`, { method: "POST", body })).status, 200);
await soon(async () => (await email()) === user.email && (await tab.accessToken()) !== revoked);

await tab.signOut();
await until(() => !other.signedIn);
assert.equal(other.ended.error, "signed_out_elsewhere");
assert.deepEqual([...cookies.keys()], ["csrf"]);
assert.equal(await tab.start(), "signed_out");

// A sign-in in a popup, which another tab notices.
const popup = { location: { href: "" }, close() {} };
globalThis.open = () => popup;
const signIn = tab.signInWithPopup({ login_hint: user.email });
await until(() => popup.location.href);
const callback = await open(popup.location.href);
openPage(String(callback));
const window = openTab();
assert.equal(await window.start(), "popup");
window.close();
await signIn;
assert.equal(await email(), user.email);
await until(() => other.signedIn);

// The grant ends elsewhere: every tab learns why.
const kept = new Map(cookies);
const csrf = cookies.get("csrf").value;
const revocation = new Request(`${issuer}/token/revoke`, {
  method: "POST", credentials: "include", headers: { "x-csrf-token": csrf }, body: new URLSearchParams({ client_id: app }),
});
assert.equal((await browserFetch(revocation)).status, 200);
for (const [name, cookie] of kept) cookies.set(name, cookie);
await soon(() => email().then(() => false, ({ name }) => name === "SessionEndedError"));
assert.equal(tab.ended.error, "invalid_grant");
assert.match(tab.ended.description, /revoked at .*: the app revoked it/);
await until(() => !other.signedIn);
assert.equal(other.ended.description, tab.ended.description);

done();
