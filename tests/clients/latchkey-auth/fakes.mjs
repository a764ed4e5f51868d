// A browser and an issuer for the tests of deploy/latchkey-auth.

import { createHash } from "node:crypto";
import { Latchkey } from "../../../deploy/latchkey-auth/latchkey-auth.js";

export const ISSUER = "https://login.notes.example";
export const API = "https://api.notes.example";
export const CALLBACK = "https://notes.example/callback";

const define = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
const base64url = (value) => Buffer.from(value).toString("base64url");

export class Storage {
  entries = new Map();
  getItem = (name) => this.entries.get(name) ?? null;
  setItem = (name, value) => this.entries.set(name, String(value));
  removeItem = (name) => this.entries.delete(name);
}

// Web Locks: one task at a time for each name.
class Locks {
  #tails = new Map();
  request(name, task) {
    const result = (this.#tails.get(name) ?? Promise.resolve()).then(task);
    this.#tails.set(name, result.catch(() => {}));
    return result;
  }
}

// IndexedDB as far as the module uses it: one store in each database, and transactions one after the other.
export class Databases {
  stores = new Map();
  #last = Promise.resolve();

  open(name) {
    const opening = {};
    const transaction = () => {
      const requests = [];
      const result = { objectStore: () => ({ get, put }) };
      const get = (key) => {
        const request = {};
        requests.push(() => {
          request.result = this.stores.get(name).get(key);
          request.onsuccess();
        });
        return request;
      };
      const put = (value, key) => requests.push(() => this.stores.get(name).set(key, value));
      this.#last = this.#last.then(() => new Promise(setImmediate)).then(() => {
        while (requests.length) requests.shift()();
        result.oncomplete();
      });
      return result;
    };
    opening.result = { createObjectStore: () => this.stores.set(name, new Map()), transaction };
    setImmediate(() => {
      if (!this.stores.has(name)) opening.onupgradeneeded();
      opening.onsuccess();
    });
    return opening;
  }
}

// Gives the global objects of a browser to this process, whose page is at `url`.
export function openPage(url = "https://notes.example/") {
  const page = { visited: [], replaced: [], closed: false, events: new EventTarget() };
  // The events of the document bubble to the window.
  page.document = { hidden: false, dispatchEvent: (event) => page.events.dispatchEvent(event) };
  define("location", { href: url, assign: (to) => page.visited.push(to) });
  define("history", {
    state: null,
    replaceState: (_state, _title, to) => {
      page.replaced.push(String(to));
      location.href = String(to);
    },
  });
  define("sessionStorage", new Storage());
  define("localStorage", new Storage());
  define("navigator", { locks: new Locks(), onLine: true });
  define("document", page.document);
  define("addEventListener", page.events.addEventListener.bind(page.events));
  define("close", () => { page.closed = true; });
  return page;
}

export function json(body, status = 200, headers = {}) {
  return new Response(JSON.stringify(body), { status, headers: { "X-Correlation-Id": "c0ffee", ...headers } });
}

export function tokenError(error, error_description, status = 400, headers = {}) {
  return json({ error, error_description, correlationId: "c0ffee" }, status, headers);
}

export class Issuer {
  csrf = "csrf-1";
  hasCookie = false;
  dpop = undefined;
  tokenType = "Bearer";
  lifetime = 600;
  claims = {};
  extra = {};
  valid = new Set();
  issued = 0;
  requests = [];
  #next = new Map();

  // The next request to a path gets this response, or fails with this error, in place of the usual one.
  next(path, answer) {
    this.#next.set(path, [...(this.#next.get(path) ?? []), answer]);
  }

  sent(path) {
    return this.requests.filter((request) => request.path === path);
  }

  // The answer of the authorization endpoint: the URL to which the browser goes.
  authorize(url, answer = {}) {
    this.request = Object.fromEntries(new URL(url).searchParams);
    const { state, redirect_uri } = this.request;
    return `${redirect_uri}?${new URLSearchParams({ code: "the-code", state, iss: ISSUER, ...answer })}`;
  }

  fetch = async (request) => {
    const { pathname: path } = new URL(request.url);
    const body = await request.text();
    const { method, headers, credentials, url } = request;
    const seen = { path, method, headers, credentials, url, body, form: Object.fromEntries(new URLSearchParams(body)) };
    this.requests.push(seen);
    const answer = this.#next.get(path)?.shift();
    if (answer instanceof Error) throw answer;
    // Another task of the event loop, as in a network.
    await new Promise(setImmediate);
    request.signal.throwIfAborted();
    if (answer) return typeof answer === "function" ? answer(seen) : answer;
    if (url.startsWith(API)) return this.#api(seen);
    return this.#endpoint(seen);
  };

  #endpoint(seen) {
    const { path, form } = seen;
    if (path === "/csrf") return json({ token: this.csrf });
    if (path.startsWith("/.well-known/")) return json({ issuer: ISSUER, dpop_signing_alg_values_supported: this.dpop });
    const isExchange = form.grant_type === "authorization_code";
    if (!isExchange && seen.headers.get("x-csrf-token") !== this.csrf) return json({ code: "csrf_mismatch" }, 403);
    if (path === "/token/revoke") {
      this.hasCookie = false;
      return new Response("");
    }
    if (isExchange) {
      const challenge = createHash("sha256").update(form.code_verifier).digest("base64url");
      if (challenge !== this.request.code_challenge) return tokenError("invalid_grant", "wrong verifier");
    } else if (!this.hasCookie) {
      return tokenError("invalid_grant", "the browser sent no cookie");
    }
    this.hasCookie = true;
    return this.tokens(isExchange ? this.request.nonce : undefined);
  }

  tokens(nonce) {
    const value = `token-${++this.issued}`;
    this.valid.add(value);
    const exp = Math.floor(Date.now() / 1000) + 600;
    const claims = { iss: ISSUER, aud: "notes", sub: "7", exp, iat: exp - 600, nonce, ...this.claims };
    const id_token = [{ alg: "RS256" }, claims].map((part) => base64url(JSON.stringify(part))).join(".") + ".signature";
    const tokens = { access_token: value, token_type: this.tokenType, expires_in: this.lifetime, scope: "openid", id_token };
    return json({ ...tokens, ...this.extra });
  }

  #api({ headers }) {
    const [, token] = (headers.get("authorization") ?? "").split(" ");
    if (this.valid.has(token)) return json({ ok: true });
    return json({ code: "invalid_token", message: "no", correlationId: "c0ffee" }, 401, {
      "WWW-Authenticate": 'Bearer error="invalid_token"',
    });
  }
}

const opened = new Set();

// Returns a tab. Call `closeTabs` after each test.
export function openTab(issuer, options = {}) {
  const tab = new Latchkey({
    issuer: ISSUER, clientId: "notes", redirectUri: CALLBACK, apis: [API], fetch: issuer.fetch, ...options,
  });
  tab.heard = [];
  for (const type of ["signedin", "renewed", "signedout"]) {
    tab.addEventListener(type, ({ detail }) => tab.heard.push(detail ? `${type} ${detail.error}` : type));
  }
  opened.add(tab);
  return tab;
}

export function closeTabs() {
  for (const tab of opened) tab.close();
  opened.clear();
}

// Returns a page with a signed-in tab.
export async function signedIn(options, issuer = new Issuer()) {
  issuer.hasCookie = true;
  const page = openPage();
  const tab = openTab(issuer, options);
  await tab.start();
  return { page, tab, issuer };
}

// Waits until a condition holds, for messages between tabs and for requests that nobody awaits.
export async function until(condition, what = String(condition)) {
  const end = process.hrtime.bigint() + 30_000_000_000n;
  while (!condition()) {
    if (process.hrtime.bigint() > end) throw new Error(`never: ${what}`);
    await new Promise(setImmediate);
  }
}

// Lets everything happen that is under way.
export async function settle() {
  for (let n = 0; n < 50; n++) await new Promise(setImmediate);
}
