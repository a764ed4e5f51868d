-- The database, the login of the issuer, which owns it, and that of the API, with the passwords in their URLs.
-- The image of PostgreSQL runs this as the superuser when its volume is empty, see compose.yaml.
\set issuer_password `cut -d : -f 3 /run/secrets/issuer-database-url | cut -d @ -f 1`
\set api_password `cut -d : -f 3 /run/secrets/api-database-url | cut -d @ -f 1`
CREATE ROLE issuer LOGIN PASSWORD :'issuer_password';
CREATE ROLE latchkey_api NOLOGIN;
CREATE ROLE api LOGIN PASSWORD :'api_password' IN ROLE latchkey_api;
CREATE DATABASE latchkey OWNER issuer;
REVOKE CONNECT ON DATABASE latchkey FROM PUBLIC;
GRANT CONNECT ON DATABASE latchkey TO latchkey_api;
