import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { ISSUER, Issuer, closeTabs, json, openPage, openTab, settle, signedIn, tokenError, until } from "./fakes.mjs";

beforeEach(() => openPage());
afterEach(() => {
  closeTabs();
  mock.timers.reset();
  mock.restoreAll();
});

// The time by which the clock is ahead of the timers: after a sleep, or because it was set.
let shift;
// The random number of all waits.
let chance;

// Time passes by `advance` alone, also for the signals of time limits.
function useClock() {
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: Date.now() });
  [shift, chance] = [0, 0];
  mock.method(Math, "random", () => chance);
  const { now } = Date;
  Date.now = () => now() + shift;
  mock.method(AbortSignal, "timeout", (length) => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new DOMException("too late", "TimeoutError")), length);
    return controller.signal;
  });
}

// Moves the clock, with time between the timers for what they began.
async function advance(milliseconds, step = milliseconds) {
  for (let passed = 0; passed < milliseconds; passed += step) {
    mock.timers.tick(step);
    await settle();
  }
}

test("a reload continues the session by the cookie", async () => {
  const { tab, issuer } = await signedIn();
  assert.equal(tab.signedIn, true);
  assert.equal(await tab.accessToken(), "token-1");
  assert.equal(tab.claims.sub, "7");
  const [refresh] = issuer.sent("/token");
  assert.deepEqual(refresh.form, { client_id: "notes", grant_type: "refresh_token" });
  assert.equal(refresh.headers.get("x-csrf-token"), "csrf-1");
  assert.deepEqual(issuer.requests.map(({ credentials }) => credentials), ["include", "include"]);
  assert.equal(sessionStorage.entries.size + localStorage.entries.size, 0);
});

test("without a session the user is signed out", async () => {
  const tab = openTab(new Issuer());
  assert.equal(await tab.start(), "signed_out");
  assert.equal(tab.ended.description, "the browser sent no cookie");
  assert.deepEqual(tab.heard, []);
  await assert.rejects(tab.accessToken(), { name: "SessionEndedError" });
});

test("a start without network fails and can be repeated", async () => {
  const issuer = Object.assign(new Issuer(), { hasCookie: true });
  for (let n = 0; n < 3; n++) issuer.next("/csrf", new TypeError("offline"));
  const tab = openTab(issuer);
  await assert.rejects(tab.start(), { name: "ConnectionError" });
  assert.equal(await tab.start(), "signed_in");
});

test("an outdated anti-forgery token is fetched again, once", async () => {
  const { tab, issuer } = await signedIn();
  issuer.csrf = "csrf-2";
  issuer.valid.clear();
  assert.equal((await tab.fetch("https://api.notes.example/posts")).status, 200);
  assert.deepEqual(issuer.sent("/token").map(({ headers }) => headers.get("x-csrf-token")), ["csrf-1", "csrf-1", "csrf-2"]);
  for (let n = 0; n < 2; n++) issuer.next("/token", json({ code: "csrf_mismatch", message: "no" }, 403));
  issuer.valid.clear();
  await assert.rejects(tab.fetch("https://api.notes.example/posts"), { error: "csrf_mismatch", status: 403 });
  assert.equal(tab.signedIn, true);
});

for (const [status, code] of [[429, "rate_limited"], [503, "temporarily_unavailable"]]) {
  test(`an anti-forgery token that is refused with ${status} is fetched again later`, async () => {
    const issuer = Object.assign(new Issuer(), { hasCookie: true });
    issuer.next("/csrf", json({ code, message: "no" }, status, { "Retry-After": "7" }));
    const tab = openTab(issuer);
    await assert.rejects(tab.start(), { name: "LatchkeyError", error: code, status, retryAfter: 7 });
    assert.equal(issuer.sent("/token").length, 0);
    assert.equal(await tab.start(), "signed_in");
  });
}

test("all callers in a tab wait for one refresh", async () => {
  const issuer = Object.assign(new Issuer(), { hasCookie: true });
  const tab = openTab(issuer);
  const tokens = await Promise.all(Array.from({ length: 20 }, () => tab.accessToken()));
  assert.deepEqual(new Set(tokens), new Set(["token-1"]));
  assert.equal(issuer.sent("/token").length, 1);
});

// Starts ten tabs at once. Returns the largest number of refreshes at the same time.
async function concurrency(issuer) {
  let [running, most] = [0, 0];
  const { fetch } = issuer;
  issuer.fetch = async (request) => {
    const isRefresh = request.url.endsWith("/token");
    if (isRefresh) most = Math.max(most, ++running);
    const response = await fetch(request);
    if (isRefresh) running--;
    return response;
  };
  const tabs = Array.from({ length: 10 }, () => openTab(issuer));
  assert.deepEqual(new Set(await Promise.all(tabs.map((tab) => tab.start()))), new Set(["signed_in"]));
  assert.equal(issuer.sent("/token").length, 10);
  return most;
}

test("one tab at a time refreshes", async () => {
  assert.equal(await concurrency(Object.assign(new Issuer(), { hasCookie: true })), 1);
});

// A refresh uses the token in the cookie up, and may be repeated within ten seconds while the next one is unused, as at
// the real issuer. The answers arrive after these times in milliseconds, those without a time at once. The cookie arrives
// with them. The issuer processes the requests after the other times, also those that the browser has given up.
function rotating(delays, waits = []) {
  const issuer = Object.assign(new Issuer(), { hasCookie: true });
  const { fetch } = issuer;
  let [cookie, newest, issuedAt, isRevoked] = [0, 0, 0, false];
  const pass = (time) => new Promise((resolve) => { setTimeout(resolve, Math.min(time, 2 ** 31 - 1)); });
  const answer = async (request) => {
    const [sent, wait, delay] = [cookie, waits.shift(), delays.shift()];
    if (wait) await pass(wait);
    if (sent === newest) [newest, issuedAt] = [newest + 1, Date.now()];
    else if (sent + 1 !== newest || Date.now() >= issuedAt + 10_000) isRevoked = true;
    if (isRevoked) issuer.next("/token", tokenError("invalid_grant", "the refresh token was used twice"));
    const [next, response] = [newest, await fetch(request)];
    if (delay) await pass(delay);
    return () => {
      cookie = next;
      return response;
    };
  };
  issuer.fetch = (request) => {
    if (!request.url.endsWith("/token")) return fetch(request);
    const stopped = new Promise((_, reject) => {
      request.signal.addEventListener("abort", () => reject(request.signal.reason));
      // The garbage collector of Node.js can take the signal of a cloned request away.
      pass(15_000).then(() => reject(new DOMException("too late", "TimeoutError")));
    });
    return Promise.race([answer(request), stopped]).then((arrive) => arrive());
  };
  return issuer;
}

for (const [name, delays, time, attempts] of [
  ["is lost", [Infinity], 15_500, 2],
  ["is lost twice", [Infinity, Infinity], 18_500, 3],
  ["arrives after the second attempt has begun", [3_100], 3_500, 2],
  ["is always slow", [5_000, 5_000, 5_000], 12_000, 3],
  ["is as slow as possible", [14_000, 14_000, 14_000], 21_000, 3],
]) {
  test(`the session continues if the answer to a refresh ${name}`, async () => {
    useClock();
    const issuer = rotating(delays);
    const starts = [openTab(issuer), openTab(issuer)].map((tab) => tab.start());
    await settle();
    await advance(time, 100);
    assert.equal(issuer.sent("/token").length, attempts + 1);
    // The second tab has waited, and uses the next token.
    assert.deepEqual(await Promise.all(starts), ["signed_in", "signed_in"]);
  });
}

// A paused replica processes the first attempt after the second one was answered. No tab may have used the next token.
test("a refresh that the issuer processes late does not end the session", async () => {
  useClock();
  const issuer = rotating([], [6_000]);
  const tab = openTab(issuer);
  const start = tab.start();
  await advance(4_000, 100);
  assert.equal(await start, "signed_in");
  const other = openTab(issuer).start();
  await advance(1_500, 100);
  assert.equal(issuer.sent("/token").length, 1);
  await advance(1_000, 100);
  assert.equal(await other, "signed_in");
  assert.equal(await tab.start(), "signed_in");
});

test("tabs without Web Locks that refresh at once stay signed in", async () => {
  const issuer = rotating([]);
  const tabs = [openTab(issuer), openTab(issuer)];
  delete navigator.locks;
  assert.deepEqual(await Promise.all(tabs.map((tab) => tab.start())), ["signed_in", "signed_in"]);
});

test("a refresh that the issuer never answers keeps the next one waiting for 15 seconds", async () => {
  useClock();
  const issuer = rotating([], [Infinity]);
  const tab = openTab(issuer);
  const start = tab.start();
  await advance(4_000, 100);
  assert.equal(await start, "signed_in");
  const other = openTab(issuer).start();
  await advance(10_500, 100);
  assert.equal(issuer.sent("/token").length, 1);
  await advance(1_000, 100);
  assert.equal(await other, "signed_in");
});

test("a refresh whose answers are lost is sent three times, and tried again when the network is back", async () => {
  useClock();
  const issuer = Object.assign(new Issuer(), { hasCookie: true });
  for (let n = 0; n < 3; n++) issuer.next("/token", new TypeError("connection reset"));
  const tab = openTab(issuer);
  const failed = assert.rejects(tab.start(), { name: "ConnectionError" });
  await settle();
  await advance(1_000, 500);
  await failed;
  assert.equal(issuer.sent("/token").length, 3);
  assert.equal(await tab.start(), "signed_in");
});

// No request can tell whether the issuer has answered, so the browser tries its cookie once more.
test("a session whose answers are all lost for the retry window ends with the reason", async () => {
  useClock();
  const issuer = rotating([Infinity, Infinity, Infinity]);
  const tab = openTab(issuer);
  const failed = assert.rejects(tab.start(), { name: "ConnectionError" });
  await settle();
  await advance(22_000, 100);
  await failed;
  assert.equal(issuer.sent("/token").length, 3);
  assert.equal(await tab.start(), "signed_out");
  assert.equal(tab.ended.description, "the refresh token was used twice");
});

for (const status of [502, 504]) {
  test(`a refresh is repeated if a proxy lost its answer, which it tells by ${status}`, async () => {
    const issuer = Object.assign(new Issuer(), { hasCookie: true });
    const lose = () => issuer.next("/token", () => new Response("<html>", { status }));
    lose();
    const tab = openTab(issuer);
    assert.equal(await tab.start(), "signed_in");
    assert.equal(issuer.sent("/token").length, 2);
    for (let n = 0; n < 3; n++) lose();
    await assert.rejects(tab.start(), { name: "LatchkeyError", error: "unexpected_response", status });
    assert.equal(issuer.sent("/token").length, 5);
  });

  test(`the anti-forgery token is fetched again if a proxy answers ${status}`, async () => {
    const issuer = Object.assign(new Issuer(), { hasCookie: true });
    issuer.next("/csrf", () => new Response("<html>", { status }));
    assert.equal(await openTab(issuer).start(), "signed_in");
    assert.equal(issuer.sent("/csrf").length, 2);
  });

  test(`a renewal that a proxy answers with ${status} is tried again after five seconds`, async () => {
    useClock();
    const { issuer } = await signedIn();
    for (let n = 0; n < 3; n++) issuer.next("/token", () => new Response("<html>", { status }));
    await advance(540_500, 500);
    chance = 0.5;
    await advance(500);
    assert.equal(issuer.sent("/token").length, 4);
    await advance(4_500, 500);
    assert.equal(issuer.sent("/token").length, 4);
    await advance(500);
    assert.equal(issuer.sent("/token").length, 5);
  });
}

// Such as while the computer sleeps.
test("a refresh whose answer was lost is not repeated late", async () => {
  useClock();
  const issuer = Object.assign(new Issuer(), { hasCookie: true });
  issuer.next("/token", () => {
    mock.timers.setTime(Date.now() + 7_001);
    throw new TypeError("connection reset");
  });
  const failed = assert.rejects(openTab(issuer).start(), { name: "ConnectionError" });
  await settle();
  await advance(500);
  await failed;
  assert.equal(issuer.sent("/token").length, 1);
});

test("tabs keep their tokens for themselves", async () => {
  const { tab, issuer } = await signedIn();
  const other = openTab(issuer);
  await other.start();
  await settle();
  assert.deepEqual([await tab.accessToken(), await other.accessToken()], ["token-1", "token-2"]);
  assert.deepEqual(tab.heard, ["signedin"]);
});

test("tabs share a token if the author asks for it", async () => {
  const { tab, issuer } = await signedIn({ shareToken: true });
  const other = openTab(issuer, { shareToken: true });
  await other.start();
  await until(() => tab.heard.includes("renewed"));
  assert.deepEqual([await tab.accessToken(), await other.accessToken()], ["token-2", "token-2"]);
  // Both need a new token at the same time. The second one gets that of the first.
  issuer.valid.clear();
  const responses = await Promise.all([tab, other].map((each) => each.fetch("https://api.notes.example/posts")));
  assert.deepEqual(responses.map(({ status }) => status), [200, 200]);
  assert.equal(issuer.sent("/token").length, 3);
});

for (const shareToken of [false, true]) {
  test(`messages between tabs have a token only if the author asks for it: ${shareToken}`, async () => {
    const channel = new BroadcastChannel(`latchkey:${ISSUER}:notes`);
    const messages = [];
    channel.addEventListener("message", ({ data }) => messages.push(JSON.stringify(data)));
    const issuer = new Issuer();
    const page = openPage();
    await openTab(issuer, { shareToken }).signIn();
    const { entries } = sessionStorage;
    openPage(issuer.authorize(page.visited[0]));
    sessionStorage.entries = entries;
    const tab = openTab(issuer, { shareToken });
    await tab.start();
    issuer.valid.clear();
    await tab.fetch("https://api.notes.example/posts");
    await tab.signOut();
    await until(() => messages.some((message) => message.includes("signed_out_elsewhere")));
    await settle();
    channel.close();
    const tokens = messages.filter((message) => message.includes("token"));
    assert.equal(tokens.length, shareToken ? 2 : 0, messages.join());
  });
}

test("a sign-in reaches the other tabs", async () => {
  const issuer = new Issuer();
  const other = openTab(issuer);
  assert.equal(await other.start(), "signed_out");
  const page = openPage();
  await openTab(issuer).signIn();
  const { entries } = sessionStorage;
  openPage(issuer.authorize(page.visited[0]));
  sessionStorage.entries = entries;
  await openTab(issuer).start();
  await until(() => other.signedIn);
  assert.deepEqual(other.heard, ["signedin"]);
});

test("a tab never takes the token of another user", async () => {
  const { tab, issuer } = await signedIn();
  issuer.claims = { sub: "8" };
  issuer.valid.clear();
  await assert.rejects(tab.fetch("https://api.notes.example/posts"), { name: "SessionEndedError", error: "other_user" });
  assert.deepEqual(tab.heard, ["signedin", "signedout other_user"]);
  assert.equal(await tab.start(), "signed_in");
  assert.equal(tab.claims.sub, "8");
});

// Without an ID token, the access token names the user.
for (const shareToken of [false, true]) {
  test(`without openid a tab never takes the token of another user, shared: ${shareToken}`, async () => {
    const issuer = new Issuer();
    const answer = (sub) => {
      const payload = Buffer.from(JSON.stringify({ sub })).toString("base64url");
      issuer.extra = { id_token: undefined, scope: "posts:read", access_token: `e30.${payload}.signature` };
    };
    answer("7");
    const { tab } = await signedIn({ scope: "posts:read", shareToken }, issuer);
    assert.equal(await tab.start(), "signed_in");
    assert.equal(tab.claims, undefined);
    answer("8");
    if (shareToken) await openTab(issuer, { scope: "posts:read", shareToken }).start();
    else assert.equal(await tab.start(), "signed_out");
    await until(() => !tab.signedIn);
    assert.deepEqual(tab.heard, ["signedin", "renewed", "signedout other_user"]);
  });
}

test("a token is renewed a minute before it expires", async () => {
  useClock();
  const { tab, issuer } = await signedIn();
  await advance(539_000);
  assert.equal(issuer.sent("/token").length, 1);
  await advance(1_000);
  assert.equal(issuer.sent("/token").length, 2);
  assert.deepEqual(tab.heard, ["signedin", "renewed"]);
});

test("a hidden page renews when it is shown", async () => {
  useClock();
  const { page, issuer } = await signedIn();
  page.document.hidden = true;
  await advance(3_600_000);
  assert.equal(issuer.sent("/token").length, 1);
  page.document.hidden = false;
  page.document.dispatchEvent(new Event("visibilitychange"));
  await settle();
  assert.equal(issuer.sent("/token").length, 2);
  // The token is fresh.
  page.document.dispatchEvent(new Event("visibilitychange"));
  await settle();
  assert.equal(issuer.sent("/token").length, 2);
});

for (const type of ["online", "pageshow"]) {
  test(`a token is renewed at ${type}`, async () => {
    useClock();
    const { page, issuer } = await signedIn();
    // The computer slept: the clock went on, the timers did not.
    mock.timers.setTime(Date.now() + 550_000);
    issuer.requests.length = 0;
    page.events.dispatchEvent(new Event(type));
    await settle();
    assert.equal(issuer.sent("/token").length, 1);
  });
}

// No event tells a page that stays visible that the computer slept. Its timers stand still meanwhile.
test("a token is renewed soon after the computer slept", async () => {
  useClock();
  const { issuer } = await signedIn();
  await advance(10_000);
  shift = 550_000;
  await advance(20_000);
  assert.equal(issuer.sent("/token").length, 2);
});

test("a token is renewed although the clock was set back", async () => {
  useClock();
  const { tab, issuer } = await signedIn();
  await advance(300_000, 30_000);
  shift = -120_000;
  await advance(240_000, 30_000);
  assert.equal(issuer.sent("/token").length, 1);
  await advance(120_000, 30_000);
  assert.equal(issuer.sent("/token").length, 2);
});

// An attempt that was under way in the network may arrive late, and its answer is lost too. The next one follows within
// the retry window.
test("a renewal without an answer is tried again after five seconds", async () => {
  useClock();
  const { issuer } = await signedIn();
  for (let n = 0; n < 3; n++) issuer.next("/token", new TypeError("offline"));
  await advance(540_500, 500);
  chance = 0.5;
  await advance(500);
  assert.equal(issuer.sent("/token").length, 4);
  await advance(5_000, 500);
  assert.equal(issuer.sent("/token").length, 5);
});

test("renewals that fail are tried again after longer and longer times, at random", async () => {
  useClock();
  const { page, issuer } = await signedIn();
  const refuse = () => issuer.next("/token", tokenError("server_error", "no", 500));
  for (let n = 0; n < 12; n++) refuse();
  await advance(540_000, 500);
  const waits = async (count) => {
    const found = [];
    for (let n = 0; n < count; n++) {
      const [before, began] = [issuer.sent("/token").length, Date.now()];
      while (issuer.sent("/token").length === before) await advance(250);
      found.push((Date.now() - began) / 1000);
    }
    return found;
  };
  chance = 0.5;
  assert.equal((await waits(1))[0], 3.75);
  assert.deepEqual(await waits(4), [10, 20, 40, 60]);
  chance = 0;
  assert.deepEqual(await waits(1), [60]);
  assert.deepEqual(await waits(1), [45]);
  // An event begins afresh.
  page.events.dispatchEvent(new Event("online"));
  await settle();
  assert.deepEqual(await waits(2), [3.75, 7.5]);
});

test("a page without network renews when it is online", async () => {
  useClock();
  const { page, issuer } = await signedIn();
  navigator.onLine = false;
  await advance(600_000, 10_000);
  assert.equal(issuer.sent("/token").length, 1);
  navigator.onLine = true;
  page.events.dispatchEvent(new Event("online"));
  await settle();
  assert.equal(issuer.sent("/token").length, 2);
});

test("a token is renewed up to five seconds before the last minute, at random", async () => {
  useClock();
  chance = 0.6;
  const { issuer } = await signedIn();
  await advance(536_000, 1_000);
  assert.equal(issuer.sent("/token").length, 1);
  await advance(1_000);
  assert.equal(issuer.sent("/token").length, 2);
});

test("requests do not refresh before Retry-After, and neither do events", async () => {
  useClock();
  const { page, tab, issuer } = await signedIn();
  page.document.hidden = true;
  await advance(550_000);
  issuer.next("/token", json({ code: "rate_limited", message: "no" }, 429, { "Retry-After": "60" }));
  for (let n = 0; n < 5; n++) assert.equal(await tab.accessToken(), "token-1");
  page.document.hidden = false;
  page.document.dispatchEvent(new Event("visibilitychange"));
  await settle();
  assert.equal(issuer.sent("/token").length, 2);
  await advance(55_000);
  await assert.rejects(tab.accessToken(), { error: "rate_limited", status: 429 });
  assert.equal(issuer.sent("/token").length, 2);
  // The app may ask all the same.
  issuer.next("/token", json({ code: "rate_limited", message: "no" }, 429, { "Retry-After": "5" }));
  await assert.rejects(tab.start(), { error: "rate_limited", retryAfter: 5 });
  assert.equal(issuer.sent("/token").length, 3);
  await advance(5_000);
  assert.equal(await tab.accessToken(), "token-2");
});

test("a token is not valid again because the clock was set back by an hour", async () => {
  useClock();
  const { page, tab } = await signedIn();
  page.document.hidden = true;
  await advance(700_000);
  shift = -3_600_000;
  assert.equal(await tab.accessToken(), "token-2");
});

test("a token of a tab with an older version of the module is that of the same user", async () => {
  const { tab } = await signedIn({ shareToken: true });
  const channel = new BroadcastChannel(`latchkey:${ISSUER}:notes`);
  const { claims } = tab;
  const times = { renewAt: Date.now() + 60_000, expiresAt: Date.now() + 120_000 };
  channel.postMessage({ token: { value: "token-2", type: "Bearer", scope: "openid", claims, ...times } });
  await until(() => tab.heard.length > 1);
  channel.close();
  assert.deepEqual(tab.heard, ["signedin", "renewed"]);
});

test("a renewal is not repeated before Retry-After", async () => {
  useClock();
  const { page, issuer } = await signedIn();
  issuer.next("/token", tokenError("temporarily_unavailable", "overloaded", 503, { "Retry-After": "45" }));
  await advance(541_000, 1_000);
  assert.equal(issuer.sent("/token").length, 2);
  await advance(40_000, 1_000);
  assert.equal(issuer.sent("/token").length, 2);
  await advance(5_000, 1_000);
  assert.equal(issuer.sent("/token").length, 3);
});

for (const [retryAfter, seconds] of [["2592000", 3600], ["-1", 4]]) {
  test(`a renewal is tried again after ${seconds} seconds if Retry-After is ${retryAfter}`, async () => {
    useClock();
    const { issuer } = await signedIn();
    issuer.next("/token", tokenError("temporarily_unavailable", "no", 503, { "Retry-After": retryAfter }));
    await advance(540_000);
    await advance((seconds - 1) * 1000);
    assert.equal(issuer.sent("/token").length, 2);
    await advance(1_000);
    assert.equal(issuer.sent("/token").length, 3);
  });
}

test("the time of Retry-After passes while the computer sleeps", async () => {
  useClock();
  const { page, tab, issuer } = await signedIn();
  const sleep = () => {
    shift += 3_600_000;
    issuer.next("/token", tokenError("temporarily_unavailable", "no", 503, { "Retry-After": "120" }));
  };
  sleep();
  for (const wake of [
    () => advance(30_000),
    () => page.events.dispatchEvent(new Event("online")),
    () => assert.rejects(tab.accessToken(), { error: "temporarily_unavailable" }),
  ]) {
    const { length } = issuer.sent("/token");
    await wake();
    await settle();
    assert.equal(issuer.sent("/token").length, length + 1);
    // Its time has begun again.
    await assert.rejects(tab.accessToken(), { status: 503, retryAfter: 120 });
    await advance(30_000);
    assert.equal(issuer.sent("/token").length, length + 1);
    sleep();
  }
});

test("a renewal that fails leaves the token, and is repeated after Retry-After", async () => {
  useClock();
  const { tab, issuer } = await signedIn();
  issuer.next("/token", tokenError("temporarily_unavailable", "no key may sign", 503, { "Retry-After": "5" }));
  await advance(541_000);
  assert.equal(await tab.accessToken(), "token-1");
  assert.equal(issuer.sent("/token").length, 2);
  await advance(5_000);
  assert.equal(await tab.accessToken(), "token-2");
});

test("an expired token that cannot be renewed is an error, and not the end of the session", async () => {
  useClock();
  const { tab, issuer } = await signedIn();
  mock.timers.setTime(Date.now() + 700_000);
  issuer.next("/token", tokenError("temporarily_unavailable", "no key may sign", 503, { "Retry-After": "5" }));
  const expected = { name: "LatchkeyError", error: "temporarily_unavailable", status: 503, retryAfter: 5 };
  await assert.rejects(tab.accessToken(), expected);
  assert.equal(tab.signedIn, true);
  await assert.rejects(tab.accessToken(), expected);
  assert.equal(issuer.sent("/token").length, 2);
  await advance(5_000);
  assert.equal(await tab.accessToken(), "token-2");
});
