-- Indexes for the pages and the lists of administrators.

-- The refresh families that end with an app.
CREATE INDEX refresh_families_client_id ON refresh_families (client_id, client_epoch) WHERE revoked_at IS NULL;
