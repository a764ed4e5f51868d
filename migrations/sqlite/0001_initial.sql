-- Times are microseconds since 1970-01-01 UTC. Secrets are stored as SHA-256 hashes or sealed.
-- The PostgreSQL schema beside this one has the same tables, columns and indexes; a test compares them.

-- Accounts. `email_key` is the normalized address, by which accounts are found. `epoch` counts the times that all sessions and
-- tokens of the user ended, as with each change of the password; `epoch_end_reason` and `epoch_ended_at` tell why and when they last did.
-- `unlocked_at` is the time at which a command or a password reset last cleared the failed sign-ins.
CREATE TABLE users (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL,
    email_verified BOOLEAN NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('user', 'editor', 'admin')),
    password_hash TEXT,
    epoch BIGINT NOT NULL,
    epoch_end_reason TEXT,
    epoch_ended_at BIGINT,
    password_change_required BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    disabled_at BIGINT,
    deleted_at BIGINT,
    unlocked_at BIGINT
);
-- The index is partial because PostgreSQL treats columns of full unique indexes as key columns, and an update of a key
-- column conflicts with the row locks of foreign keys.
CREATE UNIQUE INDEX users_email_key ON users (email_key) WHERE email_key IS NOT NULL;
CREATE INDEX users_role ON users (role, id);
-- The cost of imported bcrypt hashes, which each sign-in reads.
CREATE INDEX users_imported ON users (substr(password_hash, 5, 2)) WHERE substr(password_hash, 1, 2) = '$2';
CREATE INDEX users_disabled ON users (id) WHERE disabled_at IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX users_disabled_role ON users (role, id) WHERE disabled_at IS NOT NULL AND deleted_at IS NULL;

CREATE TABLE sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    sid_hash BLOB NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id),
    created_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    address TEXT,
    user_agent TEXT,
    -- The methods by which the user signed in (RFC 8176).
    amr TEXT NOT NULL CHECK (amr IN ('pwd', 'pwd otp', 'passkey'))
);
CREATE UNIQUE INDEX sessions_sid_hash ON sessions (sid_hash);
CREATE INDEX sessions_user_id ON sessions (user_id, id);
-- Expired rows are deleted through such an index (`delete_expired!`).
CREATE INDEX sessions_expires_at ON sessions ((expires_at + 0));

-- Why sessions ended before their lifetime, for browsers that still have their cookies. A row has no user, and is deleted when the
-- session would have expired.
CREATE TABLE ended_sessions (
    sid_hash BLOB PRIMARY KEY NOT NULL,
    reason TEXT NOT NULL,
    ended_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX ended_sessions_expires_at ON ended_sessions ((expires_at + 0));

-- Time-based one-time passwords (RFC 6238). The seed is sealed under ACCOUNT_KEY. Sign-in requires a code once
-- `confirmed_at` is set. `last_step` is the last accepted time step: codes of that step and of earlier ones are refused.
CREATE TABLE totp (
    user_id BIGINT PRIMARY KEY NOT NULL REFERENCES users (id),
    sealed_seed BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    confirmed_at BIGINT,
    last_step BIGINT NOT NULL
);

CREATE TABLE recovery_codes (
    user_id BIGINT NOT NULL REFERENCES users (id),
    code_hash BLOB NOT NULL,
    used_at BIGINT,
    PRIMARY KEY (user_id, code_hash)
);

-- Passkeys (Web Authentication). `credential` has the public key, the counter and the flags of the authenticator as JSON. `challenged_at` is
-- the time of the last challenge that the passkey answered: answers to that one and to earlier ones are refused.
CREATE TABLE passkeys (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id BIGINT NOT NULL REFERENCES users (id),
    credential_id BLOB NOT NULL,
    credential TEXT NOT NULL,
    name TEXT NOT NULL,
    is_synced BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    challenged_at BIGINT NOT NULL,
    last_used_at BIGINT
);
CREATE UNIQUE INDEX passkeys_credential_id ON passkeys (credential_id);
CREATE INDEX passkeys_user_id ON passkeys (user_id, id);

-- The tokens of links in mails. A request for an unknown address stores a token without a user, so that it takes as
-- long as one for a known address.
CREATE TABLE mailed_tokens (
    token_hash BLOB PRIMARY KEY NOT NULL,
    purpose TEXT NOT NULL CHECK (purpose IN ('password_reset', 'email_verification')),
    user_id BIGINT REFERENCES users (id),
    email TEXT NOT NULL,
    email_key TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT
);
CREATE INDEX mailed_tokens_user_id ON mailed_tokens (user_id);
CREATE INDEX mailed_tokens_email_key ON mailed_tokens (email_key);
CREATE INDEX mailed_tokens_expires_at ON mailed_tokens ((expires_at + 0));

-- The queue of outgoing mails, written in the transaction of the event that causes them. Mails are sealed under
-- ACCOUNT_KEY because their links contain secrets.
CREATE TABLE mails (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    sealed BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL
);
CREATE INDEX mails_due_at ON mails (due_at);

CREATE TABLE posts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    author_id BIGINT NOT NULL REFERENCES users (id),
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('draft', 'published')),
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    published_at BIGINT,
    deleted_at BIGINT
);
CREATE INDEX posts_status_created_at ON posts (status, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX posts_status_title ON posts (status, title, id) WHERE deleted_at IS NULL;
CREATE INDEX posts_status_author_created_at ON posts (status, author_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX posts_status_author_title ON posts (status, author_id, title, id) WHERE deleted_at IS NULL;
-- The posts whose text is erased when their author is deleted, until it is.
CREATE INDEX posts_never_published ON posts (author_id) WHERE published_at IS NULL AND title <> '';

CREATE TABLE comments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    post_id BIGINT NOT NULL REFERENCES posts (id),
    author_id BIGINT NOT NULL REFERENCES users (id),
    body TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    deleted_at BIGINT
);
CREATE INDEX comments_post_created_at ON comments (post_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX comments_author_post_created_at ON comments (author_id, post_id, created_at, id)
    WHERE deleted_at IS NULL;

-- Registered apps. A confidential client has public keys (`jwks`), or one secret and after a rotation also the previous one
-- until it expires.
-- `epoch` counts the times that all tokens of the client ended. Refresh families and access tokens hold the epoch in which
-- they began, and end with it.
CREATE TABLE clients (
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL CHECK (type IN ('spa', 'native', 'web', 'service')),
    secret_hash BLOB,
    secret_created_at BIGINT,
    secret_last_used_at BIGINT,
    previous_secret_hash BLOB,
    previous_secret_created_at BIGINT,
    previous_secret_last_used_at BIGINT,
    previous_secret_expires_at BIGINT,
    jwks TEXT,
    jwks_uri TEXT,
    redirect_uris TEXT NOT NULL,
    post_logout_redirect_uris TEXT NOT NULL,
    backchannel_logout_uri TEXT,
    scope TEXT NOT NULL,
    default_scope TEXT NOT NULL,
    first_party BOOLEAN NOT NULL,
    refresh_cookie BOOLEAN NOT NULL,
    -- In seconds.
    refresh_retry_window BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    disabled_at BIGINT,
    -- Whether the client must push its authorization requests (RFC 9126).
    require_pushed_authorization_requests BOOLEAN NOT NULL DEFAULT FALSE,
    dpop_bound_access_tokens BOOLEAN NOT NULL DEFAULT FALSE,
    -- Whether the client may use the device authorization grant (RFC 8628).
    device_authorization BOOLEAN NOT NULL DEFAULT FALSE,
    -- How the client was registered: by an administrator, by itself (RFC 7591), or by its document (see client_documents).
    origin TEXT NOT NULL DEFAULT 'administrator' CHECK (origin IN ('administrator', 'registration', 'document')),
    -- The end of a client that no administrator registered and that got no code or token yet; null for all others.
    unused_until BIGINT,
    -- The hash of the token with which a client that registered itself reads and changes its registration (RFC 7592).
    registration_token_hash BLOB,
    -- The `token_endpoint_auth_method` that such a client registered.
    token_endpoint_auth_method TEXT,
    -- Whether /userinfo answers the client with a JWT, because it registered userinfo_signed_response_alg.
    signed_user_info BOOLEAN NOT NULL DEFAULT FALSE,
    -- The time at which the client changed the name, redirect URIs or keys of its own registration or document. Earlier
    -- consents do not replace the consent page.
    identity_changed_at BIGINT,
    CONSTRAINT secrets_have_times CHECK (
        (secret_hash IS NULL) = (secret_created_at IS NULL)
        AND (previous_secret_hash IS NULL) = (previous_secret_created_at IS NULL)
        AND (previous_secret_hash IS NULL) = (previous_secret_expires_at IS NULL)
    ),
    CONSTRAINT keys_are_in_one_place CHECK (jwks IS NULL OR jwks_uri IS NULL)
);
CREATE INDEX clients_unused_until ON clients (unused_until) WHERE unused_until IS NOT NULL;
CREATE INDEX clients_browser_apps ON clients (origin, id)
    WHERE (type = 'spa' OR (type = 'native' AND origin = 'registration')) AND disabled_at IS NULL AND unused_until IS NULL;

-- Initial access tokens, each of which registers up to `uses_left` more clients (RFC 7591 §3).
CREATE TABLE registration_tokens (
    id TEXT PRIMARY KEY NOT NULL,
    token_hash BLOB NOT NULL,
    uses_left BIGINT NOT NULL CHECK (uses_left >= 0),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX registration_tokens_token_hash ON registration_tokens (token_hash);
CREATE INDEX registration_tokens_expires_at ON registration_tokens (expires_at, id);
CREATE INDEX registration_tokens_usable ON registration_tokens (expires_at, id) WHERE uses_left > 0;
CREATE INDEX registration_tokens_used_up ON registration_tokens (expires_at, id) WHERE uses_left = 0;

-- Clients can be deleted, many at a time those that were never used. The database would search each table with a foreign key to
-- them for each one, so only `client_documents` and `consents` have one, with an index. The other rows of a deleted client expire.

-- The clients that describe themselves by a client ID metadata document, with the times of the last fetch and of the next one, and with
-- their logo.
CREATE TABLE client_documents (
    client_id TEXT PRIMARY KEY NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
    fetched_at BIGINT NOT NULL,
    fresh_until BIGINT NOT NULL,
    -- A `data:` URL (RFC 2397).
    logo TEXT
);
CREATE INDEX client_documents_fetched_at ON client_documents (fetched_at);

-- The assertions with which clients authenticated (RFC 7523), each of which is valid once. A row is kept beyond the expiry of the
-- assertion, because clocks differ.
CREATE TABLE client_assertions (
    client_id TEXT NOT NULL,
    jti_hash BLOB NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (client_id, jti_hash)
);
CREATE INDEX client_assertions_expires_at ON client_assertions ((expires_at + 0));

CREATE TABLE consents (
    user_id BIGINT NOT NULL REFERENCES users (id),
    client_id TEXT NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
    scope TEXT NOT NULL,
    granted_at BIGINT NOT NULL,
    -- Changes each time that the user consents again. A code is valid only under the consent that it was issued for.
    id TEXT NOT NULL,
    PRIMARY KEY (user_id, client_id)
);
CREATE UNIQUE INDEX consents_id ON consents (id);
CREATE INDEX consents_client_id ON consents (client_id, user_id);

CREATE TABLE authorization_codes (
    code_hash BLOB PRIMARY KEY NOT NULL,
    family_id TEXT NOT NULL,
    client_id TEXT NOT NULL,
    client_epoch BIGINT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id),
    session_id BIGINT NOT NULL,
    consent_id TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    code_challenge TEXT NOT NULL,
    scope TEXT NOT NULL,
    nonce TEXT,
    expires_at BIGINT NOT NULL,
    used_at BIGINT,
    -- The reference of the pushed request for which the code was issued. It is unique, so that a request gets one code.
    request_uri_hash BLOB,
    -- The thumbprint of the key that the code is bound to (RFC 9449 §10).
    dpop_jkt TEXT
);
CREATE UNIQUE INDEX authorization_codes_request_uri_hash ON authorization_codes (request_uri_hash)
    WHERE request_uri_hash IS NOT NULL;
CREATE INDEX authorization_codes_expires_at ON authorization_codes ((expires_at + 0));
CREATE INDEX authorization_codes_user_id ON authorization_codes (user_id);

-- The authorization flows that the user has answered, until they would have expired. Each is written with the code or the refusal, so
-- that a flow finishes once.
CREATE TABLE finished_flows (
    id TEXT PRIMARY KEY NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX finished_flows_expires_at ON finished_flows ((expires_at + 0));

-- The authorization requests that clients pushed (RFC 9126), as form-encoded text, until they expire.
CREATE TABLE pushed_requests (
    request_uri_hash BLOB PRIMARY KEY NOT NULL,
    client_id TEXT NOT NULL,
    params TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX pushed_requests_expires_at ON pushed_requests ((expires_at + 0));

-- The sealed requests of browsers that are too long for a URL, until they expire.
CREATE TABLE long_requests (
    reference_hash BLOB PRIMARY KEY NOT NULL,
    sealed BLOB NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX long_requests_expires_at ON long_requests ((expires_at + 0));

-- The requests of devices (RFC 8628). Each is in the epoch of its client, and ends with it. The user code is stored as a MAC with
-- a key that is not in the database, because a hash of so short a code could be reversed.
CREATE TABLE device_requests (
    -- Also the id of the family of refresh tokens that the request begins.
    id TEXT PRIMARY KEY NOT NULL,
    device_code_hash BLOB NOT NULL,
    user_code_mac BLOB NOT NULL,
    client_id TEXT NOT NULL,
    client_epoch BIGINT NOT NULL,
    scope TEXT NOT NULL,
    -- The IP address that asked, which the user sees.
    address TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    -- The least time between two polls, in seconds. It grows with each poll that comes too early.
    poll_interval BIGINT NOT NULL,
    next_poll_at BIGINT NOT NULL,
    -- The time at which a user allowed or denied the request. The columns after it are set if the user allowed it.
    decided_at BIGINT,
    user_id BIGINT REFERENCES users (id),
    user_epoch BIGINT,
    consent_id TEXT,
    -- The time and the methods of the user's sign-in, for ID tokens.
    auth_time BIGINT,
    amr TEXT,
    used_at BIGINT,
    CONSTRAINT approvals_are_complete CHECK (
        (user_id IS NULL) = (user_epoch IS NULL)
        AND (user_id IS NULL) = (consent_id IS NULL)
        AND (user_id IS NULL) = (auth_time IS NULL)
        AND (user_id IS NULL) = (amr IS NULL)
        AND (user_id IS NULL OR decided_at IS NOT NULL)
        AND (used_at IS NULL OR user_id IS NOT NULL)
    )
);
CREATE UNIQUE INDEX device_requests_device_code_hash ON device_requests (device_code_hash);
CREATE UNIQUE INDEX device_requests_user_code_mac ON device_requests (user_code_mac);
CREATE INDEX device_requests_expires_at ON device_requests ((expires_at + 0));

-- Refresh token families: one row each, however often the token is rotated, because tokens are derived from the row (see
-- docs/decisions/0004-refresh-tokens-are-derived.md).
CREATE TABLE refresh_families (
    id TEXT PRIMARY KEY NOT NULL,
    client_id TEXT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id),
    -- Null for a device, whose tokens do not end with the session of a browser.
    session_id BIGINT,
    -- The family ends with the epoch of its user or of its client.
    user_epoch BIGINT NOT NULL,
    client_epoch BIGINT NOT NULL,
    scope TEXT NOT NULL,
    -- The time and the methods of the sign-in that began the session, for ID tokens.
    auth_time BIGINT NOT NULL,
    amr TEXT NOT NULL,
    generation BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    idle_expires_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT,
    revocation_reason TEXT,
    -- The thumbprint of the key that the refresh tokens of a public client are bound to (RFC 9449 §5).
    dpop_jkt TEXT,
    -- The registered redirect URI with which the family began, for a client of client_documents only.
    redirect_uri TEXT,
    -- The time at which the browser that had the refresh token in a cookie got the cookie of a new family.
    replaced_at BIGINT,
    CHECK ((revoked_at IS NULL) = (revocation_reason IS NULL))
);
CREATE INDEX refresh_families_user_id ON refresh_families (user_id);
CREATE INDEX refresh_families_unrevoked ON refresh_families (user_id, user_epoch, client_id, client_epoch, created_at)
    WHERE revoked_at IS NULL;
CREATE INDEX refresh_families_redirect_uri ON refresh_families (client_id) WHERE redirect_uri IS NOT NULL;
CREATE INDEX refresh_families_session_id ON refresh_families (session_id);
CREATE INDEX refresh_families_expires_at ON refresh_families ((expires_at + 0));

-- Logout tokens to send to clients (OpenID Connect Back-Channel Logout 1.0), written in the transaction that ends the session.
CREATE TABLE logout_notices (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    client_id TEXT NOT NULL,
    user_id BIGINT NOT NULL,
    session_id BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL
);
CREATE INDEX logout_notices_due_at ON logout_notices (due_at);

-- Revocations that every API replica enforces. `subject` is a `jti`, the id of a family, a `kid`, or the id of a user or a
-- client and the epoch that ended, with a period between them. A row can be deleted once the access tokens that it covers
-- have expired. `client_id` is the client whose single token a `jti` is. A reader finds the rows that it does not know by their
-- `id`, because transactions that write run one after the other.
CREATE TABLE revocations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('jti', 'user', 'client', 'family', 'key')),
    subject TEXT NOT NULL,
    revoked_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    client_id TEXT
);
CREATE UNIQUE INDEX revocations_subject ON revocations (kind, subject);
CREATE INDEX revocations_client_id ON revocations (client_id, expires_at) WHERE client_id IS NOT NULL;
CREATE INDEX revocations_expires_at ON revocations ((expires_at + 0));

-- The installation secret, of which there is one row. The keys of refresh tokens and of flows derive from it. The key
-- that seals this row, MASTER_KEY or the previous one, also seals the private keys in `signing_keys`. A transaction that
-- stages a key therefore locks this row.
CREATE TABLE installation_secret (
    id BIGINT PRIMARY KEY NOT NULL CHECK (id = 1),
    sealed BLOB NOT NULL
);

-- The programs that verify tokens: the replicas of the API, which report the keys that they have, and the other clients that fetched
-- the key set, with the keys that were in it.
CREATE TABLE verifiers (
    kind TEXT NOT NULL CHECK (kind IN ('api', 'client')),
    -- The host and the port of a replica, or the IP address of another client.
    name TEXT NOT NULL,
    user_agent TEXT NOT NULL,
    -- The ids of the keys, separated by spaces.
    kids TEXT NOT NULL,
    -- The keys that a replica no longer has, with the times at which it dropped them, as JSON.
    dropped TEXT NOT NULL DEFAULT '[]',
    -- Whether the fetch was conditional.
    revalidates BOOLEAN NOT NULL,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (kind, name, user_agent)
);
CREATE INDEX verifiers_seen_at ON verifiers (seen_at);

-- Signing keys, numbered in order of creation. The first two keys are staged in one transaction and may sign at
-- once, because no verifier can have cached a key set without them. Every other key signs only after `sign_after`, unless it
-- replaces a compromised one. `dead_after` is the time at which the last access token that a retired key signed has expired. The constraints and triggers reject wrong transitions, whatever their cause.
CREATE TABLE signing_keys (
    kid TEXT PRIMARY KEY NOT NULL,
    number BIGINT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('staged', 'active', 'retired', 'deleted')),
    public_jwk TEXT NOT NULL,
    sealed_private_key BLOB,
    created_at BIGINT NOT NULL,
    sign_after BIGINT NOT NULL,
    activated_at BIGINT,
    retired_at BIGINT,
    dead_after BIGINT,
    deleted_at BIGINT,
    compromised BOOLEAN NOT NULL,
    -- Whether the key replaced a compromised one before `sign_after`.
    activated_early BOOLEAN NOT NULL DEFAULT FALSE,
    CONSTRAINT published_before_it_signs CHECK (
        (sign_after > created_at OR sign_after = created_at AND number <= 2)
        AND (activated_at IS NULL OR activated_at >= sign_after OR activated_early)
    ),
    -- 600 s is the longest lifetime of an access token.
    CONSTRAINT published_until_its_tokens_expire CHECK (
        (dead_after IS NULL OR dead_after >= retired_at + 600000000)
        AND (deleted_at IS NULL OR compromised OR dead_after IS NOT NULL AND deleted_at >= dead_after)
    ),
    CONSTRAINT state_and_times_agree CHECK (
        (retired_at IS NULL) = (dead_after IS NULL)
        AND (retired_at IS NULL OR activated_at IS NOT NULL)
        AND (state = 'deleted' OR NOT compromised)
        AND (deleted_at IS NOT NULL) = (state = 'deleted')
        AND (state <> 'staged' OR activated_at IS NULL)
        AND (state <> 'active' OR activated_at IS NOT NULL AND retired_at IS NULL)
        AND (state <> 'retired' OR retired_at IS NOT NULL)
    ),
    CONSTRAINT private_key_until_deleted CHECK ((sealed_private_key IS NULL) = (state = 'deleted'))
);
CREATE UNIQUE INDEX signing_keys_number ON signing_keys (number);
CREATE INDEX signing_keys_state ON signing_keys (state, number);
CREATE UNIQUE INDEX signing_keys_one_active ON signing_keys (state) WHERE state = 'active';
CREATE UNIQUE INDEX signing_keys_one_staged ON signing_keys (state) WHERE state = 'staged';

CREATE TRIGGER signing_keys_begin BEFORE INSERT ON signing_keys
WHEN NEW.state <> 'staged'
BEGIN
    SELECT RAISE(ABORT, 'a new signing key must be staged');
END;
CREATE TRIGGER signing_keys_move BEFORE UPDATE ON signing_keys
WHEN NOT (
    NEW.kid = OLD.kid AND NEW.number = OLD.number AND NEW.public_jwk = OLD.public_jwk
    AND NEW.created_at = OLD.created_at AND NEW.sign_after = OLD.sign_after
    AND (OLD.activated_at IS NULL OR NEW.activated_at IS NOT DISTINCT FROM OLD.activated_at)
    AND (OLD.retired_at IS NULL OR NEW.retired_at IS NOT DISTINCT FROM OLD.retired_at)
    AND (OLD.dead_after IS NULL OR NEW.dead_after IS NOT DISTINCT FROM OLD.dead_after)
    AND (OLD.deleted_at IS NULL OR NEW.deleted_at IS NOT DISTINCT FROM OLD.deleted_at)
    AND CASE
        WHEN NEW.state = OLD.state THEN NEW.compromised = OLD.compromised OR NEW.compromised AND OLD.state = 'deleted'
        WHEN NEW.compromised THEN OLD.state <> 'deleted'
        ELSE OLD.state || ' to ' || NEW.state
            IN ('staged to active', 'active to retired', 'retired to deleted')
    END
)
BEGIN
    SELECT RAISE(ABORT, 'a signing key moves from staged to active to retired to deleted, and times once set cannot change');
END;
CREATE TRIGGER signing_keys_stay BEFORE DELETE ON signing_keys
BEGIN
    SELECT RAISE(ABORT, 'rows of signing keys cannot be deleted');
END;

-- `public_id` is the id in the API; `id` orders payments with the same creation time. Amounts are in minor units of the
-- currency. No code sets the status `failed` yet. The constraints and triggers reject wrong amounts and transitions,
-- whatever their cause.
CREATE TABLE payments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    public_id TEXT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id),
    status TEXT NOT NULL CHECK (
        status IN ('created', 'captured', 'partially_refunded', 'refunded', 'canceled', 'failed')
    ),
    amount BIGINT NOT NULL CHECK (amount BETWEEN 1 AND 99999999999),
    amount_captured BIGINT NOT NULL,
    amount_refunded BIGINT NOT NULL,
    currency TEXT NOT NULL CHECK (length(currency) = 3 AND currency = upper(currency)),
    description TEXT,
    metadata TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    CONSTRAINT refunded_at_most_captured_at_most_amount CHECK (
        amount_captured BETWEEN 0 AND amount AND amount_refunded BETWEEN 0 AND amount_captured
    ),
    CONSTRAINT status_and_amounts_agree CHECK (
        CASE status
            WHEN 'captured' THEN amount_captured > 0 AND amount_refunded = 0
            WHEN 'partially_refunded' THEN amount_refunded > 0 AND amount_refunded < amount_captured
            WHEN 'refunded' THEN amount_captured > 0 AND amount_refunded = amount_captured
            ELSE amount_captured = 0 AND amount_refunded = 0
        END
    )
);
CREATE UNIQUE INDEX payments_public_id ON payments (public_id);
CREATE INDEX payments_user_created_at ON payments (user_id, created_at, id);

CREATE TRIGGER payments_begin BEFORE INSERT ON payments
WHEN NEW.status <> 'created'
BEGIN
    SELECT RAISE(ABORT, 'a new payment must have the status created');
END;
CREATE TRIGGER payments_move BEFORE UPDATE ON payments
WHEN NOT (
    NEW.id = OLD.id AND NEW.public_id = OLD.public_id AND NEW.user_id = OLD.user_id
    AND NEW.amount = OLD.amount AND NEW.currency = OLD.currency AND NEW.created_at = OLD.created_at
    AND NEW.description IS NOT DISTINCT FROM OLD.description AND NEW.metadata = OLD.metadata
    AND (OLD.status = 'created' OR NEW.amount_captured = OLD.amount_captured)
    AND NEW.amount_refunded >= OLD.amount_refunded
    AND OLD.status || ' to ' || NEW.status IN (
        'created to captured', 'created to canceled', 'created to failed',
        'captured to partially_refunded', 'captured to refunded',
        'partially_refunded to partially_refunded', 'partially_refunded to refunded'
    )
)
BEGIN
    SELECT RAISE(ABORT, 'a payment only moves forward, and its amount, currency and user cannot change');
END;
CREATE TRIGGER payments_stay BEFORE DELETE ON payments
BEGIN
    SELECT RAISE(ABORT, 'rows of payments cannot be deleted');
END;

-- The successful writes with an Idempotency-Key, each stored in the transaction of its write. `id` is the SHA-256 of the user,
-- the client, the method, the path and the key; `fingerprint` is that of the request body. `receipt` is what the response says beyond the
-- request, so that a repeated request gets the same response.
CREATE TABLE idempotency_keys (
    id BLOB PRIMARY KEY NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id),
    fingerprint BLOB NOT NULL,
    receipt TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX idempotency_keys_user_id ON idempotency_keys (user_id);
CREATE INDEX idempotency_keys_expires_at ON idempotency_keys ((expires_at + 0));

-- The number of bytes that each user stores in posts, comments, payments and idempotency keys: those of the texts, and 512 for each row
-- with its index entries. Triggers count them in the statement that writes, whatever it is. A deleted post or comment keeps its row.
CREATE TABLE storage_use (
    user_id BIGINT PRIMARY KEY NOT NULL REFERENCES users (id),
    bytes BIGINT NOT NULL
);
CREATE TRIGGER users_storage_use AFTER INSERT ON users
BEGIN
    INSERT INTO storage_use (user_id, bytes) VALUES (NEW.id, 0);
END;

CREATE TRIGGER posts_count_new AFTER INSERT ON posts
BEGIN
    UPDATE storage_use SET bytes = bytes + 512 + octet_length(NEW.title) + octet_length(NEW.body)
    WHERE user_id = NEW.author_id;
END;
CREATE TRIGGER posts_count_changed AFTER UPDATE OF title, body ON posts
BEGIN
    UPDATE storage_use SET bytes = bytes + octet_length(NEW.title) + octet_length(NEW.body)
                                   - octet_length(OLD.title) - octet_length(OLD.body)
    WHERE user_id = NEW.author_id;
END;

CREATE TRIGGER comments_count_new AFTER INSERT ON comments
BEGIN
    UPDATE storage_use SET bytes = bytes + 512 + octet_length(NEW.body) WHERE user_id = NEW.author_id;
END;
CREATE TRIGGER comments_count_changed AFTER UPDATE OF body ON comments
BEGIN
    UPDATE storage_use SET bytes = bytes + octet_length(NEW.body) - octet_length(OLD.body)
    WHERE user_id = NEW.author_id;
END;

-- The texts of a payment never change, and a payment stays.
CREATE TRIGGER payments_count_new AFTER INSERT ON payments
BEGIN
    UPDATE storage_use SET bytes = bytes + 512 + COALESCE(octet_length(NEW.description), 0) + octet_length(NEW.metadata)
    WHERE user_id = NEW.user_id;
END;

-- Receipts have a small bounded size.
CREATE TRIGGER idempotency_keys_count_new AFTER INSERT ON idempotency_keys
BEGIN
    UPDATE storage_use SET bytes = bytes + 512 WHERE user_id = NEW.user_id;
END;
CREATE TRIGGER idempotency_keys_count_deleted AFTER DELETE ON idempotency_keys
BEGIN
    UPDATE storage_use SET bytes = bytes - 512 WHERE user_id = OLD.user_id;
END;

-- `user_id` is the user whom the event concerns, `administrator_id` the one whose request at `/admin/…` caused it.
-- `count` is the number of events for which the row stands, of which it describes the last. For a deleted account, a negative
-- pseudonym replaces the id, and a label of each network replaces `address` and `network`.
CREATE TABLE security_events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at BIGINT NOT NULL,
    name TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('success', 'failure')),
    user_id BIGINT,
    client_id TEXT,
    administrator_id BIGINT,
    address TEXT,
    network TEXT,
    trace_id TEXT NOT NULL,
    detail TEXT,
    count BIGINT NOT NULL DEFAULT 1 CHECK (count > 0)
);
CREATE INDEX security_events_at ON security_events (at, id);
CREATE INDEX security_events_name ON security_events (name, at, id);
CREATE INDEX security_events_user_id ON security_events (user_id, at, id);
CREATE INDEX security_events_administrator_id ON security_events (administrator_id, at, id)
    WHERE administrator_id IS NOT NULL;
CREATE INDEX security_events_client_id ON security_events (client_id, at, id) WHERE client_id IS NOT NULL;
CREATE INDEX security_events_address ON security_events (address, at, id) WHERE address IS NOT NULL;
CREATE INDEX security_events_trace_id ON security_events (trace_id, at, id);
CREATE INDEX security_events_outcome ON security_events (outcome, at, id);
-- PostgreSQL refuses a row with a value that is too long for an index.
CREATE INDEX security_events_detail ON security_events (detail, at, id) WHERE length(detail) <= 500;

-- Deleted accounts whose id is still in `security_events`, because they have more events than the deletion itself changes.
CREATE TABLE unfinished_pseudonyms (
    user_id BIGINT PRIMARY KEY,
    pseudonym BIGINT NOT NULL
);

-- Deleted accounts of which posts and replies under idempotency keys remain, because they have more than the deletion itself erases.
CREATE TABLE unfinished_erasures (
    user_id BIGINT PRIMARY KEY
);

-- The processes that delete or change many rows in batches, one for each task. A lease ends unless it is renewed.
-- It is empty on SQLite, where one process writes.
CREATE TABLE housekeeping_leases (
    task TEXT NOT NULL PRIMARY KEY,
    holder TEXT NOT NULL,
    ends_at BIGINT NOT NULL
);

-- Alerts for the operator, at most one for each kind, subject and period. `period` is the number of quarters of an hour
-- since 1970 UTC. `logged_at` is the time at which the alert was logged, `delivered_at` that of its delivery to the webhook.
CREATE TABLE alerts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    period BIGINT NOT NULL,
    user_id BIGINT,
    client_id TEXT,
    trace_id TEXT NOT NULL,
    detail TEXT,
    logged_at BIGINT,
    attempts BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    delivered_at BIGINT
);
CREATE UNIQUE INDEX alerts_once ON alerts (kind, subject, period);
CREATE INDEX alerts_at ON alerts (at);
CREATE INDEX alerts_user_id ON alerts (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX alerts_unlogged ON alerts (id) WHERE logged_at IS NULL;
CREATE INDEX alerts_undelivered ON alerts (due_at) WHERE delivered_at IS NULL;

-- The counts of all processes in the minute that begins at `at`. `lag_…` counts revocations by the time until they took effect in a process,
-- and `wait_…` passwords by the time for which they waited to be hashed: `lag_10ms` those of more than 5 and up to 10 ms.
CREATE TABLE figures (
    at BIGINT PRIMARY KEY NOT NULL,
    requests BIGINT NOT NULL DEFAULT 0,
    client_errors BIGINT NOT NULL DEFAULT 0,
    server_errors BIGINT NOT NULL DEFAULT 0,
    sign_ins BIGINT NOT NULL DEFAULT 0,
    failed_sign_ins BIGINT NOT NULL DEFAULT 0,
    code_grants BIGINT NOT NULL DEFAULT 0,
    refresh_grants BIGINT NOT NULL DEFAULT 0,
    service_grants BIGINT NOT NULL DEFAULT 0,
    device_grants BIGINT NOT NULL DEFAULT 0,
    reuse_alerts BIGINT NOT NULL DEFAULT 0,
    refused_hashes BIGINT NOT NULL DEFAULT 0,
    lag_5ms BIGINT NOT NULL DEFAULT 0,
    lag_10ms BIGINT NOT NULL DEFAULT 0,
    lag_25ms BIGINT NOT NULL DEFAULT 0,
    lag_50ms BIGINT NOT NULL DEFAULT 0,
    lag_100ms BIGINT NOT NULL DEFAULT 0,
    lag_250ms BIGINT NOT NULL DEFAULT 0,
    lag_500ms BIGINT NOT NULL DEFAULT 0,
    lag_1s BIGINT NOT NULL DEFAULT 0,
    lag_5s BIGINT NOT NULL DEFAULT 0,
    lag_longer BIGINT NOT NULL DEFAULT 0,
    wait_5ms BIGINT NOT NULL DEFAULT 0,
    wait_10ms BIGINT NOT NULL DEFAULT 0,
    wait_25ms BIGINT NOT NULL DEFAULT 0,
    wait_50ms BIGINT NOT NULL DEFAULT 0,
    wait_100ms BIGINT NOT NULL DEFAULT 0,
    wait_250ms BIGINT NOT NULL DEFAULT 0,
    wait_500ms BIGINT NOT NULL DEFAULT 0,
    wait_1s BIGINT NOT NULL DEFAULT 0,
    wait_5s BIGINT NOT NULL DEFAULT 0,
    wait_longer BIGINT NOT NULL DEFAULT 0
);

-- The number of access tokens that the key `kid` has signed and that expire within the minute before `expires_at`.
CREATE TABLE live_tokens (
    expires_at BIGINT NOT NULL,
    kid TEXT NOT NULL,
    tokens BIGINT NOT NULL,
    PRIMARY KEY (expires_at, kid)
);
