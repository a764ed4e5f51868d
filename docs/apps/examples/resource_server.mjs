// A resource server: answers requests that have an access token of the issuer with the scope posts:read.

import { createServer } from "node:http";
import { createRemoteJWKSet, jwtVerify } from "jose";

const { ISSUER, API, AUDIENCE = API, PORT = "4001" } = process.env;
const SCOPE = "posts:read";

const metadata = await (await fetch(`${ISSUER}/.well-known/oauth-authorization-server`)).json();
// RFC 8414 §3.3.
if (metadata.issuer !== ISSUER) throw new Error("The metadata are those of another issuer.");
// Fetches the keys when it needs them, and again when a token has a key that it does not know.
const keys = createRemoteJWKSet(new URL(metadata.jwks_uri));
const rules = { issuer: ISSUER, audience: AUDIENCE, typ: "at+jwt", algorithms: ["RS256"], requiredClaims: ["exp"] };

// Returns the claims of an access token, or undefined if it is not valid. Fails if the keys cannot be fetched.
async function verify(token) {
  try {
    const { payload } = await jwtVerify(token, keys, rules);
    // A token with this claim also needs a proof of its key (DPoP), which this program does not check.
    return payload.cnf ? undefined : payload;
  } catch (error) {
    if (/^ERR_(JWS|JWT|JOSE_ALG|JOSE_NOT|JWKS_NO|JWKS_MULTIPLE)_/.test(error.code)) return undefined;
    throw error;
  }
}

// Returns the status, the challenge of a refusal (RFC 6750 §3) and the body.
async function answer(authorization = "") {
  const [, token] = authorization.match(/^Bearer ([^ ]+)$/i) ?? [];
  if (!token) return [401, "Bearer", { error: "The request has no access token." }];
  const claims = await verify(token);
  if (!claims) return [401, 'Bearer error="invalid_token"', { error: "The access token is not valid." }];
  if (!claims.scope?.split(" ").includes(SCOPE)) {
    return [403, `Bearer error="insufficient_scope", scope="${SCOPE}"`, { error: `The token lacks ${SCOPE}.` }];
  }
  return [200, undefined, { sub: claims.sub, client_id: claims.client_id, scope: claims.scope }];
}

const unavailable = [503, undefined, { error: "The keys of the issuer cannot be fetched." }];
const server = createServer(async (request, response) => {
  const [status, challenge, body] = await answer(request.headers.authorization).catch(() => unavailable);
  if (challenge) response.setHeader("WWW-Authenticate", challenge);
  response.writeHead(status, { "Content-Type": "application/json" }).end(`${JSON.stringify(body)}\n`);
});
server.listen(Number(PORT), "127.0.0.1", () => console.log(`Listening on http://localhost:${PORT}`));
