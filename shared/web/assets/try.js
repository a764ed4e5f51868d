// Shows /openapi.json. Requests have the access token of a sign-in with PKCE, or else the session of the browser with the
// anti-forgery token. The sign-in of Swagger UI is left out: it returns through window.opener, which the pages of the
// issuer cut off.
import { Latchkey } from "./latchkey-auth.js";

// From a sign-in to its end, sessionStorage has the client, its scope and the place in the page.
const KEPT = "try";
const element = (id) => document.getElementById(id);

const text = await (await fetch("/openapi.json")).text();
const { authorizationUrl, scopes } = JSON.parse(text).components.securitySchemes.oauth2.flows.authorizationCode;
let latchkey;

function choose({ clientId, scope }) {
  latchkey?.close();
  const { origin, pathname } = location;
  const issuer = new URL(authorizationUrl).origin;
  latchkey = new Latchkey({ issuer, clientId, redirectUri: origin + pathname, scope });
  latchkey.addEventListener("signedin", () => show("You are signed in: requests have an access token."));
  latchkey.addEventListener("signedout", ({ detail }) => end(detail));
}

function end({ message }) {
  sessionStorage.removeItem(KEPT);
  show(`${message} Sign in again, or load the page again to use the session of the browser.`);
}

function show(outcome) {
  element("outcome").textContent = outcome;
  element("sign-in").hidden = latchkey.signedIn;
  element("sign-out").hidden = !latchkey.signedIn;
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
  choose(chosen);
  latchkey.signIn().catch((error) => show(error.message));
});
element("sign-out").addEventListener("click", () => latchkey.signOut().catch((error) => show(error.message)));

const kept = JSON.parse(sessionStorage.getItem(KEPT));
const parameters = new URLSearchParams(location.search);
const isResponse = parameters.has("state");
if (kept) {
  choose(kept);
  const restored = await latchkey.start().catch((error) => show(error.message));
  if (restored === "signed_out") end(latchkey.ended);
}
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
