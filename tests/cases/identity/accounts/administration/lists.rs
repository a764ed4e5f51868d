//! The list of the users, and the events by administrator.

use super::{USERS, path};
use serde_json::{Value, json};
use tests::{User, World, cursor, items, on_every_shape};

async fn list(admin: &User, query: &str) -> Vec<Value> {
    items(&admin.get(&format!("{USERS}{query}")).await.expect(200))
}

async fn lists_are_those_of_the_shell(world: World) {
    let admin = world.user_with_role("admin").await;
    let mut users = Vec::new();
    for n in 0..22 {
        let (email, role) = (world.fresh_email(), ["user", "editor", "admin"][n % 3]);
        let body = json!({ "email": email, "role": role, "password": "correct horse" });
        users.push(admin.post(USERS).json(&body).await.expect(201).json());
    }
    for user in &users[..8] {
        let path = format!("{USERS}/{}/disablements", user["id"]);
        admin.post(&path).await.expect(200);
    }
    let expected = world.cli(&["users", "list", "--json"], "");
    let expected = expected.as_array().unwrap();
    let first = admin.get(USERS).await.expect(200);
    let next = first.json()["links"]["next"].as_str().unwrap().to_owned();
    let twentieth = &expected[19];
    assert_eq!(
        first.json()["next"],
        cursor(&twentieth["created_at"], &twentieth["id"])
    );
    let second = admin.get(&next).await.expect(200);
    assert_eq!(second.json()["next"], json!(null));
    assert_eq!(second.json()["links"]["next"], json!(null));
    assert_eq!(&[items(&first), items(&second)].concat(), expected);
    let matching = |role: &str, disabled: Option<bool>| -> Vec<Value> {
        let is_listed = |user: &&Value| {
            (role.is_empty() || user["role"] == role)
                && disabled.is_none_or(|disabled| user["disabled_at"].is_string() == disabled)
        };
        expected.iter().filter(is_listed).take(20).cloned().collect()
    };
    for (query, expected) in [
        ("?disabled=true", matching("", Some(true))),
        ("?disabled=false", matching("", Some(false))),
        ("?role=editor", matching("editor", None)),
        ("?role=admin&disabled=true", matching("admin", Some(true))),
        ("?role=user&disabled=false", matching("user", Some(false))),
    ] {
        assert!(expected.len() > 1, "{query}");
        assert_eq!(list(&admin, query).await, expected, "{query}");
    }
    let of_first = items(&first);
    for ignored in [
        "?role=root",
        "?disabled=1",
        "?cursor=%00",
        "?cursor=x",
        "?email=nobody",
        "?unknown=1",
    ] {
        assert_eq!(list(&admin, ignored).await, of_first, "{ignored}");
    }
}

async fn users_are_found_by_their_address(world: World) {
    let (ann, admin) = (world.user().await, world.user_with_role("admin").await);
    let expected = [admin.get(&path(&ann)).await.expect(200).json()];
    for email in [ann.email.clone(), ann.email.to_uppercase()] {
        for (query, is_found) in [
            ("", true),
            ("&role=user&disabled=false", true),
            ("&role=editor", false),
            ("&disabled=true", false),
        ] {
            let found = list(&admin, &format!("?email={email}{query}")).await;
            assert_eq!(found.as_slice(), &expected[..usize::from(is_found)], "{query}");
        }
        let cursor = cursor(&expected[0]["created_at"], &expected[0]["id"]);
        let after = format!("?email={email}&cursor={cursor}");
        assert!(list(&admin, &after).await.is_empty());
    }
    assert!(list(&admin, "?email=nobody@example.org").await.is_empty());
    ann.call("DELETE", "/me")
        .json(&json!({ "password": tests::PASSWORD }))
        .await
        .expect(204);
    let read = admin.get(&path(&ann)).await;
    read.expect_error(404, "not_found");
    assert!(list(&admin, "").await.iter().all(|user| user["id"] != ann.id));
}

async fn the_link_to_the_next_page_keeps_the_filters(world: World) {
    let admin = world.user_with_role("admin").await;
    for _ in 0..21 {
        let body = json!({ "email": world.fresh_email(), "role": "editor", "password": "correct horse" });
        admin.post(USERS).json(&body).await.expect(201);
    }
    let first = admin
        .get(&format!("{USERS}?role=editor&disabled=false&x=1"))
        .await;
    let next = first.expect(200).json()["links"]["next"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(next.contains("?role=editor&disabled=false&cursor="), "{next}");
    let second = items(&admin.get(&next).await.expect(200));
    assert_eq!(second.len(), 1);
    assert_eq!(second[0]["role"], "editor");
}

async fn events_are_listed_by_administrator(world: World) {
    let (first, second) = (
        world.user_with_role("admin").await,
        world.user_with_role("admin").await,
    );
    let (ann, bob) = (world.user().await, world.user().await);
    for (admin, user) in [(&first, &ann), (&first, &bob), (&second, &ann)] {
        admin
            .post(&format!("{}/disablements", path(user)))
            .await
            .expect(200);
    }
    let events = async |query: &str| {
        let page = first.get(&format!("/admin/events?{query}")).await.expect(200);
        let name_and_user = |event: &Value| (event["name"].clone(), event["user_id"].clone());
        items(&page).iter().map(name_and_user).collect::<Vec<_>>()
    };
    let disabled = |user: &User| (json!("user_disabled"), json!(user.id));
    let by_first = format!("administrator_id={}", first.id);
    assert_eq!(events(&by_first).await, [disabled(&bob), disabled(&ann)]);
    assert_eq!(
        events(&format!("{by_first}&user_id={}", ann.id)).await,
        [disabled(&ann)]
    );
    assert_eq!(events(&format!("{by_first}&name=user_enabled")).await, []);
    // The user was disabled already.
    assert_eq!(events(&format!("administrator_id={}", second.id)).await, []);
    let args = [
        "events",
        "list",
        "--administrator",
        &first.id.to_string(),
        "--json",
    ];
    assert_eq!(world.cli(&args, "").as_array().unwrap().len(), 2);
}

on_every_shape!(
    lists_are_those_of_the_shell,
    users_are_found_by_their_address,
    the_link_to_the_next_page_keeps_the_filters,
    events_are_listed_by_administrator,
);
