// The session: sign-in, sign-out and the access token.
import { SessionEndedError } from "./latchkey-auth.js";
import { action, correlation, el, errorNotice } from "./dom.js";
import { words } from "./words.js";

// Makes the view without a user. `error` tells why there is no session or a step failed. `again` repeats a failed step.
export function signedOutView(latchkey, error, again) {
  return [
    el("h2", {}, words.session),
    error instanceof SessionEndedError ? reasonOf(error) : errorNotice(error),
    action(words.signIn, () => latchkey.signIn(), { id: "sign-in", class: "" }).element,
    again ? again.element : "",
  ];
}

function reasonOf(end) {
  const text = `${words.ended} (${end.error}): ${end.description.replace(/\.?$/, ".")}`;
  return el("p", { class: "notice", role: "status", id: "ended" }, text, ...correlation(end.correlationId));
}

// Makes the view of the user.
export function userView(api, signOut) {
  const email = el("bdi", { id: "user" });
  const read = action(words.readAgain, async () => {
    email.textContent = (await (await api("/me")).json()).email;
    read.button.hidden = true;
  });
  read.run();
  return el(
    "div",
    {},
    el("h2", {}, words.session),
    el("p", {}, `${words.signedInAs} `, email),
    read.element,
    action(words.signOut, signOut, { id: "sign-out" }).element,
  );
}

// Makes the view of the access token, until the signal ends it.
export function tokenView(latchkey, signal) {
  const bar = el("progress", { id: "token-life" });
  const left = el("p", { class: "hint" });
  const claims = el("code", { id: "claims" });
  let received = Date.now();
  let lifetime = 1;
  // The clock of the device may be wrong, so only the time since the token arrived is measured with it.
  const tick = () => {
    const seconds = Math.max(0, lifetime - (Date.now() - received) / 1000);
    Object.assign(bar, { max: lifetime, value: seconds });
    left.textContent = words.secondsLeft(Math.round(seconds), lifetime);
  };
  const read = async () => {
    const content = payload(await latchkey.accessToken());
    [received, lifetime] = [Date.now(), content.exp - content.iat];
    claims.textContent = JSON.stringify(content, null, 2);
    tick();
  };
  // Without the response to a sign-in in the address, `start` refreshes the token.
  const renew = action(words.renew, () => latchkey.start(), { id: "renew" });
  const timer = setInterval(tick, 1000);
  signal.addEventListener("abort", () => clearInterval(timer));
  const place = el("div");
  const show = () => read().catch((error) => place.replaceChildren(errorNotice(error)));
  latchkey.addEventListener("renewed", show, { signal });
  show();
  return el(
    "div",
    {},
    el("h2", {}, words.token),
    el("p", { class: "hint" }, words.tokenHint),
    el("label", { for: "token-life" }, words.tokenLife),
    bar,
    left,
    renew.element,
    place,
    el("pre", {}, claims),
  );
}

// Reads the claims of a token. A page may show them, and decides nothing by them: that is for the API, which checks the
// signature.
function payload(token) {
  const bytes = atob(token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/"));
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, (c) => c.charCodeAt(0))));
}
