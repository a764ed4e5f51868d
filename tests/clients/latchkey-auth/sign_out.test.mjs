import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { API, closeTabs, json, openTab, settle, signedIn, tokenError, until } from "./fakes.mjs";

afterEach(closeTabs);

// Two signed-in tabs.
async function twoTabs() {
  const { tab, issuer } = await signedIn();
  const other = openTab(issuer);
  await other.start();
  return { tab, other, issuer };
}

test("a sign-out ends the session in all tabs and at the issuer", async () => {
  const { tab, other, issuer } = await twoTabs();
  await tab.signOut();
  await until(() => !other.signedIn);
  assert.deepEqual(tab.heard, ["signedin", "signedout signed_out"]);
  assert.deepEqual(other.heard, ["signedin", "signedout signed_out_elsewhere"]);
  assert.equal(other.ended.description, "The user signed out in another tab.");
  assert.equal(tab.claims, undefined);
  const [revocation] = issuer.sent("/token/revoke");
  assert.deepEqual(revocation.form, { client_id: "notes" });
  assert.equal(revocation.headers.get("x-csrf-token"), "csrf-1");
  assert.equal(revocation.credentials, "include");
  for (const each of [tab, other]) await assert.rejects(each.fetch(API), { name: "SessionEndedError" });
  assert.equal(await tab.start(), "signed_out");
});

test("a sign-out that the issuer does not answer is an error, and no tab keeps its token", async () => {
  const { tab, other, issuer } = await twoTabs();
  issuer.next("/token/revoke", new TypeError("offline"));
  await assert.rejects(tab.signOut(), { name: "ConnectionError" });
  await until(() => !other.signedIn);
  assert.equal(tab.signedIn, false);
  issuer.next("/token/revoke", tokenError("temporarily_unavailable", "no database", 503));
  await assert.rejects(tab.signOut(), { error: "temporarily_unavailable", status: 503, correlationId: "c0ffee" });
  await tab.signOut();
  assert.equal(issuer.hasCookie, false);
});

test("a sign-out waits for no refresh that is under way, which brings no token back", async () => {
  const { tab, other, issuer } = await twoTabs();
  let answer;
  issuer.next("/token", () => new Promise((resolve) => { answer = () => resolve(issuer.tokens()); }));
  issuer.valid.clear();
  const request = assert.rejects(other.fetch(`${API}/posts`), { error: "signed_out_elsewhere" });
  await until(() => answer);
  await tab.signOut();
  assert.equal(issuer.sent("/token/revoke").length, 1);
  await until(() => !other.signedIn);
  answer();
  await request;
  assert.ok(!tab.signedIn && !other.signedIn);
});

test("the next refresh waits for the answer to a sign-out, which removes the cookie", async () => {
  const { tab, other, issuer } = await twoTabs();
  let answer;
  issuer.next("/token/revoke", () => new Promise((resolve) => { answer = () => resolve(json({})); }));
  const signedOut = tab.signOut();
  await until(() => answer && !other.signedIn);
  const before = issuer.sent("/token").length;
  const started = other.start();
  await settle();
  assert.equal(issuer.sent("/token").length, before);
  answer();
  await signedOut;
  await started;
  assert.equal(issuer.sent("/token").length, before + 1);
});

test("all tabs learn why the issuer ended the session", async () => {
  const { tab, other, issuer } = await twoTabs();
  const reason = "the refresh token was revoked at 2026-11-27T14:02:08.120000Z: the user changed the password";
  issuer.next("/token", tokenError("invalid_grant", reason));
  issuer.valid.clear();
  const expected = { name: "SessionEndedError", error: "invalid_grant", description: reason, correlationId: "c0ffee" };
  await assert.rejects(tab.fetch(`${API}/posts`), expected);
  await until(() => !other.signedIn);
  for (const each of [tab, other]) {
    assert.deepEqual(each.heard, ["signedin", "signedout invalid_grant"]);
    assert.equal(each.ended.description, reason);
    assert.equal(each.ended.correlationId, "c0ffee");
  }
});

test("a closed tab hears nothing and ends nothing", async () => {
  const { tab, other, issuer } = await twoTabs();
  other.close();
  await tab.signOut();
  await settle();
  assert.equal(other.signedIn, true);
  assert.equal(issuer.sent("/token/revoke").length, 1);
});
