import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { SignInError } from "../../../deploy/latchkey-auth/latchkey-auth.js";
import { CALLBACK, ISSUER, Issuer, closeTabs, openPage, openTab, settle, until } from "./fakes.mjs";

afterEach(closeTabs);

// Goes to the issuer and comes back with its answer. Returns the new page and its tab.
async function redirected(issuer, answer, options) {
  const page = openPage();
  await openTab(issuer, options).signIn();
  const stored = sessionStorage;
  const url = issuer.authorize(page.visited[0], answer);
  const next = openPage(`${url}&view=all#top`);
  sessionStorage.entries = stored.entries;
  return { page: next, tab: openTab(issuer, options), stored };
}

const refused = (start, error) => assert.rejects(start, (thrown) => thrown instanceof SignInError && thrown.error === error);

test("a redirect signs in with PKCE", async () => {
  const issuer = new Issuer();
  const { page, tab, stored } = await redirected(issuer);
  assert.deepEqual([...stored.entries.keys()], [`latchkey:${ISSUER}:notes`]);
  const transaction = JSON.parse([...stored.entries.values()][0]);
  assert.deepEqual(Object.keys(transaction).sort(), ["nonce", "state", "verifier"]);
  assert.equal(issuer.request.code_challenge_method, "S256");
  assert.equal(issuer.request.state, transaction.state);
  assert.equal(issuer.request.nonce, transaction.nonce);

  assert.equal(await tab.start(), "signed_in");
  assert.equal(tab.claims.sub, "7");
  assert.deepEqual(tab.heard, ["signedin"]);
  const [exchange] = issuer.sent("/token");
  assert.equal(exchange.credentials, "include");
  assert.deepEqual(exchange.form, {
    client_id: "notes", grant_type: "authorization_code", code: "the-code", redirect_uri: CALLBACK,
    code_verifier: transaction.verifier,
  });
  // Neither code nor token stays anywhere.
  assert.deepEqual(page.replaced, [`${CALLBACK}?view=all#top`]);
  assert.equal(sessionStorage.entries.size + localStorage.entries.size, 0);
});

test("the author's parameters do not replace those of the sign-in", async () => {
  const page = openPage();
  await openTab(new Issuer()).signIn({ prompt: "login", state: "mine", code_challenge_method: "plain" });
  const { searchParams } = new URL(page.visited[0]);
  assert.equal(searchParams.get("prompt"), "login");
  assert.notEqual(searchParams.get("state"), "mine");
  assert.equal(searchParams.get("code_challenge_method"), "S256");
});

test("an answer to another sign-in is refused", async () => {
  const issuer = new Issuer();
  for (const forget of [false, true]) {
    const { page, tab } = await redirected(issuer, { state: "another" });
    if (forget) sessionStorage.entries.clear();
    await refused(tab.start(), "state_mismatch");
    assert.deepEqual(page.replaced, [`${CALLBACK}?view=all#top`]);
    assert.equal(sessionStorage.entries.size, 0);
  }
  assert.deepEqual(issuer.requests, []);
});

test("an answer is used once", async () => {
  const issuer = new Issuer();
  const { tab } = await redirected(issuer);
  const url = location.href;
  await tab.start();
  location.href = url;
  await refused(tab.start(), "state_mismatch");
});

test("an answer of another issuer is refused, errors included", async () => {
  const issuer = new Issuer();
  for (const answer of [{ iss: "https://evil.example" }, { iss: "" }, { iss: "", error: "access_denied" }]) {
    await refused((await redirected(issuer, answer)).tab.start(), "issuer_mismatch");
  }
  assert.deepEqual(issuer.requests, []);
});

test("an error of the issuer is told", async () => {
  const issuer = new Issuer();
  const { tab } = await redirected(issuer, { error: "access_denied", error_description: "the user chose Deny" });
  await assert.rejects(tab.start(), { error: "access_denied", description: "the user chose Deny" });
  issuer.next("/token", new Response('{"error":"invalid_grant","correlationId":"4bf9"}', { status: 400 }));
  const exchange = (await redirected(issuer)).tab.start();
  await assert.rejects(exchange, { name: "SignInError", error: "invalid_grant", correlationId: "4bf9", status: 400 });
});

test("the ID token must be for this sign-in", async () => {
  const now = Math.floor(Date.now() / 1000);
  for (const claims of [
    { nonce: "another" }, { nonce: undefined }, { iss: "https://evil.example" }, { aud: "another" },
    { aud: ["notes", "another"] }, { exp: now - 301 }, { exp: undefined }, { sub: undefined },
  ]) {
    const issuer = Object.assign(new Issuer(), { claims });
    const { tab } = await redirected(issuer);
    await refused(tab.start(), "id_token_mismatch");
    assert.equal(tab.signedIn, false);
  }
  for (const id_token of [undefined, "x", "a.b.c"]) {
    const issuer = Object.assign(new Issuer(), { extra: { id_token } });
    await refused((await redirected(issuer)).tab.start(), "id_token_mismatch");
  }
  // A clock that is a few minutes wrong does no harm.
  const issuer = Object.assign(new Issuer(), { claims: { exp: now - 290, aud: ["notes"] } });
  assert.equal(await (await redirected(issuer)).tab.start(), "signed_in");
});

test("tokens of another kind are refused", async () => {
  for (const [extra, error] of [
    [{ refresh_token: "a refresh token for scripts" }, "refresh_token_in_body"],
    [{ token_type: "DPoP" }, "unexpected_tokens"], [{ token_type: undefined }, "unexpected_tokens"],
    [{ access_token: undefined }, "unexpected_tokens"], [{ expires_in: undefined }, "unexpected_tokens"],
  ]) {
    const { tab } = await redirected(Object.assign(new Issuer(), { extra }));
    await refused(tab.start(), error);
    assert.equal(tab.signedIn, false);
  }
});

test("an exchange whose answer was lost is not repeated", async () => {
  const issuer = new Issuer();
  const { tab } = await redirected(issuer);
  issuer.next("/token", new TypeError("connection reset"));
  await assert.rejects(tab.start(), { name: "ConnectionError", error: "connection_failed" });
  assert.equal(issuer.sent("/token").length, 1);
});

// Opens a popup as the click of a button does. Its page is another one in the browser.
function popup(issuer, options) {
  openPage();
  const window = { location: { href: "" }, close() { this.isClosed = true; } };
  globalThis.open = () => window;
  const tab = openTab(issuer);
  const signIn = tab.signInWithPopup({}, options);
  return { tab, window, signIn };
}

test("a popup signs in", async () => {
  const issuer = new Issuer();
  const { tab, window, signIn } = popup(issuer);
  assert.equal(sessionStorage.entries.size, 0);
  await until(() => window.location.href);
  const page = openPage(issuer.authorize(window.location.href));
  assert.equal(await openTab(issuer).start(), "popup");
  assert.deepEqual(page.replaced, [CALLBACK]);
  assert.ok(page.closed);
  await signIn;
  assert.ok(tab.signedIn && window.isClosed);
  assert.equal(issuer.sent("/token").length, 1);
});

test("a popup's answer is for the tab that opened it", async () => {
  const issuer = new Issuer();
  const stop = new AbortController();
  const { tab, window, signIn } = popup(issuer, { signal: stop.signal });
  await until(() => window.location.href);
  openPage(issuer.authorize(window.location.href, { state: "popup.another" }));
  assert.equal(await openTab(issuer).start(), "popup");
  await settle();
  assert.deepEqual(issuer.requests, []);
  stop.abort();
  await assert.rejects(signIn, { name: "AbortError" });
  assert.ok(window.isClosed && !tab.signedIn);
});

test("a popup's answer must be of the issuer", async () => {
  const issuer = new Issuer();
  const { window, signIn } = popup(issuer);
  const refusal = refused(signIn, "issuer_mismatch");
  await until(() => window.location.href);
  openPage(issuer.authorize(window.location.href, { iss: "https://evil.example" }));
  await openTab(issuer).start();
  await refusal;
});

test("a blocked popup is an error", async () => {
  openPage();
  globalThis.open = () => null;
  await refused(openTab(new Issuer()).signInWithPopup(), "popup_blocked");
});
