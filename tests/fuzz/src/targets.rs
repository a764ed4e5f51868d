//! The targets, one in each file. Its function `check` takes any input and panics if the parser violates a
//! property.

/// Declares the modules and the table of the targets.
macro_rules! targets {
    ($($name:ident),+ $(,)?) => {
        $(mod $name;)+

        /// The names of the targets and their functions.
        pub const TARGETS: &[(&str, fn(&[u8]))] = &[$((stringify!($name), $name::check)),+];
    };
}

targets! {
    accept,
    access_token,
    bearer,
    client_assertion,
    client_document,
    client_id_url,
    client_keys,
    client_metadata,
    content_type,
    cookies,
    cursor,
    dpop_proof,
    email,
    entity_tags,
    foreign_url,
    form,
    forwarded_for,
    host,
    id,
    idempotency_key,
    issuer_keys,
    json,
    list_query,
    passkey_attestation,
    pkce,
    presented_redirect_uri,
    redirect_uri,
    refresh_token,
    scope,
    timestamp,
    webhook,
    user_code,
}
