-- Indexes for the pages and the lists of administrators.

-- The refresh families that end with an app.
CREATE INDEX refresh_families_client_id ON refresh_families (client_id, client_epoch) WHERE revoked_at IS NULL;

-- The filters of the list of apps. Few apps are the operator's, and few are disabled.
CREATE INDEX clients_type ON clients (type, id);
-- If the sample of the planner has no app of a rare type, a prepared statement reads all apps in the order of their ids
-- to find some. This sample has 300,000 rows.
ALTER TABLE clients ALTER COLUMN type SET STATISTICS 1000;
CREATE INDEX clients_first_party ON clients (id) WHERE first_party;
CREATE INDEX clients_first_party_type ON clients (type, id) WHERE first_party;
CREATE INDEX clients_disabled ON clients (id) WHERE disabled_at IS NOT NULL;
CREATE INDEX clients_disabled_type ON clients (type, id) WHERE disabled_at IS NOT NULL;

-- The search for apps by the beginning of their names, in any case of the letters A to Z, and for users by that of their
-- addresses.
ALTER TABLE clients ALTER COLUMN name TYPE TEXT COLLATE "C";
ALTER TABLE users ALTER COLUMN email_key TYPE TEXT COLLATE "C";
CREATE INDEX clients_name ON clients (lower(name), id);

-- The histories of accounts and apps: the events that are changes of them. The condition is that of the statements.
CREATE INDEX security_events_user_changes ON security_events (user_id, at, id)
    WHERE name = 'user_created' OR name = 'user_disabled' OR name = 'user_enabled'
       OR name = 'privilege_permissions_changed' OR name = 'authn_password_change' OR name = 'authn_password_reset'
       OR name = 'authn_password_removed' OR name = 'authn_mfa_enabled' OR name = 'authn_mfa_disabled'
       OR name = 'authn_passkey_added' OR name = 'authn_passkey_removed' OR name = 'authn_email_verified'
       OR name = 'authn_email_change' OR name = 'authn_login_unlock' OR name = 'client_created'
       OR name = 'client_updated' OR name = 'client_secret_rotated' OR name = 'client_disabled'
       OR name = 'client_enabled' OR name = 'authn_recovery_codes_renewed';
CREATE INDEX security_events_client_changes ON security_events (client_id, at, id)
    WHERE name = 'user_created' OR name = 'user_disabled' OR name = 'user_enabled'
       OR name = 'privilege_permissions_changed' OR name = 'authn_password_change' OR name = 'authn_password_reset'
       OR name = 'authn_password_removed' OR name = 'authn_mfa_enabled' OR name = 'authn_mfa_disabled'
       OR name = 'authn_passkey_added' OR name = 'authn_passkey_removed' OR name = 'authn_email_verified'
       OR name = 'authn_email_change' OR name = 'authn_login_unlock' OR name = 'client_created'
       OR name = 'client_updated' OR name = 'client_secret_rotated' OR name = 'client_disabled'
       OR name = 'client_enabled' OR name = 'authn_recovery_codes_renewed';
