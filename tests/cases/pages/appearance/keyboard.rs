//! The use of the pages with a keyboard.

use super::Walk;
use serde_json::json;

const TAB: &str = "\u{e004}";

/// Leaves the focused element, and begins to record the elements that the Tab key reaches. Returns the number of those that it should reach.
const RECORD: &str = r#"
    document.activeElement.blur();
    // Forms in a closed `details` are not visible.
    const elements = document.querySelectorAll('a[href], button, input:not([type=hidden]):not([hidden]), select, summary, textarea');
    // The keyboard reaches the chosen one of a group of radio buttons, or else the first.
    const isReached = element => element.type !== 'radio' || element ===
        (document.querySelector(`input[name="${element.name}"]:checked`) ?? document.querySelector(`input[name="${element.name}"]`));
    const visible = [...elements].filter(element => element.checkVisibility() && isReached(element));
    const recording = window.recording = { order: [], reached: new Set(), without_outline: [], end: new AbortController() };
    document.addEventListener('focusin', ({ target }) => {
        recording.order.push(visible.indexOf(target));
        recording.reached.add(target);
        if (getComputedStyle(target).outlineStyle === 'none') recording.without_outline.push(target.outerHTML);
    }, { signal: recording.end.signal });
    return visible.length;
"#;

/// Ends the recording. Returns the number of reached elements, those without an outline, and how often the focus went back in the page.
const RESULT: &str = "
    const { order, reached, without_outline, end } = window.recording;
    end.abort();
    const steps_back = order.filter((index, n) => n > 0 && index < order[n - 1]).length;
    return { reached: reached.size, without_outline, steps_back };
";

impl Walk<'_> {
    /// Expects that the Tab key reaches every link, field and button in the order of the page, and that a focused element has an outline.
    pub(super) async fn check_keyboard(&self, what: &str) {
        let count = self.chromium.run(RECORD, &[]).await.as_u64().unwrap();
        // Between the last element and the first, the focus is outside the page.
        let presses = usize::try_from(count).unwrap() + 1;
        self.chromium.press_keys(&TAB.repeat(presses)).await;
        let mut result = self.chromium.run(RESULT, &[]).await;
        // The focus may have begun at a field in the middle of the page.
        let steps_back = result["steps_back"].take();
        assert!(
            steps_back.as_u64().unwrap() <= 1,
            "{what}: the keyboard does not follow the order of the page: {result}"
        );
        assert_eq!(
            result,
            json!({ "reached": count, "without_outline": [], "steps_back": null }),
            "{what}"
        );
    }
}
