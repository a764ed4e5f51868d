// The npm package @modelcontextprotocol/sdk, which learns everything from a 401 of the API. See tests/src/independent_clients.rs.

import assert from "node:assert/strict";
import { auth, UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { withOAuth } from "@modelcontextprotocol/sdk/client/middleware.js";
import { done, open, settings } from "./harness.mjs";

// The storage and the way to the browser, which the library leaves to its user.
class Provider {
  constructor(app) {
    this.redirectUrl = app.redirectUri;
    this.clientMetadata = {
      client_name: "Some agent",
      redirect_uris: [app.redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
    if (app.id) this.client = { client_id: app.id, client_secret: app.secret ?? undefined };
  }

  clientInformation() {
    return this.client;
  }

  saveClientInformation(client) {
    this.client = client;
  }

  tokens() {
    return this.saved;
  }

  saveTokens(tokens) {
    this.saved = tokens;
  }

  codeVerifier() {
    return this.verifier;
  }

  saveCodeVerifier(verifier) {
    this.verifier = verifier;
  }

  redirectToAuthorization(url) {
    this.request = url;
  }
}

async function signIn(app) {
  const provider = new Provider(app);
  const fetchWithOAuth = withOAuth(provider, settings.server)(fetch);
  const call = async () => {
    const response = await fetchWithOAuth(settings.server);
    assert.equal(response.status, 200);
    const { sub, scope } = await response.json();
    assert.deepEqual({ sub, scope }, { sub: settings.user, scope: settings.scope });
  };

  await assert.rejects(call, UnauthorizedError);
  assert.equal(provider.request.searchParams.get("resource"), settings.resource);
  // The SDK may add offline_access, because the issuer supports it.
  const asked = provider.request.searchParams.get("scope").split(" ");
  assert.equal(asked.filter((name) => name !== "offline_access").join(" "), settings.scope);
  const authorizationCode = (await open(provider.request)).searchParams.get("code");
  await auth(provider, { serverUrl: settings.server, authorizationCode });
  await call();

  // A 401 makes the library refresh.
  const { refresh_token } = provider.saved;
  provider.saved.access_token = "expired";
  await call();
  assert.notEqual(provider.saved.refresh_token, refresh_token);
}

for (const app of settings.apps) await signIn(app);

done();
