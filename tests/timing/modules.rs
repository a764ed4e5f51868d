//! The time in which a browser loads the module for single-page apps, beside another library.

use super::ALONE;
use super::pages::{LOADS, measure};
use serde_json::json;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tests::{Chromium, Shape, StaticSite, median, on_shapes, print_figure, tool};

/// The longest time in which the module is loaded from loopback and has run.
const MAX: Duration = Duration::from_millis(100);
const OWN: &str = "latchkey-auth.js";
/// The bundle of the npm package `oidc-client-ts` for a script element.
const OTHER: &str = "oidc-client-ts.min.js";
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let read = |path: PathBuf| fs::read(path).unwrap();
    let bundle = format!("oidc-client-ts/node_modules/oidc-client-ts/dist/browser/{OTHER}");
    let files = [
        ("index.html", b"<!doctype html><title>Load</title>".to_vec()),
        (OWN, read(root.join("deploy/latchkey-auth").join(OWN))),
        (OTHER, read(tool(&bundle))),
    ];
    let files: HashMap<String, Vec<u8>> = files.map(|(name, file)| (name.to_owned(), file)).into();
    let site = StaticSite::start(files, "script-src 'self'".to_owned()).await;
    let chromium = Chromium::with_scripts().await;
    for (file, kind) in [(OWN, "module"), (OTHER, "text/javascript")] {
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
