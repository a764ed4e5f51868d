// Shows /openapi.json. Requests have the access token of a sign-in with PKCE, or else the session of the browser with the
// anti-forgery token. The sign-in of Swagger UI is left out: it returns through window.opener, which the pages of the
// issuer cut off.
import { Latchkey } from "./latchkey-auth.js";

// Between the redirect and the return, sessionStorage has the client, its scope and the place in the page.
const PENDING = "try";
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
  latchkey.addEventListener("signedout", ({ detail }) => show(detail.message));
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
  const pending = { clientId: fields.get("client_id"), scope: fields.getAll("scope").join(" "), hash: location.hash };
  sessionStorage.setItem(PENDING, JSON.stringify(pending));
  choose(pending);
  latchkey.signIn().catch((error) => show(error.message));
});
element("sign-out").addEventListener("click", () => latchkey.signOut().catch((error) => show(error.message)));

const pending = JSON.parse(sessionStorage.getItem(PENDING));
sessionStorage.removeItem(PENDING);
if (pending) {
  choose(pending);
  await latchkey.start().catch((error) => show(error.message));
  history.replaceState(null, "", `?client_id=${encodeURIComponent(pending.clientId)}${pending.hash}`);
}
element("client_id").value = new URLSearchParams(location.search).get("client_id") ?? "reference";

SwaggerUIBundle({
  // Without the scheme, and without the requirements that name it, Swagger UI offers no sign-in of its own.
  spec: JSON.parse(text, (name, value) => (name === "oauth2" ? undefined : value)),
  dom_id: "#swagger-ui",
  deepLinking: true,
  validatorUrl: null,
  requestInterceptor: async (request) => {
    const csrf = document.cookie.match(/(?:^|; )csrf=([^;]+)/);
    if (latchkey?.signedIn) {
      request.headers.Authorization ??= `Bearer ${await latchkey.accessToken()}`;
      // The token alone authenticates the request.
      request.credentials = "omit";
    } else if (csrf && request.method !== "GET") {
      request.headers["x-csrf-token"] ??= csrf[1];
    }
    return request;
  },
});
