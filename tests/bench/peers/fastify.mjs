// The posts of the API as a Fastify program: `node fastify.mjs PROCESSES`, with the settings of pg in the environment.
import { generateKeyPairSync } from 'node:crypto';
import cluster from 'node:cluster';
import { createSigner, createVerifier } from 'fast-jwt';
import Fastify from 'fastify';
import pg from 'pg';
import { serve } from './cluster.mjs';

const ISSUER = 'https://id.example.org';
const AUDIENCE = 'https://api.example.org';
const COLUMNS = 'id, title, body, status, author_id, created_at, updated_at, published_at, version';
const PAGE_SIZE = 20;

// Ids and versions are below 2^53, as in the API that this program imitates.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** Makes the key pair in the first process. The others get the public key in their environment. */
function makeToken() {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  process.env.PUBLIC_KEY = publicKey;
  const sign = createSigner({
    key: privateKey,
    algorithm: 'RS256',
    kid: 'benchmark',
    iss: ISSUER,
    aud: AUDIENCE,
    expiresIn: 4 * 3600 * 1000,
  });
  return sign({ sub: '1', client_id: 'benchmark', scope: 'posts:read posts:write', jti: 'benchmark' });
}

const postSchema = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    title: { type: 'string' },
    body: { type: 'string' },
    status: { type: 'string' },
    author_id: { type: 'integer' },
    created_at: { type: 'string', format: 'date-time' },
    updated_at: { type: 'string', format: 'date-time' },
    published_at: { type: 'string', format: 'date-time', nullable: true },
  },
};

const listSchema = {
  querystring: {
    type: 'object',
    properties: { cursor: { type: 'string', maxLength: 512 }, status: { type: 'string' } },
  },
  response: {
    200: {
      type: 'object',
      properties: {
        items: { type: 'array', items: postSchema },
        next: { type: 'string', nullable: true },
        links: {
          type: 'object',
          properties: { next: { type: 'string', nullable: true }, prev: { type: 'string', nullable: true } },
        },
      },
    },
  },
};

const createSchema = {
  body: {
    type: 'object',
    required: ['title'],
    additionalProperties: false,
    properties: {
      title: { type: 'string', minLength: 1, maxLength: 200 },
      body: { type: 'string', maxLength: 100000, default: '' },
      status: { type: 'string', enum: ['draft', 'published'], default: 'draft' },
    },
  },
  response: { 201: postSchema },
};

/** The cursor of a post: base64url of `{"created_at":…,"id":…}`. */
function writeCursor(post) {
  const cursor = { created_at: post.created_at, id: post.id };
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

function readCursor(text) {
  try {
    const { created_at: createdAt, id } = JSON.parse(Buffer.from(text, 'base64url').toString());
    return [createdAt, id];
  } catch {
    return undefined;
  }
}

function buildApp() {
  const pool = new pg.Pool();
  const verify = createVerifier({
    key: process.env.PUBLIC_KEY,
    algorithms: ['RS256'],
    allowedIss: ISSUER,
    allowedAud: AUDIENCE,
    cache: true,
  });
  const app = Fastify();
  app.decorateRequest('claims', null);
  app.addHook('onRequest', async (request, reply) => {
    const header = request.headers.authorization;
    try {
      if (!header?.startsWith('Bearer ')) throw new Error('no bearer token');
      request.claims = verify(header.slice(7));
    } catch {
      reply.code(401).header('www-authenticate', 'Bearer error="invalid_token"');
      return reply.send({ code: 'invalid_token', message: 'The access token is missing or invalid.' });
    }
  });

  app.get('/posts', { schema: listSchema }, async (request) => {
    const anchor = request.query.cursor && readCursor(request.query.cursor);
    const { rows } = await pool.query({
      name: anchor ? 'list_after' : 'list',
      text: `SELECT ${COLUMNS} FROM posts WHERE deleted_at IS NULL AND status = 'published'
             ${anchor ? 'AND (created_at, id) < ($1, $2)' : ''}
             ORDER BY created_at DESC, id DESC LIMIT ${PAGE_SIZE + 1}`,
      values: anchor || [],
    });
    const items = rows.slice(0, PAGE_SIZE);
    const next = rows.length >= PAGE_SIZE ? writeCursor(items[PAGE_SIZE - 1]) : null;
    const prev = anchor && items.length > 0 ? `/posts?cursor=${writeCursor(items[0])}&dir=prev` : null;
    return { items, next, links: { next: next && `/posts?cursor=${next}`, prev } };
  });

  app.get('/posts/:id', { schema: { response: { 200: postSchema } } }, async (request, reply) => {
    const { rows } = await pool.query({
      name: 'one',
      text: `SELECT ${COLUMNS} FROM posts WHERE id = $1 AND deleted_at IS NULL`,
      values: [request.params.id],
    });
    const post = rows[0];
    if (!post) {
      reply.code(404);
      return { code: 'not_found', message: 'There is no such post.' };
    }
    const etag = `"${post.id}-${post.version}"`;
    reply.header('etag', etag);
    if (request.headers['if-none-match'] === etag) {
      reply.code(304);
      return reply.send();
    }
    return post;
  });

  app.post('/posts', { schema: createSchema }, async (request, reply) => {
    const { title, body, status } = request.body;
    const { rows } = await pool.query({
      name: 'create',
      text: `INSERT INTO posts (author_id, title, body, status, version, created_at, updated_at, published_at)
             VALUES ($1, $2, $3, $4, 1, now(), now(), CASE WHEN $4 = 'published' THEN now() END)
             RETURNING ${COLUMNS}`,
      values: [request.claims.sub, title, body, status],
    });
    const post = rows[0];
    reply.code(201).header('location', `/posts/${post.id}`).header('etag', `"${post.id}-${post.version}"`);
    return post;
  });
  return app;
}

async function listen() {
  const app = buildApp();
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server.address().port;
}

const announcement = cluster.isPrimary ? { token: makeToken() } : {};
await serve(Number(process.argv[2]), announcement, listen);
