// A web app with a server: signs a user in, keeps the tokens on the server, and shows what the API says about the user.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import * as client from "openid-client";

const { ISSUER, API, CLIENT_ID, CLIENT_SECRET, PORT = "4000" } = process.env;
const origin = `http://localhost:${PORT}`;
// The library refuses plain http unless it is told otherwise. Only an issuer on this machine may have it.
const execute = /^(localhost|127\.0\.0\.1|\[::1])$/.test(new URL(ISSUER).hostname) ? [client.allowInsecureRequests] : [];
const authentication = client.ClientSecretBasic(CLIENT_SECRET);
const config = await client.discovery(new URL(ISSUER), CLIENT_ID, undefined, authentication, { execute });
// By the value of their cookie. An app of your own has them in a database, and deletes the old ones.
const sessions = new Map();

// Redirects the browser, which gets a new session. With https, name the cookie `__Host-session` and add `Secure`.
function redirect(location, session) {
  const id = randomUUID();
  sessions.set(id, session);
  return [303, { Location: location, "Set-Cookie": `session=${id}; HttpOnly; SameSite=Lax; Path=/` }, ""];
}

async function signIn() {
  const [verifier, state, nonce] = [client.randomPKCECodeVerifier(), client.randomState(), client.randomNonce()];
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: `${origin}/callback`,
    scope: "openid profile:read",
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    nonce,
  });
  return redirect(url.href, { checks: { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce } });
}

// Returns the status, the headers and the text of the response.
async function answer(request) {
  const url = new URL(`${origin}${request.url}`);
  const id = request.headers.cookie?.match(/(?:^|; )session=([^;]+)/)?.[1];
  const { checks, tokens } = sessions.get(id) ?? {};
  if (url.pathname === "/callback") {
    if (!checks) return [400, {}, "This sign-in was begun in another browser or tab. Open / again.\n"];
    sessions.delete(id);
    return redirect(origin, { tokens: await client.authorizationCodeGrant(config, url, checks) });
  }
  if (url.pathname !== "/") return [404, {}, "There is no such page.\n"];
  // While the user is signed in at the issuer, it returns the browser at once with new tokens.
  if (!tokens?.expiresIn()) return signIn();
  const me = await fetch(`${API}/me`, { headers: { Authorization: `Bearer ${tokens.access_token}` } });
  if (me.status === 401) return signIn();
  if (!me.ok) throw new Error(`The API answered with the status ${me.status}.`);
  return [200, {}, `You are signed in as ${(await me.json()).email}.\n`];
}

const server = createServer(async (request, response) => {
  const failure = (error) => [502, {}, `${error.error_description ?? error.message}\n`];
  const [status, headers, text] = await answer(request).catch(failure);
  response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8", ...headers }).end(text);
});
server.listen(Number(PORT), "127.0.0.1", () => console.log(`Open ${origin}`));
