"""The database of one Latchkey, and the rows that the benchmark inserts with SQL."""

import hashlib
import secrets
import sqlite3
import time

USERS = 10_000
POSTS = 100_000
# Post number n was created n seconds after this time, in microseconds since 1970.
FIRST_POST_AT = 1_500_000_000_000_000
POST_INTERVAL = 1_000_000
BODY = "The quick brown fox jumps over the lazy dog, and the dog does not mind. " * 3
HOUR = 3_600_000_000


def now():
    """The time in microseconds since 1970."""
    return time.time_ns() // 1000


class PostgresDatabase:
    """A database on the private PostgreSQL server."""

    engine = "PostgreSQL"

    def __init__(self, postgres, name):
        self.postgres, self.name = postgres, name
        self.url = postgres.url(name)
        postgres.create_database(name)

    def rows(self, sql):
        """Runs statements and returns the rows of the last as lists of text."""
        return self.postgres.query(sql, self.name)

    def settle(self):
        """Brings the statistics of the planner and the pages up to date after many writes."""
        self.rows("VACUUM ANALYZE")
        self.rows("CHECKPOINT")

    def series(self, first, last):
        return f"(SELECT n::bigint AS n FROM generate_series({first}, {last}) AS n) AS series"

    def sha256(self, text):
        return f"sha256(convert_to({text}, 'UTF8'))"

    random_id = "substr(md5(random()::text || clock_timestamp()::text), 1, 22)"
    false = "false"

    def bytes_of(self, table):
        """The bytes of a table with its indexes."""
        return int(self.rows(f"SELECT pg_total_relation_size('{table}')")[0][0])


class SqliteDatabase:
    """The SQLite file of a running Latchkey."""

    engine = "SQLite"

    def __init__(self, file):
        self.file, self.url = file, f"sqlite:{file}"

    def rows(self, sql):
        """Runs one statement in a transaction and returns its rows as lists of text."""
        connection = sqlite3.connect(self.file, timeout=60, isolation_level=None)
        connection.create_function("sha256_of", 1, lambda text: hashlib.sha256(text.encode()).digest())
        # The triggers of the schema need it, and SQLite has it from version 3.43 on.
        connection.create_function("octet_length", 1, lambda text: len(text.encode()))
        connection.create_function("random_id", 0, lambda: secrets.token_hex(11))
        try:
            return [[str(value) for value in row] for row in connection.execute(sql).fetchall()]
        finally:
            connection.close()

    def settle(self):
        """Brings the statistics of the planner up to date, and empties the write-ahead log."""
        self.rows("PRAGMA wal_checkpoint(TRUNCATE)")

    def series(self, first, last):
        counted = f"SELECT {first} AS n UNION ALL SELECT n + 1 FROM counted WHERE n < {last}"
        return f"(WITH RECURSIVE counted AS ({counted}) SELECT n FROM counted) AS series"

    def sha256(self, text):
        return f"sha256_of({text})"

    random_id = "random_id()"
    false = "0"

    def bytes_of(self, table):
        """The bytes of a table with its indexes."""
        names = f"SELECT name FROM sqlite_schema WHERE tbl_name = '{table}'"
        return int(self.rows(f"SELECT sum(pgsize) FROM dbstat WHERE aggregate = TRUE AND name IN ({names})")[0][0])


def insert_users(database):
    """Inserts users with a session and a consent for every client each."""
    at = now()
    database.rows(
        f"""INSERT INTO users (email, email_key, email_verified, role, password_hash, epoch,
                               password_change_required, created_at, updated_at)
            SELECT 'reader' || n || '@bench.example', 'reader' || n || '@bench.example', {database.false}, 'user', '-', 1,
                   {database.false}, {at}, {at}
            FROM {database.series(1, USERS)}"""
    )
    database.rows(
        f"""INSERT INTO sessions (sid_hash, user_id, created_at, last_seen_at, expires_at, amr)
            SELECT {database.sha256("'sid' || id")}, id, {at}, {at}, {at + 10 * HOUR}, 'pwd'
            FROM users WHERE email LIKE '%@bench.example'"""
    )
    database.rows(
        f"""INSERT INTO consents (user_id, client_id, scope, granted_at, id)
            SELECT users.id, clients.id, 'posts:read posts:write', {at}, {database.random_id}
            FROM users CROSS JOIN clients WHERE email LIKE '%@bench.example'"""
    )


def first_user(database):
    """The id of the first user that `insert_users` inserted. The others follow without gaps."""
    return int(database.rows("SELECT min(id) FROM users WHERE email LIKE '%@bench.example'")[0][0])


def insert_posts(database, first=1, last=POSTS):
    """Inserts posts of many authors. Every tenth is a draft."""
    at = f"({FIRST_POST_AT} + n * {POST_INTERVAL})"
    database.rows(
        f"""INSERT INTO posts (author_id, title, body, status, version, created_at, updated_at, published_at)
            SELECT {first_user(database)} + n % {USERS}, 'Post number ' || ({10 * POSTS} + n), '{BODY}',
                   CASE WHEN n % 10 = 0 THEN 'draft' ELSE 'published' END, 1, {at}, {at},
                   CASE WHEN n % 10 = 0 THEN NULL ELSE {at} END
            FROM {database.series(first, last)}"""
    )
    database.settle()


def insert_codes(database, client_id, redirect_uri, challenge, count):
    """Inserts authorization codes of many users, and returns them. They are valid for an hour."""
    prefix = secrets.token_urlsafe(24)
    codes = [f"{prefix}{100_000_000 + n}" for n in range(1, count + 1)]
    text = f"'{prefix}' || (100000000 + n)"
    database.rows(
        f"""INSERT INTO authorization_codes (code_hash, family_id, client_id, client_epoch, user_id, session_id,
                                             consent_id, redirect_uri, code_challenge, scope, expires_at)
            SELECT {database.sha256(text)}, {database.random_id}, clients.id, clients.epoch, users.id, sessions.id,
                   consents.id, '{redirect_uri}', '{challenge}', 'posts:read posts:write', {now() + HOUR}
            FROM {database.series(1, count)}
            JOIN clients ON clients.id = '{client_id}'
            JOIN users ON users.id = {first_user(database)} + n % {USERS}
            JOIN sessions ON sessions.sid_hash = {database.sha256("'sid' || users.id")}
            JOIN consents ON consents.user_id = users.id AND consents.client_id = '{client_id}'"""
    )
    return codes


def insert_families(database, client_id, count):
    """Inserts families of refresh tokens that ended with the first epoch of their users."""
    at = now()
    database.rows(
        f"""INSERT INTO refresh_families (id, client_id, user_id, session_id, scope, generation, created_at,
                                          last_used_at, idle_expires_at, expires_at, auth_time, amr, user_epoch,
                                          client_epoch)
            SELECT {database.random_id}, '{client_id}', {first_user(database)} + n % {USERS}, n,
                   'posts:read posts:write', 1, {at} - n, {at} - n, {at + 300 * HOUR} - n, {at + 700 * HOUR} - n, {at} - n,
                   'pwd', 0, 0
            FROM {database.series(1, count)}"""
    )


def insert_sessions(database, count):
    """Inserts sessions that nobody uses."""
    at = now()
    database.rows(
        f"""INSERT INTO sessions (sid_hash, user_id, created_at, last_seen_at, expires_at, address, user_agent, amr)
            SELECT {database.sha256("'more' || n")}, {first_user(database)} + n % {USERS}, {at} - n, {at} - n,
                   {at + 10 * HOUR} - n, '203.0.113.7', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0',
                   'pwd'
            FROM {database.series(1, count)}"""
    )


def insert_payments(database, count):
    """Inserts payments without metadata."""
    at = now()
    database.rows(
        f"""INSERT INTO payments (public_id, user_id, status, amount, amount_captured, amount_refunded, currency,
                                  description, metadata, created_at, updated_at)
            SELECT 'pay_00000000-0000-7000-8000-' || (100000000000 + n), {first_user(database)} + n % {USERS}, 'created',
                   1250, 0, 0, 'EUR', 'Order number ' || n, '{{}}', {at} - n, {at} - n
            FROM {database.series(1, count)}"""
    )


def give_all_posts_to(database, user_id, drafts=None):
    """Makes one user the author of all posts, as on a blog with one author. `drafts` is the number of drafts that
    remain, by default all."""
    database.rows(f"UPDATE posts SET author_id = {user_id}")
    if drafts is not None:
        remaining = f"SELECT id FROM posts WHERE status = 'draft' ORDER BY id LIMIT {drafts}"
        database.rows(
            f"UPDATE posts SET status = 'published', published_at = created_at WHERE id NOT IN ({remaining})"
        )
    database.settle()


def sample_posts(database, count=5000):
    """Random published posts that the benchmark inserted: pairs of id and time of creation in microseconds."""
    last = FIRST_POST_AT * 1.1
    rows = database.rows(
        f"""SELECT id, created_at FROM posts WHERE status = 'published' AND created_at > {FIRST_POST_AT}
            AND created_at < {last:.0f} ORDER BY random() LIMIT {count}"""
    )
    return [(int(id), int(created_at)) for id, created_at in rows]
