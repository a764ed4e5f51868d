//! The checks of each page that the walk visits.

use super::Walk;
use serde_json::json;
use tests::{Appearance, print_figure};

/// The rules of axe-core: WCAG 2.2 AA and its best practices.
const RULES: [&str; 6] = [
    "wcag2a",
    "wcag2aa",
    "wcag21a",
    "wcag21aa",
    "wcag22aa",
    "best-practice",
];
/// The largest size of a page with all that it loads, in bytes over the wire.
const MAX_BYTES: u64 = 60_000;
/// The width of the narrowest phone, in pixels.
pub(super) const NARROWEST: u32 = 320;

/// Measures the page: the bytes that it loaded, and the milliseconds from the request to the first byte of
/// the response.
const MEASURE: &str = r#"
    const [page] = performance.getEntriesByType("navigation");
    const entries = [page, ...performance.getEntriesByType("resource")];
    return {
        bytes: entries.reduce((sum, entry) => sum + entry.encodedBodySize, 0),
        first_byte: page.responseStart - page.requestStart,
    };
"#;
/// Returns the rules that the page violates, by axe-core.
const VIOLATIONS: &str = r#"
    const { violations } = await axe.run({ runOnly: args[0], resultTypes: ["violations"] });
    return violations.map(found =>
        found.id + ": " + found.nodes.map(node => node.html + " " + node.failureSummary).join("; "));
"#;
/// Returns the rules of axe-core that the page around Swagger UI violates, and those that its inside does.
const VIOLATIONS_AROUND_SWAGGER_UI: &str = r##"
    const options = { runOnly: args[0], resultTypes: ["violations"] };
    const around = await axe.run({ exclude: [["#swagger-ui"]] }, options);
    const inside = await axe.run({ include: [["#swagger-ui"]] }, options);
    return {
        around: around.violations.flatMap(({ id, nodes }) =>
            nodes.map(node => id + ": " + node.html + " " + node.failureSummary)),
        inside: inside.violations.map(({ id }) => id),
    };
"##;
/// Measures by how many pixels the page is wider than its window.
const OVERFLOW: &str = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";

impl Walk<'_> {
    /// Checks the page that the browser shows.
    pub(super) async fn check(&self, name: &str) {
        self.check_expecting(name, 200).await;
    }

    /// Checks the page that the browser shows, which has this status.
    pub(super) async fn check_expecting(&self, name: &str, status: u16) {
        let chromium = &self.chromium;
        let what = format!("{name} ({})", self.language);
        self.check_appearances(name, &what).await;
        let measured = chromium.run(MEASURE, &[]).await;
        let first_byte = measured["first_byte"].as_f64().unwrap();
        self.first_bytes.lock().unwrap().push((first_byte, what.clone()));
        self.check_order(&what).await;
        self.check_keyboard(&what).await;
        let language = chromium.run("return document.documentElement.lang", &[]).await;
        assert_eq!(language, self.language, "{what}");
        let goes_on = "return document.querySelector('main a[href], main form') !== null";
        assert_eq!(chromium.run(goes_on, &[]).await, true, "{what} is a dead end");
        chromium.expect_no_trace(&self.third_parties, status).await;
    }

    /// Checks how the page looks, and takes its pictures.
    pub(super) async fn check_appearances(&self, name: &str, what: &str) {
        for appearance in &self.appearances {
            let what = format!("{what}, {}", appearance.name());
            self.check_appearance(*appearance, &what).await;
            if let Some(pictures) = &self.pictures {
                pictures.take(&self.chromium, name, *appearance).await;
            }
        }
    }

    async fn check_appearance(&self, appearance: Appearance, what: &str) {
        let chromium = &self.chromium;
        chromium.appear(appearance).await;
        if appearance.is_phone {
            chromium.be_a_phone(NARROWEST).await;
            let overflow = chromium.run(OVERFLOW, &[]).await;
            assert_eq!(overflow, 0, "{what} is wider than {NARROWEST} pixels");
            chromium.appear(appearance).await;
            self.check_cards(what).await;
        }
        let overflow = chromium.run(OVERFLOW, &[]).await;
        assert_eq!(overflow, 0, "{what} is wider than its window");
        let measured = chromium.run(MEASURE, &[]).await;
        assert!(
            measured["bytes"].as_u64().unwrap() < MAX_BYTES,
            "{what}: {measured}"
        );
        let violations = chromium.run(VIOLATIONS, &[json!(RULES)]).await;
        assert_eq!(violations, json!([]), "{what}");
    }

    /// Checks a page with Swagger UI. What that violates is told and not asserted: it is the work of others.
    pub(super) async fn check_around_swagger_ui(&self, name: &str) {
        let chromium = &self.chromium;
        for appearance in &self.appearances {
            chromium.appear(*appearance).await;
            let violations = chromium.run(VIOLATIONS_AROUND_SWAGGER_UI, &[json!(RULES)]).await;
            let what = format!("{name}, {}", appearance.name());
            assert_eq!(violations["around"], json!([]), "{what}");
            print_figure(&format!("Swagger UI in {what} violates {}", violations["inside"]));
            if let Some(pictures) = &self.pictures {
                pictures.take(chromium, name, *appearance).await;
            }
        }
        chromium.expect_no_trace(&[], 200).await;
    }

    /// Prints the time to the first byte of each page, the slowest first. No limit is asserted, because other
    /// tests delay the pages.
    pub(super) fn print_first_bytes(&self) {
        let mut pages = self.first_bytes.lock().unwrap();
        pages.sort_by(|(left, _), (right, _)| right.total_cmp(left));
        let lines: String = pages
            .iter()
            .map(|(time, page)| format!("\n{time:8.1} ms  {page}"))
            .collect();
        print_figure(&format!(
            "The first bytes of {} pages came after{lines}",
            pages.len()
        ));
    }

    /// Ends a walk: prints what it measured, and draws the sheets of the pictures if some were taken.
    pub(super) async fn end(&self) {
        self.print_first_bytes();
        if let Some(pictures) = &self.pictures {
            pictures.draw_sheets(&self.chromium).await;
        }
    }
}
