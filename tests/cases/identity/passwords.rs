//! Passwords: the policy, imported hashes, and the limits of hashing costs.

mod load;

use serde_json::json;
use storage::fetch_one;
use tests::{PASSWORD, Shape, SharedWorld, World, on_every_shape};

/// The bcrypt hash of [`PASSWORD`], made by crypt(3).
const BCRYPT: &str = "$2b$04$abcdefghijklmnopqrstuu7EJV7kdjBBQxyb0HjTh9KS7.Lah/6CG";

/// The bcrypt hash of every password that begins with 72 times the letter a, made by crypt(3).
const BCRYPT_OF_LONG: &str = "$2b$04$abcdefghijklmnopqrstuuBzzIgyKkz7xMWYSzkIjUSnxEQFQ0WNe";

const COMMON: [&str; 12] = [
    "password",
    "Password1",
    "12345678",
    "qwertyuiop",
    "iloveyou2",
    "aaaaaaaaaa",
    "latchkey",
    "Latchkey1",
    "Summer2024",
    "!!dragon!",
    "abcdefgh",
    "87654321",
];

async fn common_passwords_are_rejected_everywhere(world: SharedWorld) {
    let ann = world.sign_up().await;
    for password in COMMON {
        let sign_up = json!({ "email": world.fresh_email(), "password": password });
        let refused = world.anyone().post("/users").json(&sign_up).await;
        let refused = refused.expect_validation_errors(&["/password"]);
        assert!(refused.text().contains("harder to guess"), "{refused}");
        let change = json!({ "current_password": PASSWORD, "new_password": password });
        let refused = ann.call("PUT", "/me/password").json(&change).await;
        refused.expect_validation_errors(&["/new_password"]);
    }
    let local = "annabelle.lee.of.example";
    let own = [
        local.to_owned(),
        local.to_uppercase(),
        format!("{local}@example.org"),
    ];
    for password in own {
        let sign_up = json!({ "email": format!("{local}@example.org"), "password": password });
        world
            .anyone()
            .post("/users")
            .json(&sign_up)
            .await
            .expect_validation_errors(&["/password"]);
    }
    let args = [
        "users",
        "create",
        "--email",
        "x@example.org",
        "--password-stdin",
        "--json",
    ];
    let refused = world.run(&args, "password1");
    assert!(
        !refused.status.success() && refused.stdout.is_empty(),
        "{refused:?}"
    );
    let mut browser = ann.browser();
    let page = browser.open("/password").await;
    let answer = browser.submit(&page, &[("new_password", "password1")]).await;
    assert_eq!(answer.reply.status, 422, "{}", answer.reply);
    assert!(
        answer.visible_text().contains("Choose another password"),
        "{}",
        answer.reply
    );
}

async fn huge_passwords_are_rejected_before_hashing(world: SharedWorld) {
    let ann = world.sign_up().await;
    let megabyte = "x".repeat(1024 * 1024);
    let body = json!({ "email": world.fresh_email(), "password": megabyte }).to_string();
    let refused = world.anyone().post("/users").body("application/json", body).await;
    refused.expect_error(413, "payload_too_large");
    let body = json!({ "email": ann.email, "password": "x".repeat(60_000) }).to_string();
    let refused = world.anyone().post("/login").body("application/json", body).await;
    refused.expect_validation_errors(&["/password"]);
}

async fn bcrypt_hashes_sign_in_and_are_replaced(shape: Shape) {
    let world = World::builder(shape).flag("--argon2-permits", "1").start().await;
    let stored = async |email: &str| {
        let query = "SELECT password_hash FROM users WHERE email = $1";
        fetch_one!(world.db().await.reader(), (String,), query, email)
            .unwrap()
            .0
    };
    for (n, version) in ["$2a$", "$2b$", "$2y$"].into_iter().enumerate() {
        let email = format!("imported{n}@example.org");
        let args = [
            "users",
            "create",
            "--email",
            &email,
            "--password-hash-stdin",
            "--json",
        ];
        let made = world.cli(&args, &BCRYPT.replacen("$2b$", version, 1));
        assert!(made["initial_password"].is_null(), "{made}");
        assert!(stored(&email).await.starts_with(version));
        let wrong = json!({ "email": email, "password": "not the password" });
        world.anyone().post("/login").json(&wrong).await.expect(401);
        assert!(stored(&email).await.starts_with(version));
        let ann = world.log_in(&email, PASSWORD).await;
        ann.get("/me").await.expect(200);
        assert!(
            stored(&email)
                .await
                .starts_with("$argon2id$v=19$m=19456,t=2,p=1$")
        );
        world.log_in(&email, PASSWORD).await;
    }
}

/// bcrypt compares 72 bytes. A new hash of a longer password would include an end that was never compared.
async fn the_hash_of_a_password_that_bcrypt_cuts_is_not_replaced(shape: Shape) {
    let world = World::start(shape).await;
    let db = world.db().await;
    let email = "long@example.org";
    let stored = async || {
        let (hash,) = fetch_one!(
            db.reader(),
            (String,),
            "SELECT password_hash FROM users WHERE email_key = $1",
            email
        )
        .unwrap();
        hash
    };
    let args = [
        "users",
        "create",
        "--email",
        email,
        "--password-hash-stdin",
        "--json",
    ];
    world.cli(&args, BCRYPT_OF_LONG);
    world.log_in(email, &"a".repeat(80)).await;
    assert_eq!(stored().await, BCRYPT_OF_LONG);
    world.log_in(email, &"a".repeat(72)).await;
    assert!(stored().await.starts_with("$argon2id$"));
}

async fn malformed_and_too_costly_hashes_are_rejected(world: SharedWorld) {
    let args = [
        "users",
        "create",
        "--email",
        "x@example.org",
        "--password-hash-stdin",
        "--json",
    ];
    for hash in [
        "",
        PASSWORD,
        &BCRYPT.replacen("$04$", "$20$", 1),
        &BCRYPT.replacen("$2b$", "$1$", 1),
    ] {
        let refused = world.run(&args, hash);
        assert_eq!(refused.status.code(), Some(64), "{hash}: {refused:?}");
    }
    let both = [&args[..], &["--password-stdin"]].concat();
    assert_eq!(world.run(&both, BCRYPT).status.code(), Some(64));
}

on_every_shape!(
    common_passwords_are_rejected_everywhere,
    huge_passwords_are_rejected_before_hashing,
    bcrypt_hashes_sign_in_and_are_replaced,
    the_hash_of_a_password_that_bcrypt_cuts_is_not_replaced,
    malformed_and_too_costly_hashes_are_rejected,
);
