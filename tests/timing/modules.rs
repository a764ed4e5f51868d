//! The time in which a browser loads the module for single-page apps, beside two other libraries.

use super::ALONE;
use super::pages::{LOADS, measure};
use serde_json::json;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Duration;
use tests::{Chromium, Shape, StaticSite, median, on_shapes, print_figure, root, tool};

/// The longest time in which the module is loaded from loopback and has run.
const MAX: Duration = Duration::from_millis(100);
const OWN: &str = "latchkey-auth.js";
/// Loads a script of this address and type. Returns the time until it has run, in milliseconds.
const LOAD: &str = r#"
    const [src, type] = args;
    const script = Object.assign(document.createElement("script"), { src, type });
    const began = performance.now();
    await new Promise((done, fail) => {
        Object.assign(script, { onload: done, onerror: fail });
        document.head.append(script);
    });
    return performance.now() - began;
"#;

async fn the_module_loads_within_100_ms(_: Shape) {
    let _alone = ALONE.lock().await;
    let own = root().join("deploy/latchkey-auth");
    let oidc_client = "oidc-client-ts/node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js";
    let auth0 = "latchkey-auth/node_modules/@auth0/auth0-spa-js/dist/auth0-spa-js.production.esm.js";
    // The npm packages of the two other libraries have these bundles for browsers.
    let scripts = [
        (own.join(OWN), "module"),
        (tool(oidc_client), "text/javascript"),
        (tool(auth0), "module"),
    ];
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let page = b"<!doctype html><title>Load</title>".to_vec();
    let mut files = HashMap::from([("index.html".to_owned(), page)]);
    for (path, _) in &scripts {
        files.insert(name(path), fs::read(path).unwrap());
    }
    let site = StaticSite::start(files, "script-src 'self'".to_owned()).await;
    let chromium = Chromium::with_scripts().await;
    for (path, kind) in &scripts {
        let file = name(path);
        let mut times = Vec::new();
        for n in 0..LOADS {
            chromium.open(&site.origin).await;
            // Each address is a new one, whose script is not in the cache of the browser.
            let arguments = [json!(format!("/{file}?{n}")), json!(kind)];
            times.push(measure(&chromium, LOAD, &arguments).await);
        }
        let time = median(&times);
        print_figure(&format!(
            "{file} is loaded from loopback and has run after {time:?}"
        ));
        assert!(file != OWN || time < MAX, "{file}: {times:?}");
    }
}

on_shapes!(the_module_loads_within_100_ms: sqlite Sqlite);
