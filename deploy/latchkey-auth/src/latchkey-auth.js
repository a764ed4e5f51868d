// Sign-in with Latchkey for single-page apps. latchkey-auth.d.ts documents each member.

// Lengths of time in milliseconds.
const MINUTE = 60_000;
const CLOCK_SKEW = 5 * MINUTE;
const TIMEOUT = 15_000;
// A refresh may be repeated within ten seconds (the retry window of an app with a refresh cookie). So another attempt
// begins soon, and none after seven seconds.
const ATTEMPT = 3_000;
const REPEAT_WITHIN = 7_000;
// An attempt may reach the issuer after the browser gave up. So the next renewal after a failed one comes within the
// retry window of that one. The time doubles with each failure, up to a minute.
const RETRY_AFTER = 5_000;
// Timers stand still while the computer sleeps, and its clock can be set. So each one soon looks at the clock.
const TICK = 30_000;
// Marks the state of a sign-in in a popup.
const POPUP = "popup.";

const pause = (length) => new Promise((resolve) => setTimeout(resolve, length));
const utf8 = (text) => new TextEncoder().encode(text);
const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/[+/=]/g, (c) => ({ "+": "-", "/": "_" })[c] ?? "");
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));
const sha256 = async (text) => base64url(await crypto.subtle.digest("SHA-256", utf8(text)));

export class LatchkeyError extends Error {
  constructor(error, description, { correlationId, status, retryAfter, cause } = {}) {
    super(`${error}: ${description}`, { cause });
    Object.assign(this, { error, description, correlationId, status, retryAfter, name: this.constructor.title });
  }

  static title = "LatchkeyError";

  get documentation() {
    // Bundlers find the file by this form.
    return `${new URL("./latchkey-auth-errors.html", import.meta.url)}#${this.name.toLowerCase()}`;
  }

  // Reads the error of the API, or that of the token endpoint (RFC 6749 §5.2).
  static async from(response) {
    return this.of(response, parse(await response.clone().text()));
  }

  static of({ status, headers }, body) {
    const error = body.error ?? body.code ?? "unexpected_response";
    return new this(error, body.error_description ?? body.message ?? body.detail ?? `The status is ${status}.`, {
      status,
      correlationId: body.correlationId ?? headers.get("X-Correlation-Id") ?? undefined,
      retryAfter: Math.max(0, headers.get("Retry-After")) || undefined,
    });
  }
}

export class SignInError extends LatchkeyError {
  static title = "SignInError";
}

export class SessionEndedError extends LatchkeyError {
  static title = "SessionEndedError";
}

export class ConnectionError extends LatchkeyError {
  static title = "ConnectionError";
}

export class Latchkey extends EventTarget {
  #options;
  #name;
  #channel;
  #token;
  #csrf;
  #keys;
  #renewal;
  #timer;
  // The last renewal, if it failed: its error, and when to try again.
  #failure;
  #ended;
  // Counts the ends of sessions, so that a refresh that was under way at one brings no token back.
  #ends = 0;
  #nonces = new Map();
  #closing = new AbortController();

  constructor(options) {
    super();
    this.#options = { scope: "openid", apis: [], fetch: (request) => fetch(request), ...options };
    this.#name = `latchkey:${options.issuer}:${options.clientId}`;
    // Only pages of this origin can send to the channel, so its messages need no check of their origin.
    this.#channel = new BroadcastChannel(this.#name);
    this.#channel.addEventListener("message", ({ data }) => this.#hear(data));
    const { signal } = this.#closing;
    const wake = () => {
      // No event is a reason to try again before Retry-After.
      if (!this.#failure?.error.retryAfter) this.#failure = undefined;
      this.#wake();
    };
    // `visibilitychange` bubbles from the document to the window.
    for (const type of ["online", "pageshow", "visibilitychange"]) globalThis.addEventListener?.(type, wake, { signal });
  }

  get signedIn() {
    return this.#token !== undefined;
  }

  get claims() {
    return this.#token?.claims;
  }

  get ended() {
    return this.#ended;
  }

  async start() {
    const url = new URL(location.href);
    const callback = new URL(this.#options.redirectUri);
    const response = Object.fromEntries(url.searchParams);
    const isHere = url.origin === callback.origin && url.pathname === callback.pathname;
    if (!isHere || !response.state || !(response.code || response.error)) return this.#restore();
    for (const name of ["code", "state", "iss", "error", "error_description"]) url.searchParams.delete(name);
    history.replaceState(history.state, "", url);
    if (response.state.startsWith(POPUP)) {
      // Useless to others: the code needs the verifier, which only the tab that opened the popup has.
      this.#tell({ popup: response });
      globalThis.close();
      return "popup";
    }
    const stored = sessionStorage.getItem(this.#name);
    sessionStorage.removeItem(this.#name);
    await this.#finish(response, parse(stored));
    return "signed_in";
  }

  async signIn(parameters) {
    const transaction = { state: random(), nonce: random(), verifier: random() };
    const url = await this.#authorizationUrl(parameters, transaction);
    sessionStorage.setItem(this.#name, JSON.stringify(transaction));
    location.assign(url);
  }

  // The issuer's pages have Cross-Origin-Opener-Policy, which cuts the popup off: it can reach this page by the channel
  // alone, and its `closed` is true at once. So nothing here looks at `closed`.
  // The flow at the issuer lasts no longer than 30 minutes.
  async signInWithPopup(parameters, { signal = AbortSignal.timeout(30 * MINUTE) } = {}) {
    // Before anything asynchronous: browsers block a popup that no click opens.
    const popup = globalThis.open("", "_blank", "popup,width=480,height=720");
    if (!popup) throw new SignInError("popup_blocked", "The browser did not open the window.");
    const transaction = { state: POPUP + random(), nonce: random(), verifier: random() };
    const listening = new AbortController();
    try {
      const response = new Promise((resolve) => {
        const listen = ({ data }) => data.popup?.state === transaction.state && resolve(data.popup);
        this.#channel.addEventListener("message", listen, { signal: listening.signal });
      });
      popup.location.href = await this.#authorizationUrl(parameters, transaction);
      await this.#finish(await raced(response, signal), transaction);
    } finally {
      listening.abort();
      popup.close();
    }
  }

  async signOut() {
    const end = new SessionEndedError("signed_out", "The user signed out.");
    this.#end(end);
    this.#tell({ ended: { error: "signed_out_elsewhere", description: "The user signed out in another tab." } });
    // Does not wait for the lock, because the user may close the page. The issuer accepts a used refresh token here,
    // ends the grant, and refuses a refresh that is under way. A token that another tab had sent before it heard of the
    // end may arrive meanwhile.
    const sent = this.#postWithCookie("/token/revoke").finally(() => this.#end(end));
    // The answer removes the cookie, so the next sign-in waits for it.
    this.#exclusively((all) => all.push(sent));
    await sent;
  }

  async accessToken() {
    return (await this.#current()).value;
  }

  async fetch(input, init) {
    const request = new Request(input, init);
    const { method, headers, signal } = request;
    const { origin, pathname } = new URL(request.url);
    const { issuer, apis } = this.#options;
    if (![issuer, ...apis].some((api) => new URL(api).origin === origin)) {
      throw new LatchkeyError("unknown_api", `${origin} is not in the option apis.`);
    }
    const isSafe = ["GET", "HEAD", "OPTIONS"].includes(method);
    const hasKey = headers.has("Idempotency-Key");
    const mayPayTwice = !isSafe && !hasKey && /\/payments(\/|$)/.test(pathname);
    // The response may be lost after the request took effect. A second DELETE, or a second If-Match, would fail then.
    const repeatsLost = isSafe || hasKey;
    // A 401 had no effect at Latchkey. Other APIs promise this for idempotent methods, keys and conditions only.
    const repeatsRefused = repeatsLost || (!mayPayTwice && (/^(PUT|DELETE)$/.test(method) || headers.has("If-Match")));
    let token = await raced(this.#current(), signal);
    const send = async () => {
      try {
        return await this.#send(request, { token, once: mayPayTwice });
      } catch (error) {
        if (!repeatsLost || !(error instanceof ConnectionError)) throw error;
        return this.#send(request, { token });
      }
    };
    const response = await send();
    if (response.status !== 401) return response;
    const renewal = this.#renew(token);
    if (!repeatsRefused) {
      renewal.catch(() => {});
      return response;
    }
    token = await raced(renewal, signal);
    return send();
  }

  close() {
    this.#channel.close();
    this.#closing.abort();
    clearTimeout(this.#timer);
  }

  async #restore() {
    this.#failure = undefined;
    try {
      await this.#renew();
      return "signed_in";
    } catch (error) {
      if (error instanceof SessionEndedError) return "signed_out";
      throw error;
    }
  }

  async #authorizationUrl(parameters, { state, nonce, verifier }) {
    const { issuer, clientId, redirectUri, scope } = this.#options;
    const keys = await this.#keyPair();
    const url = new URL(`${issuer}/authorize`);
    url.search = new URLSearchParams({
      ...parameters,
      response_type: "code",
      client_id: clientId,
      redirect_uri: redirectUri,
      scope,
      state,
      nonce,
      code_challenge: await sha256(verifier),
      code_challenge_method: "S256",
      ...(keys && { dpop_jkt: await sha256(JSON.stringify(await publicKey(keys))) }),
    });
    return url.href;
  }

  async #finish(response, transaction) {
    const { issuer, redirectUri } = this.#options;
    if (!transaction.state || response.state !== transaction.state) {
      throw new SignInError("state_mismatch", "The response is not to the latest sign-in of this tab.");
    }
    // RFC 9207 §2.4: before anything else of the response is used, errors included.
    if (response.iss !== issuer) throw new SignInError("issuer_mismatch", `The response is from ${response.iss}.`);
    if (response.error) throw new SignInError(response.error, response.error_description ?? "No description.");
    const exchange = {
      grant_type: "authorization_code",
      code: response.code,
      redirect_uri: redirectUri,
      code_verifier: transaction.verifier,
    };
    await this.#exclusively(async () => {
      const [began, ends] = [Date.now(), this.#ends];
      // Never repeated: a second exchange of a code ends the tokens of the first (RFC 6749 §4.1.2).
      const body = await this.#post("/token", exchange, { Failure: SignInError });
      const token = await this.#read(body, began, transaction.nonce);
      if (ends !== this.#ends) throw this.#ended;
      // The user may be another one than before.
      this.#token = undefined;
      this.#take(token);
      this.#tell(this.#options.shareToken ? { token } : { signedIn: true });
    });
  }

  async #current() {
    const token = this.#token;
    if (!token && this.#ended) throw this.#ended;
    if (token && !isDue(token)) return token;
    try {
      return await this.#renew();
    } catch (error) {
      if (token && token === this.#token && Date.now() < token.expiresAt) return token;
      throw error;
    }
  }

  // Returns a newer token than the refused one. All callers in this tab wait for one refresh.
  async #renew(refused = this.#token) {
    if (this.#token !== refused && this.#token) return this.#token;
    if (this.#failure && !isDue(this.#failure)) throw this.#failure.error;
    this.#renewal ??= this.#refresh(refused, this.#ends)
      .catch((error) => this.#putOff(error))
      .finally(() => { this.#renewal = undefined; });
    return this.#renewal;
  }

  #refresh(former, ends) {
    // Returns the token of another tab or of a sign-in since. Fails if the session has ended since.
    const newer = () => {
      if (!this.#token && ends !== this.#ends) throw this.#ended;
      return this.#token === former ? undefined : this.#token;
    };
    return this.#exclusively(async (sent) => {
      // The token of the tab that had the lock may still be on its way.
      if (this.#options.shareToken) await pause(20);
      if (newer()) return this.#token;
      const began = Date.now();
      const result = await this.#sendRefresh(began, sent).catch((error) => error);
      if (newer()) return this.#token;
      if (result.error === "invalid_grant") {
        throw this.#end(new SessionEndedError(result.error, result.description, result), true);
      }
      if (result instanceof Error) throw result;
      const token = await this.#read(result, began);
      this.#take(token);
      if (this.#options.shareToken) this.#tell({ token });
      return this.#token;
    });
  }

  // The issuer may have used the token in the cookie up while the browser missed the next one. After the retry window
  // the same token counts as stolen. The next renewal sends it all the same: most lost requests never arrived, and a
  // browser that missed all answers has no other token, so that it loses nothing that it could keep.
  async #sendRefresh(began, sent) {
    for (let left = 2; ; left--) {
      const attempt = this.#postWithCookie("/token", { grant_type: "refresh_token" }, left ? ATTEMPT : TIMEOUT);
      if (!left) return attempt;
      sent.push(attempt);
      const body = await Promise.race([attempt, pause(ATTEMPT)]).catch((error) => {
        // A proxy that answers 502 or 504 may have lost the answer of the issuer.
        if (!(error instanceof ConnectionError || [502, 504].includes(error.status))) throw error;
        return pause(500);
      });
      if (body) return body;
      if (Date.now() - began > REPEAT_WITHIN) return attempt;
    }
  }

  // Returns the token of a response that was asked for at the time `began`.
  async #read(body, began, nonce) {
    const { access_token: value, expires_in: seconds, id_token: idToken, scope = this.#options.scope } = body;
    const type = (await this.#keyPair()) ? "DPoP" : "Bearer";
    if (body.refresh_token) throw new SignInError("refresh_token_in_body", "Register the app with --refresh-cookie.");
    if (!value || !(seconds > 0) || body.token_type?.toLowerCase() !== type.toLowerCase()) {
      throw new SignInError("unexpected_tokens", `The response has no ${type} token.`);
    }
    const claims = idToken || scope.split(" ").includes("openid") ? this.#check(idToken, nonce) : undefined;
    // At random, so that the tabs of all users do not renew at once.
    const renewIn = seconds * 1000 - Math.min(MINUTE, seconds * 500) * (1 + Math.random() / 12);
    // Without an ID token, the access token names the user: it is a JWT (RFC 9068).
    const user = (claims || payload(value)).sub;
    return { value, type, scope, claims, user, began, renewAt: began + renewIn, expiresAt: began + seconds * 1000 };
  }

  // The signature is not checked: the ID token comes from the token endpoint directly, over TLS, which proves the
  // issuer (OpenID Connect Core §3.1.3.7 point 6). The ID token of a refresh has no nonce (§12.2).
  #check(idToken, nonce) {
    const { issuer, clientId } = this.#options;
    const claims = payload(idToken);
    const wrong = Object.entries({
      iss: claims.iss !== issuer,
      aud: [claims.aud].flat().join() !== clientId,
      exp: !(claims.exp * 1000 > Date.now() - CLOCK_SKEW),
      nonce: nonce && claims.nonce !== nonce,
      sub: !claims.sub,
    }).flatMap(([name, isWrong]) => (isWrong ? name : []));
    if (wrong.length) throw new SignInError("id_token_mismatch", `The ID token has a wrong ${wrong}.`);
    return claims;
  }

  #take(token) {
    const former = this.#token;
    // A tab with an older version of this module sends none.
    token.user ??= token.claims?.sub;
    // Somebody else signed in in another tab, whose cookie this is.
    if (former && former.user !== token.user) {
      throw this.#end(new SessionEndedError("other_user", "Another user signed in in another tab."));
    }
    this.#token = token;
    this.#ended = this.#failure = undefined;
    this.#wake();
    this.dispatchEvent(new CustomEvent(former ? "renewed" : "signedin"));
  }

  #end(error, tell = false) {
    const had = this.#token;
    this.#ends++;
    this.#token = this.#failure = undefined;
    this.#ended = error;
    if (had && tell) this.#tell({ ended: { ...error } });
    if (had) this.dispatchEvent(new CustomEvent("signedout", { detail: error }));
    return error;
  }

  #tell(message) {
    if (!this.#closing.signal.aborted) this.#channel.postMessage(message);
  }

  #hear({ ended, signedIn, token }) {
    if (ended) this.#end(new SessionEndedError(ended.error, ended.description, ended));
    if (signedIn) this.#renew().catch(() => {});
    if (token && this.#options.shareToken) {
      try {
        this.#take(token);
      } catch {
        // The event has told that another user signed in.
      }
    }
  }

  // Until the next renewal is due, `#renew` fails at once.
  #putOff(error) {
    if (this.#token) {
      const began = Date.now();
      const delay = Math.min(MINUTE, this.#failure?.delay * 2 || RETRY_AFTER);
      const wait = Math.min(error.retryAfter * 1000, 60 * MINUTE) || delay * (0.75 + Math.random() / 2);
      this.#failure = { error, delay, began, renewAt: began + wait };
      this.#wake();
    }
    throw error;
  }

  // A hidden page renews when it is shown again, or when it needs a token, and one without network when it is online.
  #wake() {
    const next = this.#failure ?? this.#token;
    clearTimeout(this.#timer);
    if (!next || this.#closing.signal.aborted || globalThis.document?.hidden || !navigator.onLine) return;
    if (isDue(next)) this.#renew().catch(() => {});
    else this.#timer = setTimeout(() => this.#wake(), Math.min(TICK, next.renewAt - Date.now()));
  }

  // Only one tab at a time runs a task. Its result is there at once, but the lock is kept until all requests in `sent`
  // have ended. The issuer may process one late, and then takes the token in it only while the next one is unused.
  // TIMEOUT is longer than the retry window, after which no wait helps. A failed task has no next token to protect.
  // Without Web Locks, tabs that renew at once send the same cookie, to which the issuer repeats its answer.
  #exclusively(task) {
    return new Promise((resolve, reject) => {
      const sent = [];
      const run = async () => {
        resolve(await task(sent));
        await Promise.allSettled(sent);
      };
      (navigator.locks?.request(this.#name, run) ?? run()).catch(reject);
    });
  }

  // An attempt that has no anti-forgery token after `patience` ends before it sends the cookie.
  async #postWithCookie(path, fields, patience = TIMEOUT) {
    const signal = AbortSignal.timeout(TIMEOUT);
    for (let isFirst = true; ; isFirst = false) {
      this.#csrf ??= (await this.#ask("/csrf", { credentials: "include", signal: AbortSignal.timeout(patience) })).token;
      try {
        return await this.#post(path, fields, { headers: { "x-csrf-token": this.#csrf }, signal });
      } catch (error) {
        if (error.status !== 403 || !isFirst) throw error;
        // The browser has got another cookie since. The issuer refuses this before it uses the refresh token.
        this.#csrf = undefined;
      }
    }
  }

  #post(path, fields, init) {
    const body = new URLSearchParams({ client_id: this.#options.clientId, ...fields });
    // With keepalive the browser stores the next cookie even if the user leaves the page meanwhile.
    return this.#ask(path, { method: "POST", credentials: "include", keepalive: true, body, ...init });
  }

  // Returns the body of a response of the issuer.
  async #ask(path, { Failure = LatchkeyError, ...init } = {}) {
    const request = new Request(this.#options.issuer + path, { signal: AbortSignal.timeout(TIMEOUT), ...init });
    try {
      const response = await this.#send(request);
      const body = parse(await response.text());
      if (!response.ok) throw Failure.of(response, body);
      return body;
    } catch (cause) {
      throw cause instanceof LatchkeyError ? cause : lost(request, cause);
    }
  }

  // Sends a request, with a proof if there is a key. A server that asks for another nonce has refused the request
  // (RFC 9449 §8 and §9), so it is sent again, unless `once` is set.
  async #send(request, { token, once } = {}) {
    const isPlain = token ? token.type === "Bearer" : request.method === "GET";
    const keys = isPlain ? undefined : await this.#keyPair();
    const { origin } = new URL(request.url);
    for (let tries = 5; ; tries--) {
      const attempt = request.clone();
      if (token) attempt.headers.set("Authorization", `${token.type} ${token.value}`);
      if (keys) attempt.headers.set("DPoP", await proof(keys, request, this.#nonces.get(origin), token));
      const response = await this.#options.fetch(attempt).catch((cause) => {
        throw request.signal.aborted ? cause : lost(request, cause);
      });
      const nonce = response.headers.get("DPoP-Nonce");
      if (nonce) this.#nonces.set(origin, nonce);
      if (!keys || !nonce || once || tries === 1 || !(await asksForNonce(response))) return response;
    }
  }

  // Returns the key of the DPoP proofs, if the author asked for them and the issuer offers them.
  async #keyPair() {
    if (!this.#options.dpop) return undefined;
    this.#keys ??= this.#ask("/.well-known/oauth-authorization-server").then((metadata) => {
      if (metadata.issuer !== this.#options.issuer) {
        throw new SignInError("issuer_mismatch", `The metadata is from ${metadata.issuer}.`);
      }
      return metadata.dpop_signing_alg_values_supported?.includes("ES256") && storedKeys(this.#name);
    });
    return this.#keys.catch((error) => {
      this.#keys = undefined;
      throw error;
    });
  }
}

function parse(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

function payload(token) {
  try {
    const bytes = atob(token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/"));
    return parse(new TextDecoder().decode(Uint8Array.from(bytes, (c) => c.charCodeAt(0))));
  } catch {
    return {};
  }
}

// A clock that was set back says nothing about the token.
function isDue({ began, renewAt }) {
  return Date.now() < began || Date.now() >= renewAt;
}

function lost(request, cause) {
  return new ConnectionError("connection_failed", `${new URL(request.url).host} did not answer.`, { cause });
}

// Stops waiting for a promise when a signal aborts. What others wait for goes on.
function raced(promise, signal) {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

// The key must outlive a reload, as the refresh token in the cookie does, which is bound to it, and all tabs need the
// same one. IndexedDB stores it without making it readable: no script can export the private key.
async function storedKeys(name) {
  const made = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign"]);
  try {
    return await new Promise((resolve, reject) => {
      const opening = indexedDB.open(name, 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore("keys");
      opening.onerror = () => reject(opening.error);
      opening.onsuccess = () => {
        const transaction = opening.result.transaction("keys", "readwrite");
        const found = transaction.objectStore("keys").get("dpop");
        found.onsuccess = () => found.result ?? transaction.objectStore("keys").put(made, "dpop");
        transaction.oncomplete = () => resolve(found.result ?? made);
        transaction.onabort = () => reject(transaction.error);
      };
    });
  } catch {
    // Without IndexedDB, as in some private windows, the sign-in ends with the page.
    return made;
  }
}

// The members in the order of the thumbprint (RFC 7638 §3).
async function publicKey(keys) {
  const { crv, kty, x, y } = await crypto.subtle.exportKey("jwk", keys.publicKey);
  return { crv, kty, x, y };
}

async function proof(keys, request, nonce, token) {
  const { origin, pathname } = new URL(request.url);
  const header = { typ: "dpop+jwt", alg: "ES256", jwk: await publicKey(keys) };
  const claims = {
    jti: random(),
    htm: request.method,
    htu: origin + pathname,
    iat: Math.floor(Date.now() / 1000),
    ath: token && (await sha256(token.value)),
    nonce,
  };
  const input = [header, claims].map((part) => base64url(utf8(JSON.stringify(part)))).join(".");
  const signature = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, keys.privateKey, utf8(input));
  return `${input}.${base64url(signature)}`;
}

async function asksForNonce(response) {
  if (response.status === 401) return /use_dpop_nonce/.test(response.headers.get("WWW-Authenticate"));
  return response.status === 400 && parse(await response.clone().text()).error === "use_dpop_nonce";
}
