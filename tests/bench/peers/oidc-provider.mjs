// npm oidc-provider on PostgreSQL, with the settings of pg in the environment:
//   node oidc-provider.mjs serve PROCESSES
//   node oidc-provider.mjs make code|access_token|refresh_token COUNT CLIENT_ID
// The latter prints COUNT values, each of a grant of its own. CODE_CHALLENGE, CLIENT_ID, CONFIDENTIAL_CLIENT_ID,
// CONFIDENTIAL_CLIENT_SECRET and REDIRECT_URI are the values of the requests to come.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import cluster from 'node:cluster';
import Provider from 'oidc-provider';
import { PostgresAdapter, createTable, end } from './adapter.mjs';
import { serve } from './cluster.mjs';

const ISSUER = 'https://id.example.org';
const RESOURCE = 'https://api.example.org';
const SCOPE = 'posts:read posts:write';
const { CODE_CHALLENGE, CLIENT_ID, CONFIDENTIAL_CLIENT_ID, CONFIDENTIAL_CLIENT_SECRET, REDIRECT_URI } = process.env;
const CLIENT = {
  application_type: 'web',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  redirect_uris: [REDIRECT_URI],
};

/** The signing key and the cookie key, made in the first process and shared with the others by the environment. */
function makeKeys() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = { ...privateKey.export({ format: 'jwk' }), kid: 'benchmark', use: 'sig', alg: 'RS256' };
  process.env.SIGNING_KEY = JSON.stringify(jwk);
  process.env.COOKIE_KEY = randomBytes(32).toString('base64url');
}

function makeProvider() {
  const provider = new Provider(ISSUER, {
    adapter: PostgresAdapter,
    jwks: { keys: [JSON.parse(process.env.SIGNING_KEY)] },
    cookies: { keys: [process.env.COOKIE_KEY] },
    clients: [
      { ...CLIENT, client_id: CLIENT_ID, token_endpoint_auth_method: 'none' },
      {
        ...CLIENT,
        client_id: CONFIDENTIAL_CLIENT_ID,
        client_secret: CONFIDENTIAL_CLIENT_SECRET,
        token_endpoint_auth_method: 'client_secret_basic',
      },
    ],
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    issueRefreshToken: () => true,
    expiresWithSession: () => false,
    rotateRefreshToken: true,
    features: {
      devInteractions: { enabled: false },
      introspection: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => RESOURCE,
        getResourceServerInfo: () => ({
          scope: SCOPE,
          audience: RESOURCE,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 600,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    routes: { introspection: '/introspect' },
    ttl: { AccessToken: 3600, AuthorizationCode: 3600, Grant: 30 * 86400, RefreshToken: 14 * 86400 },
  });
  // TLS ends at a reverse proxy, as its documentation recommends.
  provider.proxy = true;
  return provider;
}

async function makeValue(provider, kind, clientId) {
  const accountId = randomBytes(8).toString('hex');
  const grant = new provider.Grant({ accountId, clientId });
  grant.addResourceScope(RESOURCE, SCOPE);
  const grantId = await grant.save();
  const client = await provider.Client.find(clientId);
  const common = { accountId, client, grantId, gty: 'authorization_code', scope: SCOPE, resource: RESOURCE };
  if (kind === 'refresh_token') return new provider.RefreshToken({ ...common, rotations: 0 }).save();
  if (kind === 'access_token') return new provider.AccessToken({ ...common, resource: undefined }).save();
  return new provider.AuthorizationCode({
    ...common,
    redirectUri: REDIRECT_URI,
    codeChallenge: CODE_CHALLENGE,
    codeChallengeMethod: 'S256',
  }).save();
}

async function makeValues(kind, count, clientId) {
  const provider = makeProvider();
  for (let made = 0; made < count; made += 100) {
    const values = Array.from({ length: Math.min(100, count - made) }, () => makeValue(provider, kind, clientId));
    console.log((await Promise.all(values)).join('\n'));
  }
  await end();
}

const listen = () =>
  new Promise((resolve) => {
    const server = makeProvider().listen(0, '127.0.0.1', () => resolve(server.address().port));
  });

const [command, ...args] = process.argv.slice(2);
if (cluster.isPrimary) {
  makeKeys();
  await createTable();
}
if (command === 'make') {
  await makeValues(args[0], Number(args[1]), args[2]);
} else {
  await serve(Number(args[0]), {}, listen);
}
