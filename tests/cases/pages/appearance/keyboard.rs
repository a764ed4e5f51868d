//! The use of the pages with a keyboard.

use super::Walk;
use serde_json::json;

const TAB: &str = "\u{e004}";

/// Leaves the focused element, and begins to record the elements that the Tab key reaches. Returns how many
/// it should reach, and how many times to press it. A field for a date and time has seven parts and a button.
const RECORD: &str = r#"
    document.activeElement.blur();
    // Forms in a closed `details` are not visible.
    const elements = document.querySelectorAll('a[href], button, input:not([type=hidden]):not([hidden]), select, summary, textarea');
    // The keyboard reaches the chosen one of a group of radio buttons, or else the first.
    const isReached = element => element.type !== 'radio' || element ===
        (document.querySelector(`input[name="${element.name}"]:checked`) ?? document.querySelector(`input[name="${element.name}"]`));
    const visible = [...elements].filter(element => element.checkVisibility() && isReached(element));
    const recording = window.recording = { visible, order: [], reached: new Set(), end: new AbortController() };
    document.addEventListener('focusin', ({ target }) => {
        recording.order.push(target);
        recording.reached.add(target);
    }, { signal: recording.end.signal });
    const times = visible.filter(element => element.type === 'datetime-local');
    // Between the last element and the first, the focus is outside the page.
    return [visible.length, visible.length + 7 * times.length + 1];
"#;

/// Ends the recording. Returns the number of reached elements, those without an outline, those that are above
/// the one before them or to the left of it on the same line, and how often the focus went back in the source
/// of the page.
const RESULT: &str = r#"
    const { visible, order, reached, end } = window.recording;
    end.abort();
    // The recording cannot ask for outlines: while the Tab key leaves the last element for the first, the
    // window is out of focus for a moment, and no element has an outline.
    const without_outline = visible.filter(element => {
        element.focus({ focusVisible: true });
        return getComputedStyle(element).outlineStyle === 'none';
    }).map(element => element.outerHTML);
    const TOLERANCE = 4;
    const placeOf = (element, dialog) => {
        // A link may be broken over two lines.
        const line = element.getClientRects()[0];
        const ground = (dialog ?? document.documentElement).getBoundingClientRect();
        const top = line.top - ground.top + (dialog?.scrollTop ?? 0);
        return { left: line.left - ground.left, top, bottom: top + line.height, row: element.closest('tr, li, .columns') };
    };
    const follows = (place, former) => {
        const isOnLine = Math.min(place.bottom, former.bottom) - Math.max(place.top, former.top) > TOLERANCE;
        const isRight = place.left >= former.left - TOLERANCE;
        // The cells of a row and the columns of a page are read one after the other, and each from its first
        // line to its last.
        const isNextCell = place.row !== null && place.row === former.row && isRight;
        return isOnLine ? isRight : place.top > former.top || isNextCell;
    };
    // The last place in the page, and in each dialog over it.
    const last = new Map();
    const out_of_place = [];
    let steps_back = 0, index = -1;
    for (const element of order) {
        const former_index = index;
        index = visible.indexOf(element);
        if (index < former_index) {
            steps_back += 1;
            last.clear();
        }
        const dialog = element.closest('[popover]');
        const place = placeOf(element, dialog);
        if (last.has(dialog) && !follows(place, last.get(dialog))) out_of_place.push(element.outerHTML);
        last.set(dialog, place);
    }
    return { reached: reached.size, without_outline, out_of_place, steps_back };
"#;

impl Walk<'_> {
    /// Expects that the Tab key reaches every link, field and button in the order of the page, in its source
    /// and on the screen, and that a focused element has an outline.
    pub(super) async fn check_keyboard(&self, what: &str) {
        let counts = self.chromium.run(RECORD, &[]).await;
        let presses = usize::try_from(counts[1].as_u64().unwrap()).unwrap();
        self.chromium.press_keys(&TAB.repeat(presses)).await;
        let mut result = self.chromium.run(RESULT, &[]).await;
        // The focus may have begun at a field in the middle of the page.
        let steps_back = result["steps_back"].take();
        assert!(
            steps_back.as_u64().unwrap() <= 1,
            "{what}: the keyboard does not follow the order of the page: {result}"
        );
        let expected =
            json!({ "reached": counts[0], "without_outline": [], "out_of_place": [], "steps_back": null });
        assert_eq!(result, expected, "{what}");
    }
}
