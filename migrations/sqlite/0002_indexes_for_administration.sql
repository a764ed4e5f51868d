-- Indexes for the pages and the lists of administrators.

-- The refresh families that end with an app.
CREATE INDEX refresh_families_client_id ON refresh_families (client_id, client_epoch) WHERE revoked_at IS NULL;

-- The filters of the list of apps. Few apps are the operator's, and few are disabled.
CREATE INDEX clients_type ON clients (type, id);
CREATE INDEX clients_first_party ON clients (id) WHERE first_party;
CREATE INDEX clients_first_party_type ON clients (type, id) WHERE first_party;
CREATE INDEX clients_disabled ON clients (id) WHERE disabled_at IS NOT NULL;
CREATE INDEX clients_disabled_type ON clients (type, id) WHERE disabled_at IS NOT NULL;

-- The search for apps by the beginning of their names, in any case of the letters A to Z.
CREATE INDEX clients_name ON clients (lower(name), id);
