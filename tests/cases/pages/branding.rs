//! The name, the logo, the color and the links that an operator sets.

use tests::{Shape, SharedWorld, World, on_every_shape};
use url::Url;

const SVG: &str = r#"<svg xmlns="http://www.w3.org/2000/svg"/>"#;

async fn an_operator_brands_the_pages(shape: Shape) {
    let dir = tempfile::tempdir().unwrap();
    let logo = dir.path().join("logo.svg");
    std::fs::write(&logo, SVG).unwrap();
    let world = World::builder(shape)
        .flag("--brand-name", "Example & Co")
        .flag("--brand-logo", logo.to_str().unwrap())
        .flag("--brand-accent", "#ffe000")
        .flag("--help-url", "https://example.org/help")
        .flag("--terms-url", "https://example.org/terms")
        .flag("--privacy-url", "https://example.org/privacy")
        .start()
        .await;
    let mut browser = world.browser();
    for path in ["/signin", "/signup", "/forgot", "/authorize"] {
        let page = browser.open(path).await;
        let text = page.visible_text();
        assert!(
            text.contains("Example & Co") && !text.contains("Latchkey"),
            "{}",
            page.reply
        );
        let links: Vec<String> = page.links().iter().map(ToString::to_string).collect();
        for link in ["help", "terms", "privacy"] {
            let link = format!("https://example.org/{link}");
            assert!(links.contains(&link), "{path}: {links:?}");
        }
    }
    let sign_up = browser.open("/signup").await;
    assert!(
        sign_up.visible_text().contains("you accept the terms"),
        "{}",
        sign_up.reply
    );
    let asset = |beginning: &str| {
        let html = sign_up.reply.text();
        let (_, path) = html.split_once(beginning).unwrap();
        path.split('"').next().unwrap().to_owned()
    };
    let shown = world.anyone().get(&asset("<img src=\"")).await.expect(200);
    assert_eq!(
        (shown.header("content-type"), shown.text().as_str()),
        ("image/svg+xml", SVG)
    );
    let policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
    assert_eq!(shown.header("content-security-policy"), policy, "{shown}");
    let stylesheet = world
        .anyone()
        .get(&asset("<link rel=\"stylesheet\" href=\""))
        .await
        .expect(200);
    assert!(
        stylesheet.header("cache-control").contains("immutable"),
        "{stylesheet}"
    );
    // A replica with another stylesheet would be asked for this one while replicas are replaced.
    let other = world
        .anyone()
        .get("/assets/latchkey.css?v=another")
        .await
        .expect(200);
    assert!(!other.header("cache-control").contains("immutable"), "{other}");
    // Yellow text is not readable on white, so it is darker there; on the dark card it is as it was set.
    let css = stylesheet.text();
    let (_, accent) = css.split_once("--accent: light-dark(").unwrap();
    let (light, dark) = accent.split(')').next().unwrap().split_once(", ").unwrap();
    assert!(light != "#ffe000" && dark == "#ffe000", "{light} {dark}");
}

async fn pages_without_branding_have_neither_logo_nor_links(world: SharedWorld) {
    let page = world.browser().open("/signup").await;
    assert!(page.visible_text().contains("Latchkey"), "{}", page.reply);
    let html = page.reply.text();
    assert!(!html.contains("<img"), "{html}");
    let is_own = |link: &Url| link.origin() == page.url.origin();
    assert!(page.links().iter().all(is_own), "{html}");
    assert!(
        !page.visible_text().contains("you accept the terms"),
        "{}",
        page.reply
    );
    world.anyone().get("/assets/logo").await.expect(404);
    for asset in ["latchkey.css", "pages.js", "passkeys.js", "events.js", "icon.svg"] {
        let asset = world.anyone().get(&format!("/assets/{asset}")).await.expect(200);
        let policy = asset.header("content-security-policy");
        assert_eq!(policy, "default-src 'none'; sandbox", "{asset}");
    }
}

async fn unusable_branding_is_refused_at_the_start(world: SharedWorld) {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (text, large) = (file("text", b"no image"), file("large", &[b' '; 65_537]));
    let missing = dir.path().join("missing").to_str().unwrap().to_owned();
    for (flag, value, reason) in [
        ("--brand-name", " ", "1 to 60 characters"),
        ("--brand-logo", text.as_str(), "no SVG, PNG or WebP image"),
        ("--brand-logo", &large, "larger than 64 KiB"),
        ("--brand-logo", &missing, "No such file"),
        ("--brand-accent", "red", "six hexadecimal digits"),
        ("--help-url", "ftp://example.org", "https:// or http://"),
        ("--terms-url", "javascript:alert(1)", "https:// or http://"),
        ("--privacy-url", "nowhere", "no URL"),
    ] {
        let output = world.run(&[flag, value], "");
        assert_eq!(output.status.code(), Some(64), "{flag} {value}: {output:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(reason), "{flag} {value}: {stderr}");
    }
}

on_every_shape!(
    an_operator_brands_the_pages,
    pages_without_branding_have_neither_logo_nor_links,
    unusable_branding_is_refused_at_the_start,
);
