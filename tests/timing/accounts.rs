//! Accounts that are inserted directly, because creating many by the program would take minutes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use storage::execute;
use tests::World;

/// Inserts accounts with these addresses and stored password hashes.
pub(super) async fn insert_accounts(world: &World, accounts: impl IntoIterator<Item = (String, String)>) {
    let insert = "INSERT INTO users (email, email_key, email_verified, role, password_hash, epoch,
                                     password_change_required, created_at, updated_at)
                  VALUES ($1, $1, TRUE, 'user', $2, 1, FALSE, $3, $3)";
    let now = world.now();
    let db = world.db().await;
    let mut tx = db.begin().await.unwrap();
    for (email, hash) in accounts {
        execute!(tx.on(), insert, email, hash, now).unwrap();
    }
    tx.commit().await.unwrap();
}

/// Returns an Argon2id hash that no password matches, of this memory, in KiB, and this number of passes. Each
/// has a salt of its own, because Argon2id reads its memory in an order that depends on the salt, and some
/// orders are slower.
pub(super) fn unmatched_hash(memory: u32, passes: u32) -> String {
    let encode = |bytes: &[u8]| STANDARD_NO_PAD.encode(bytes);
    let (salt, output): ([u8; 16], [u8; 32]) = (foundation::random::bytes(), foundation::random::bytes());
    format!(
        "$argon2id$v=19$m={memory},t={passes},p=1${}${}",
        encode(&salt),
        encode(&output)
    )
}
