// Shows /openapi.json. Requests have the access token of a sign-in with PKCE, or else the session of the browser with the
// anti-forgery token. The sign-in of Swagger UI is left out: it returns through window.opener, which the pages of the
// issuer cut off.
import { Latchkey, SignInError } from "./latchkey-auth.js";

// From a sign-in to its end, sessionStorage has the client, its scope and the place in the page.
const KEPT = "try";
const SIGNED_IN = "You are signed in: requests have an access token.";
const element = (id) => document.getElementById(id);

async function readDocument() {
  const response = await fetch("/openapi.json");
  if (response.ok) return response.text();
  const seconds = response.headers.get("Retry-After");
  const when = seconds ? `in ${seconds} seconds` : "later";
  throw new Error(`/openapi.json has the status ${response.status}. Load the page again ${when}.`);
}

const text = await readDocument().catch((error) => {
  element("sign-in").hidden = true;
  element("outcome").textContent = `The page has no operations: ${error.message}`;
  throw error;
});
const { authorizationUrl, scopes } = JSON.parse(text).components.securitySchemes.oauth2.flows.authorizationCode;
let latchkey;

function client({ clientId, scope }) {
  const { origin, pathname } = location;
  const issuer = new URL(authorizationUrl).origin;
  return new Latchkey({ issuer, clientId, redirectUri: origin + pathname, scope });
}

// Receives the response of a sign-in, or restores the sign-in from before.
async function restore(kept) {
  latchkey = client(kept);
  latchkey.addEventListener("signedin", () => show(SIGNED_IN));
  latchkey.addEventListener("signedout", ({ detail }) => end(detail));
  const start = () => latchkey.start().catch((error) => error);
  let outcome = await start();
  // A response without tokens has left the address, and ends no sign-in from before.
  const refused = outcome instanceof SignInError ? `${outcome.message} ` : "";
  if (refused || outcome === "popup") outcome = await start();
  if (outcome === "signed_in") show(refused + SIGNED_IN);
  else if (outcome === "signed_out") useSession(refused || `${latchkey.ended.message} `);
  else show(refused + outcome.message);
}

function useSession(reason) {
  sessionStorage.removeItem(KEPT);
  latchkey.close();
  latchkey = undefined;
  show(`${reason}Requests have the session of the browser.`);
}

function end({ message }) {
  sessionStorage.removeItem(KEPT);
  show(`${message} Sign in again, or load the page again to use the session of the browser.`);
}

function show(outcome) {
  element("outcome").textContent = outcome;
  const signedIn = latchkey?.signedIn ?? false;
  element("sign-in").hidden = signedIn;
  element("sign-out").hidden = !signedIn;
}

for (const scope of Object.keys(scopes)) {
  const checked = scope !== "admin";
  const box = Object.assign(document.createElement("input"), { type: "checkbox", name: "scope", value: scope, checked });
  const label = document.createElement("label");
  label.append(box, ` ${scope} `);
  element("scopes").append(label);
}
element("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  const fields = new FormData(event.target);
  const chosen = { clientId: fields.get("client_id"), scope: fields.getAll("scope").join(" "), hash: location.hash };
  sessionStorage.setItem(KEPT, JSON.stringify(chosen));
  // Requests keep their credentials until the response, because the reader may come back without one.
  const asking = client(chosen);
  asking.signIn().catch((error) => show(error.message)).finally(() => asking.close());
});
element("sign-out").addEventListener("click", () => latchkey.signOut().catch((error) => show(error.message)));

const kept = JSON.parse(sessionStorage.getItem(KEPT));
const parameters = new URLSearchParams(location.search);
const isResponse = parameters.has("state");
if (kept) await restore(kept);
// The code of a response leaves the address, also if no sign-in here asked for it.
if (kept || isResponse) {
  const query = kept ? `?client_id=${encodeURIComponent(kept.clientId)}` : "";
  const hash = isResponse ? (kept?.hash ?? "") : location.hash;
  history.replaceState(null, "", location.pathname + query + hash);
}
element("client_id").value = kept?.clientId ?? parameters.get("client_id") ?? "reference";

SwaggerUIBundle({
  // Without the scheme, and without the requirements that name it, Swagger UI offers no sign-in of its own.
  spec: JSON.parse(text, (name, value) => (name === "oauth2" ? undefined : value)),
  dom_id: "#swagger-ui",
  deepLinking: true,
  validatorUrl: null,
  requestInterceptor: async (request) => {
    const csrf = document.cookie.match(/(?:^|; )csrf=([^;]+)/);
    if (latchkey) {
      const token = await latchkey.accessToken().catch((error) => {
        show(`No request was sent. ${error.message}`);
        throw error;
      });
      request.headers.Authorization ??= `Bearer ${token}`;
      // The token alone authenticates the request, and after the end of the sign-in nothing else takes its place.
      request.credentials = "omit";
    } else if (csrf && request.method !== "GET") {
      request.headers["x-csrf-token"] ??= csrf[1];
    }
    return request;
  },
});
