// The demo app. docs/apps/demo.md describes it.
import { ConnectionError, Latchkey, SignInError } from "./latchkey-auth.js";
import { apiOf } from "./api.js";
import { Calls } from "./calls.js";
import { action, el } from "./dom.js";
import { paymentsView } from "./payments.js";
import { postsView } from "./posts.js";
import { signedOutView, tokenView, userView } from "./session.js";
import { root, settings } from "./settings.js";
import { words } from "./words.js";

const SCOPE = "openid profile:read posts:read posts:write comments:write payments:read payments:write";

const { issuer, api: base, origin, clientId, path, callback } = settings;

async function start() {
  const calls = new Calls();
  const latchkey = new Latchkey({
    issuer,
    clientId,
    redirectUri: origin + callback,
    scope: SCOPE,
    apis: [base],
    fetch: (request) => calls.send(request),
  });
  const api = apiOf(latchkey, base);
  const app = el("div");
  root.replaceChildren(app, calls.element);
  // Aborted when another view replaces this one.
  let view = new AbortController();
  const show = (make) => {
    view.abort();
    view = new AbortController();
    app.replaceChildren(...make(view.signal));
  };
  const showSignedOut = (error, again) => show(() => signedOutView(latchkey, error, again));
  // Only the first of several attempts has the event `signedout`.
  const signOut = () =>
    latchkey.signOut().then(() => showSignedOut(latchkey.ended), (error) => {
      showSignedOut(error, action(words.signOutAgain, signOut, { id: "sign-out", class: "quiet" }));
    });
  latchkey.addEventListener("signedout", ({ detail }) => showSignedOut(detail));
  latchkey.addEventListener("signedin", () =>
    show((signal) => [
      userView(api, signOut),
      tokenView(latchkey, signal),
      postsView(api, latchkey.claims.sub),
      paymentsView(api, calls),
    ]));
  const begin = async () => {
    const isResponse = new URLSearchParams(location.search).has("state");
    try {
      if ((await latchkey.start()) === "signed_out") showSignedOut(latchkey.ended);
    } catch (error) {
      if (!isResponse) showNotStarted(error);
      else if (!(error instanceof ConnectionError)) showSignedOut(error);
      // The code works only once, and the issuer may have used it up.
      else showSignedOut(new SignInError(error.error, words.signInLost, { cause: error }));
    }
    history.replaceState(null, "", path);
  };
  const showNotStarted = (error) =>
    show((signal) => {
      addEventListener("online", begin, { signal });
      return signedOutView(latchkey, error, action(words.readAgain, begin, { id: "start-again", class: "quiet" }));
    });
  await begin();
}

// These links have the address of the page as it was opened, and so the code of a sign-in, which works only once.
for (const link of document.querySelectorAll("footer a[hreflang]")) {
  link.href = `${path}?language=${link.hreflang}`;
}
// The redirect URI is that of one origin.
if (location.origin === origin) start();
else root.replaceChildren(el("p", {}, `${words.elsewhere} `, el("a", { href: origin + path }, origin + path)));
