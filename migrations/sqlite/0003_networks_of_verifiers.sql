-- The network of a client that fetched the key set, by which the clients are counted. Without one, its address is the network.
ALTER TABLE verifiers ADD COLUMN network TEXT;
