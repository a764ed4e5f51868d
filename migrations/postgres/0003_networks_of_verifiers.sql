-- The network of a client that fetched the key set, by which the clients are counted. Without one, its address is the network.
ALTER TABLE verifiers ADD COLUMN network TEXT;
DO $$
BEGIN
    GRANT UPDATE (network) ON verifiers TO latchkey_api;
EXCEPTION
    WHEN undefined_object OR insufficient_privilege THEN
        RAISE NOTICE 'role latchkey_api may not store the networks of verifiers: create it and run the grants of 0001_initial.sql and 0003_networks_of_verifiers.sql';
END
$$;
