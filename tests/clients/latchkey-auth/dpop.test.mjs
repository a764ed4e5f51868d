import assert from "node:assert/strict";
import { createHash, webcrypto } from "node:crypto";
import { afterEach, beforeEach, test } from "node:test";
import { API, Databases, ISSUER, Issuer, closeTabs, openPage, openTab, signedIn, tokenError } from "./fakes.mjs";

beforeEach(() => { globalThis.indexedDB = new Databases(); });
afterEach(closeTabs);

const offered = () => Object.assign(new Issuer(), { dpop: ["ES256"], tokenType: "DPoP" });
const hash = (text) => createHash("sha256").update(text).digest("base64url");

// Verifies the proof of a request. Returns its claims, and the thumbprint of its key.
async function proofOf({ headers, method, url }) {
  const [header, claims, signature] = headers.get("dpop").split(".");
  const { typ, alg, jwk } = JSON.parse(Buffer.from(header, "base64url"));
  assert.deepEqual([typ, alg, Object.keys(jwk).sort()], ["dpop+jwt", "ES256", ["crv", "kty", "x", "y"]]);
  const key = await webcrypto.subtle.importKey("jwk", jwk, { name: "ECDSA", namedCurve: "P-256" }, true, ["verify"]);
  const signed = [Buffer.from(signature, "base64url"), Buffer.from(`${header}.${claims}`)];
  assert.ok(await webcrypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, key, ...signed));
  const proof = JSON.parse(Buffer.from(claims, "base64url"));
  assert.deepEqual([proof.htm, proof.htu], [method, url.split(/[?#]/)[0]]);
  assert.ok(Math.abs(proof.iat - Date.now() / 1000) < 10);
  return { ...proof, jkt: hash(JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x: jwk.x, y: jwk.y })) };
}

test("tokens and requests are bound to a key that no script can read", async () => {
  const { tab, issuer, page } = await signedIn({ dpop: true }, offered());
  await tab.fetch(`${API}/posts?limit=2`);
  await tab.signIn();
  const [refresh, request] = [...issuer.sent("/token"), ...issuer.sent("/posts")];
  const proofs = [await proofOf(refresh), await proofOf(request)];
  assert.notEqual(proofs[0].jti, proofs[1].jti);
  assert.equal(proofs[0].ath, undefined);
  assert.equal(proofs[1].ath, hash("token-1"));
  assert.equal(request.headers.get("authorization"), "DPoP token-1");
  assert.equal(proofs[0].jkt, proofs[1].jkt);
  assert.equal(new URL(page.visited[0]).searchParams.get("dpop_jkt"), proofs[0].jkt);
  const stored = indexedDB.stores.get(`latchkey:${ISSUER}:notes`).get("dpop");
  assert.equal(stored.privateKey.extractable, false);
  await assert.rejects(webcrypto.subtle.exportKey("jwk", stored.privateKey));
});

test("all tabs and the page after a reload have the same key", async () => {
  const { issuer } = await signedIn({ dpop: true }, offered());
  await Promise.all([openTab(issuer, { dpop: true }).start(), openTab(issuer, { dpop: true }).start()]);
  const proofs = await Promise.all(issuer.sent("/token").map(proofOf));
  assert.equal(proofs.length, 3);
  assert.equal(new Set(proofs.map(({ jkt }) => jkt)).size, 1);
});

test("two tabs that start at once make one key", async () => {
  openPage();
  const issuer = Object.assign(offered(), { hasCookie: true });
  await Promise.all([openTab(issuer, { dpop: true }).start(), openTab(issuer, { dpop: true }).start()]);
  const proofs = await Promise.all(issuer.sent("/token").map(proofOf));
  assert.equal(new Set(proofs.map(({ jkt }) => jkt)).size, 1);
});

test("without IndexedDB the key lives as long as the page", async () => {
  globalThis.indexedDB = { open() { throw new Error("denied"); } };
  const { tab, issuer } = await signedIn({ dpop: true }, offered());
  await tab.fetch(`${API}/posts`);
  assert.equal((await proofOf(issuer.sent("/posts")[0])).jkt, (await proofOf(issuer.sent("/token")[0])).jkt);
});

test("nonces of each server are used, and a request is repeated with a new one", async () => {
  const issuer = Object.assign(offered(), { hasCookie: true });
  openPage();
  const tab = openTab(issuer, { dpop: true });
  issuer.next("/token", tokenError("use_dpop_nonce", "a nonce is needed", 400, { "DPoP-Nonce": "issuer-1" }));
  issuer.next("/token", tokenError("use_dpop_nonce", "a nonce is needed", 400, { "DPoP-Nonce": "issuer-2" }));
  assert.equal(await tab.start(), "signed_in");
  const nonces = async (path) => (await Promise.all(issuer.sent(path).map(proofOf))).map(({ nonce }) => nonce);
  assert.deepEqual(await nonces("/token"), [undefined, "issuer-1", "issuer-2"]);
  const challenge = { "WWW-Authenticate": 'DPoP error="use_dpop_nonce"', "DPoP-Nonce": "api-1" };
  issuer.next("/posts", new Response("", { status: 401, headers: challenge }));
  issuer.next("/posts", new Response("{}", { headers: { "DPoP-Nonce": "api-2" } }));
  const write = () => tab.fetch(`${API}/posts`, { method: "POST", body: "{}" });
  assert.equal((await write()).status, 200);
  assert.equal((await write()).status, 200);
  assert.deepEqual(await nonces("/posts"), [undefined, "api-1", "api-2"]);
  assert.equal(issuer.sent("/token").length, 3);
  const proofs = await Promise.all(issuer.sent("/posts").map(proofOf));
  assert.equal(new Set(proofs.map(({ jti }) => jti)).size, 3);
});

test("a server that never accepts a nonce is asked five times", async () => {
  const issuer = Object.assign(offered(), { hasCookie: true });
  openPage();
  const refusal = () => tokenError("use_dpop_nonce", "a nonce is needed", 400, { "DPoP-Nonce": "again" });
  for (let n = 0; n < 6; n++) issuer.next("/token", refusal);
  await assert.rejects(openTab(issuer, { dpop: true }).start(), { error: "use_dpop_nonce" });
  assert.equal(issuer.sent("/token").length, 5);
});

test("an issuer without DPoP gives bearer tokens", async () => {
  for (const dpop of [undefined, ["RS256"]]) {
    const { tab, issuer } = await signedIn({ dpop: true }, Object.assign(new Issuer(), { dpop }));
    await tab.fetch(`${API}/posts`);
    const [request] = issuer.sent("/posts");
    assert.equal(request.headers.get("authorization"), "Bearer token-1");
    assert.equal(request.headers.get("dpop"), null);
  }
});

test("a bearer token of an issuer with DPoP is refused", async () => {
  const issuer = Object.assign(new Issuer(), { dpop: ["ES256"], hasCookie: true });
  openPage();
  await assert.rejects(openTab(issuer, { dpop: true }).start(), { error: "unexpected_tokens" });
});

test("metadata that cannot be read are read again", async () => {
  const issuer = Object.assign(offered(), { hasCookie: true });
  openPage();
  const tab = openTab(issuer, { dpop: true });
  const path = "/.well-known/oauth-authorization-server";
  issuer.next(path, new Response("{}", { status: 503 }));
  issuer.next(path, new Response('{"issuer":"https://evil.example"}'));
  await assert.rejects(tab.start(), { error: "unexpected_response", status: 503 });
  await assert.rejects(tab.start(), { error: "issuer_mismatch" });
  assert.equal(await tab.start(), "signed_in");
  await tab.accessToken();
  assert.equal(issuer.sent(path).length, 3);
});
