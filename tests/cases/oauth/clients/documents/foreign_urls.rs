//! Ids that would make the issuer call its own network (server-side request forgery).

use super::super::assertions::foreign_urls::{in_production, probes};
use super::{FLAG, app_at};
use tests::{Sentinel, Shape, World, on_every_shape};

/// With [`probes`], these make over thirty.
fn further_probes(port: u16) -> Vec<(String, Option<&'static str>)> {
    vec![
        (
            format!("https://[::ffff:169.254.169.254]:{port}/"),
            Some("not a public address"),
        ),
        (format!("https://[fe80::1]:{port}/"), Some("not a public address")),
        (
            format!("https://168.63.129.16:{port}/"),
            Some("not a public address"),
        ),
        (
            format!("https://localhost:{port}/a/../client.json"),
            Some("normal form"),
        ),
        (format!("https://localhost:{port}/client.json#"), Some("fragment")),
    ]
}

async fn in_production_no_client_id_leads_to_the_network_of_the_issuer(shape: Shape) {
    let world: World = in_production(shape, &[(FLAG, "any")]).await;
    let (user, sentinel) = (world.user().await, Sentinel::start());
    let probes = [probes(sentinel.port), further_probes(sentinel.port)].concat();
    assert!(probes.len() >= 30, "{}", probes.len());
    for (url, refused) in probes {
        let request = app_at(&url).authorization();
        let mut browser = user.browser();
        let mut page = browser.open(&request.path()).await;
        if let Some(next) = page.location() {
            assert_eq!(next.path(), "/consent", "{url}");
            page = browser.open(next.as_str()).await;
        }
        assert_eq!(page.reply.status, 400, "{url}: {}", page.reply);
        let text = page.visible_text();
        // Names are resolved when the document is needed. Some are not in their normal form.
        let reasons = [
            refused.unwrap_or("no address, or one that is not public"),
            "normal form",
        ];
        assert!(
            reasons.iter().any(|reason| text.contains(reason)),
            "{url}: {text}"
        );
        sentinel.expect_no_connection();
    }
}

on_every_shape!(in_production_no_client_id_leads_to_the_network_of_the_issuer);
