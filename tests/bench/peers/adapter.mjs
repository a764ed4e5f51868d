// A storage adapter of oidc-provider for PostgreSQL: one table, one prepared statement per call.
import pg from 'pg';

const pool = new pg.Pool();

export const TABLE = `
CREATE TABLE IF NOT EXISTS oidc_payloads (
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    payload JSONB NOT NULL,
    grant_id TEXT,
    user_code TEXT,
    uid TEXT,
    expires_at TIMESTAMPTZ,
    consumed_at TIMESTAMPTZ,
    PRIMARY KEY (id, type)
);
CREATE INDEX IF NOT EXISTS oidc_payloads_grant_id ON oidc_payloads (grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS oidc_payloads_uid ON oidc_payloads (uid) WHERE uid IS NOT NULL;
CREATE INDEX IF NOT EXISTS oidc_payloads_user_code ON oidc_payloads (user_code) WHERE user_code IS NOT NULL;
CREATE INDEX IF NOT EXISTS oidc_payloads_expires_at ON oidc_payloads (expires_at);
`;

export const createTable = () => pool.query(TABLE);
export const end = () => pool.end();

export class PostgresAdapter {
  constructor(type) {
    this.type = type;
  }

  async upsert(id, payload, expiresIn) {
    await pool.query({
      name: 'upsert',
      text: `INSERT INTO oidc_payloads (id, type, payload, grant_id, user_code, uid, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))
             ON CONFLICT (id, type) DO UPDATE SET payload = $3, grant_id = $4, user_code = $5, uid = $6,
                                                  expires_at = now() + make_interval(secs => $7)`,
      values: [id, this.type, payload, payload.grantId, payload.userCode, payload.uid, expiresIn ?? null],
    });
  }

  async findBy(column, value) {
    const { rows } = await pool.query({
      name: `find_by_${column}`,
      text: `SELECT payload, consumed_at FROM oidc_payloads WHERE ${column} = $1 AND type = $2`,
      values: [value, this.type],
    });
    if (rows.length === 0) return undefined;
    const { payload, consumed_at: consumedAt } = rows[0];
    return consumedAt ? { ...payload, consumed: true } : payload;
  }

  find(id) {
    return this.findBy('id', id);
  }

  findByUid(uid) {
    return this.findBy('uid', uid);
  }

  findByUserCode(userCode) {
    return this.findBy('user_code', userCode);
  }

  async consume(id) {
    await pool.query({
      name: 'consume',
      text: 'UPDATE oidc_payloads SET consumed_at = now() WHERE id = $1 AND type = $2',
      values: [id, this.type],
    });
  }

  async destroy(id) {
    await pool.query({
      name: 'destroy',
      text: 'DELETE FROM oidc_payloads WHERE id = $1 AND type = $2',
      values: [id, this.type],
    });
  }

  async revokeByGrantId(grantId) {
    await pool.query({
      name: 'revoke',
      text: 'DELETE FROM oidc_payloads WHERE grant_id = $1 AND type = $2',
      values: [grantId, this.type],
    });
  }
}
