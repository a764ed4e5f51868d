import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { API, Issuer, closeTabs, openPage, openTab, settle, signedIn, until } from "./fakes.mjs";

afterEach(closeTabs);

const url = (path) => `${API}${path}`;
const post = (headers = {}) => ({ method: "POST", body: '{"amount":1250}', headers });
const statuses = (issuer, path) => issuer.sent(path).length;

// A tab whose access token has been revoked.
async function revoked(options, issuer) {
  const session = await signedIn(options, issuer);
  session.issuer.valid.clear();
  return session;
}

test("a request has the access token", async () => {
  const { tab, issuer } = await signedIn();
  const response = await tab.fetch(new URL(url("/posts?limit=2")), { headers: { Accept: "application/json" } });
  assert.deepEqual(await response.json(), { ok: true });
  await tab.fetch(new Request(url("/posts"), post({ "Content-Type": "application/json" })));
  const [read, write] = issuer.sent("/posts");
  assert.equal(read.headers.get("authorization"), "Bearer token-1");
  assert.equal(read.headers.get("accept"), "application/json");
  assert.deepEqual([write.method, write.body], ["POST", '{"amount":1250}']);
});

test("other origins get no token", async () => {
  const { tab, issuer } = await signedIn();
  const { length } = issuer.requests;
  for (const other of ["https://evil.example/posts", "http://api.notes.example/", "https://api.notes.example.evil.example/"]) {
    await assert.rejects(tab.fetch(other), { error: "unknown_api" });
  }
  assert.equal(issuer.requests.length, length);
});

test("a request of a user who is not signed in fails without a request", async () => {
  const issuer = new Issuer();
  openPage();
  const tab = openTab(issuer);
  await tab.start();
  const { length } = issuer.requests;
  await assert.rejects(tab.fetch(url("/posts")), { name: "SessionEndedError" });
  assert.equal(issuer.requests.length, length);
});

for (const [name, init, path = "/posts/1"] of [
  ["GET", {}],
  ["PUT", { method: "PUT", body: "x" }],
  ["DELETE", { method: "DELETE" }],
  ["POST with a key", post({ "Idempotency-Key": "order-1" }), "/payments"],
  ["PATCH with If-Match", { method: "PATCH", body: "{}", headers: { "If-Match": '"3"' } }],
]) {
  test(`after a 401, ${name} is repeated with a new token`, async () => {
    const { tab, issuer } = await revoked();
    assert.equal((await tab.fetch(url(path), init)).status, 200);
    const [first, second] = issuer.sent(path);
    assert.equal(second.headers.get("authorization"), "Bearer token-2");
    assert.deepEqual(second.body, first.body);
    for (const header of ["idempotency-key", "if-match"]) {
      assert.equal(second.headers.get(header), first.headers.get(header));
    }
  });
}

test("after a 401, a POST without a key is not repeated, but the token is renewed", async () => {
  const { tab, issuer } = await revoked();
  assert.equal((await tab.fetch(url("/posts"), post())).status, 401);
  assert.equal(statuses(issuer, "/posts"), 1);
  await until(() => tab.heard.includes("renewed"));
  assert.equal((await tab.fetch(url("/posts"), post())).status, 200);
});

test("a token is renewed once for a request", async () => {
  const { tab, issuer } = await signedIn();
  for (let n = 0; n < 2; n++) issuer.next("/posts", () => new Response("", { status: 401 }));
  assert.equal((await tab.fetch(url("/posts"))).status, 401);
  assert.equal(statuses(issuer, "/posts"), 2);
  assert.equal(issuer.sent("/token").length, 2);
});

test("many 401 at once cause one refresh", async () => {
  const { tab, issuer } = await revoked();
  const responses = await Promise.all(Array.from({ length: 10 }, (_, n) => tab.fetch(url(`/posts/${n}`))));
  assert.ok(responses.every(({ status }) => status === 200));
  assert.equal(issuer.sent("/token").length, 2);
});

test("a late 401 to an old token causes no refresh", async () => {
  const { tab, issuer } = await signedIn();
  let refuse;
  issuer.next("/slow", () => new Promise((resolve) => { refuse = () => resolve(new Response("", { status: 401 })); }));
  const slow = tab.fetch(url("/slow"));
  await until(() => refuse);
  issuer.valid.clear();
  await tab.fetch(url("/posts"));
  refuse();
  assert.equal((await slow).status, 200);
  assert.equal(issuer.sent("/token").length, 2);
});

for (const [name, init, requests] of [
  ["a GET", {}, 2],
  ["a POST with a key", post({ "Idempotency-Key": "order-1" }), 2],
  ["a POST without a key", post(), 1],
  ["a DELETE", { method: "DELETE" }, 1],
  ["a PATCH with If-Match", { method: "PATCH", body: "{}", headers: { "If-Match": '"3"' } }, 1],
]) {
  test(`${name} whose answer was lost is sent ${requests === 2 ? "again" : "once"}`, async () => {
    const { tab, issuer } = await signedIn();
    issuer.next("/posts/1", new TypeError("connection reset"));
    const response = tab.fetch(url("/posts/1"), init);
    if (requests === 2) assert.equal((await response).status, 200);
    else await assert.rejects(response, { name: "ConnectionError", error: "connection_failed" });
    assert.equal(statuses(issuer, "/posts/1"), requests);
  });
}

test("a payment without its key is never repeated", async () => {
  const issuer = Object.assign(new Issuer(), { dpop: ["ES256"], tokenType: "DPoP" });
  const { tab } = await revoked({ dpop: true }, issuer);
  for (const [n, path] of ["/payments", "/v1/payments", "/payments/1/captures"].entries()) {
    issuer.next(path, new TypeError("connection reset"));
    await assert.rejects(tab.fetch(url(path), post()), { name: "ConnectionError" });
    assert.equal(statuses(issuer, path), 1);
    issuer.next(path, new Response("", {
      status: 401, headers: { "WWW-Authenticate": 'DPoP error="use_dpop_nonce"', "DPoP-Nonce": `n${n}` },
    }));
    assert.equal((await tab.fetch(url(path), post({ "If-Match": '"3"' }))).status, 401);
    assert.equal(statuses(issuer, path), 2);
    await settle();
  }
});

test("an aborted request stops alone", async () => {
  const { tab, issuer } = await revoked();
  let answer;
  issuer.next("/token", () => new Promise((resolve) => { answer = () => resolve(issuer.tokens()); }));
  const stop = new AbortController();
  const aborted = assert.rejects(tab.fetch(url("/posts"), { signal: stop.signal }), { name: "AbortError" });
  const other = tab.fetch(url("/posts"));
  await until(() => answer);
  stop.abort();
  await aborted;
  answer();
  assert.equal((await other).status, 200);
  await assert.rejects(tab.fetch(url("/posts"), { signal: AbortSignal.abort() }), { name: "AbortError" });
  assert.equal(statuses(issuer, "/posts"), 3);
});

test("an abort is not repeated as a lost answer", async () => {
  const { tab, issuer } = await signedIn();
  const stop = new AbortController();
  issuer.next("/posts", () => {
    stop.abort();
    throw stop.signal.reason;
  });
  await assert.rejects(tab.fetch(url("/posts"), { signal: stop.signal }), { name: "AbortError" });
  assert.equal(statuses(issuer, "/posts"), 1);
});
