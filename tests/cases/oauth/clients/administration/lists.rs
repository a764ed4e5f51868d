//! The list of the clients.

use super::LIST;
use serde_json::{Value, json};
use tests::{World, items, on_every_shape};

async fn lists_are_those_of_the_shell(world: World) {
    let admin = world.user_with_role("admin").await;
    for n in 0..21 {
        let app = world.app().kind(["spa", "web", "native"][n % 3]);
        let app = if n < 5 { app.first_party() } else { app }.register();
        if n % 4 == 0 {
            world.cli(&["clients", "disable", &app.id, "--json"], "");
        }
    }
    let expected = world.cli(&["clients", "list", "--json"], "");
    let expected = expected.as_array().unwrap();
    let first = admin.get(LIST).await.expect(200);
    let next = first.json()["links"]["next"].as_str().unwrap().to_owned();
    assert_eq!(first.json()["next"], expected[19]["id"]);
    let second = admin.get(&next).await.expect(200);
    assert_eq!(second.json()["next"], json!(null));
    assert_eq!(second.json()["links"]["next"], json!(null));
    assert_eq!(&[items(&first), items(&second)].concat(), expected);
    for (query, member, value) in [
        ("type=web", "type", json!("web")),
        ("first_party=true", "first_party", json!(true)),
    ] {
        let filtered = items(&admin.get(&format!("{LIST}?{query}")).await.expect(200));
        let matching = expected.iter().filter(|client| client[member] == value);
        assert_eq!(filtered, matching.cloned().collect::<Vec<_>>(), "{query}");
        assert!(filtered.len() > 4, "{query}");
    }
    for (disabled, is_disabled) in [("true", true), ("false", false)] {
        let filtered = admin
            .get(&format!("{LIST}?disabled={disabled}"))
            .await
            .expect(200);
        let matching = expected
            .iter()
            .filter(|client| client["disabled_at"].is_string() == is_disabled);
        assert_eq!(
            items(&filtered),
            matching.cloned().collect::<Vec<_>>(),
            "{disabled}"
        );
        assert!(items(&filtered).len() > 4, "{disabled}");
    }
    let all = admin.get(&format!(
        "{LIST}?type=spa&first_party=false&disabled=true&cursor=app-"
    ));
    let all = items(&all.await.expect(200));
    assert!(!all.is_empty());
    for client in all {
        assert_eq!(
            (&client["type"], &client["first_party"]),
            (&json!("spa"), &json!(false))
        );
        assert!(client["disabled_at"].is_string(), "{client}");
    }
    for ignored in [
        "?type=SPA",
        "?first_party=1",
        "?disabled=yes",
        "?cursor=%00",
        "?unknown=1",
    ] {
        let read = admin.get(&format!("{LIST}{ignored}")).await.expect(200);
        assert_eq!(items(&read), items(&first), "{ignored}");
    }
}

async fn the_link_to_the_next_page_keeps_the_filters(world: World) {
    let admin = world.user_with_role("admin").await;
    for _ in 0..21 {
        world.app().kind("native").register();
    }
    world.app().kind("web").register();
    let first = admin
        .get(&format!("{LIST}?type=native&first_party=false&x=1"))
        .await;
    let next = first.expect(200).json()["links"]["next"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(next.contains("?type=native&first_party=false&cursor="), "{next}");
    let second = items(&admin.get(&next).await.expect(200));
    assert_eq!(second.len(), 1);
    assert_eq!(second[0]["type"], "native");
}

async fn clients_are_found_by_id_and_by_the_beginning_of_their_name(world: World) {
    let admin = world.user_with_role("admin").await;
    let mut names = Vec::new();
    for n in 0..21 {
        let app = world.app().register();
        let name = format!("{} {n:02}", ["ZEBRA", "Zebra"][n % 2]);
        let renamed = json!({ "name": name });
        admin
            .patch(&format!("{LIST}/{}", app.id))
            .json(&renamed)
            .await
            .expect(200);
        names.push(json!(name));
    }
    let other = world.app().register();
    let named = |list: &[Value]| -> Vec<Value> { list.iter().map(|client| client["name"].clone()).collect() };
    let first = admin.get(&format!("{LIST}?search=+zEBRA")).await.expect(200);
    assert_eq!(named(&items(&first)), names[..20]);
    let next = first.json()["links"]["next"].as_str().unwrap().to_owned();
    assert_eq!(named(&items(&admin.get(&next).await.expect(200))), names[20..]);
    let last = admin
        .get(&format!("{LIST}?search=zebra&order=desc"))
        .await
        .expect(200);
    assert_eq!(items(&last)[0]["name"], names[20]);
    let one = admin
        .get(&format!("{LIST}?search={}", other.id))
        .await
        .expect(200);
    assert_eq!(items(&one).len(), 1, "{one}");
    for query in ["search=zebra%25", "search=ebra", "search=zebra&type=service"] {
        let none = admin.get(&format!("{LIST}?{query}")).await.expect(200);
        assert!(items(&none).is_empty(), "{query}: {none}");
    }
}

on_every_shape!(
    lists_are_those_of_the_shell,
    the_link_to_the_next_page_keeps_the_filters,
    clients_are_found_by_id_and_by_the_beginning_of_their_name,
);
