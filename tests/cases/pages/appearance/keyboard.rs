//! The use of the pages with a keyboard.

use super::Walk;
use super::checks::NARROWEST;
use serde_json::json;
use tests::Appearance;

const TAB: &str = "\u{e004}";

/// The statements that find the elements that the Tab key should reach, in the order of the source.
macro_rules! find_visible {
    () => {
        r#"
    // Forms in a closed `details` are not visible.
    const elements = document.querySelectorAll('a[href], button, input:not([type=hidden]):not([hidden]), select, summary, textarea');
    // The keyboard reaches the chosen one of a group of radio buttons, or else the first.
    const isReached = element => element.type !== 'radio' || element ===
        (document.querySelector(`input[name="${element.name}"]:checked`) ?? document.querySelector(`input[name="${element.name}"]`));
    const visible = [...elements].filter(element => element.checkVisibility() && isReached(element));
"#
    };
}

/// Leaves the focused element, and begins to record the elements that the Tab key reaches. Returns how many
/// it should reach, and how many times to press it. A field for a date and time has seven parts and a button.
const RECORD: &str = concat!(
    "document.activeElement.blur();",
    find_visible!(),
    r#"
    const recording = window.recording = { visible, order: [], reached: new Set(), end: new AbortController() };
    document.addEventListener('focusin', ({ target }) => {
        recording.order.push(target);
        recording.reached.add(target);
    }, { signal: recording.end.signal });
    const times = visible.filter(element => element.type === 'datetime-local');
    // Between the last element and the first, the focus is outside the page.
    return [visible.length, visible.length + 7 * times.length + 1];
"#
);

/// Ends the recording. Returns the number of reached elements, those without an outline, and how often the
/// focus went back in the source of the page.
const RESULT: &str = r#"
    const { visible, order, reached, end } = window.recording;
    end.abort();
    // The recording cannot ask for outlines: while the Tab key leaves the last element for the first, the
    // window is out of focus for a moment, and no element has an outline.
    const without_outline = visible.filter(element => {
        element.focus({ focusVisible: true });
        return getComputedStyle(element).outlineStyle === 'none';
    }).map(element => element.outerHTML);
    const places = order.map(element => visible.indexOf(element));
    const steps_back = places.filter((place, index) => place < places[index - 1]).length;
    return { reached: reached.size, without_outline, steps_back };
"#;

/// Returns the elements that are above the one before them in the source, or to the left of it on the same
/// line.
const OUT_OF_PLACE: &str = concat!(
    find_visible!(),
    r#"
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
    return visible.filter(element => {
        const dialog = element.closest('[popover]');
        const place = placeOf(element, dialog);
        const isOutOfPlace = last.has(dialog) && !follows(place, last.get(dialog));
        last.set(dialog, place);
        return isOutOfPlace;
    }).map(element => element.outerHTML);
"#
);

impl Walk<'_> {
    /// Expects that the Tab key reaches every link, field and button in the order of the source, and that a
    /// focused element has an outline.
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
        let expected = json!({ "reached": counts[0], "without_outline": [], "steps_back": null });
        assert_eq!(result, expected, "{what}");
    }

    /// Expects the links, fields and buttons on the screen in the order of the source, in every size of the
    /// window. No key is pressed, so that the gate has the time for it. The last size is that of the walk.
    pub(super) async fn check_order(&self, what: &str) {
        let own = self.appearances.last().copied().unwrap_or_default();
        self.chromium.be_a_phone(NARROWEST).await;
        self.expect_order(&format!("{what}, {NARROWEST} pixels")).await;
        for is_phone in [!own.is_phone, own.is_phone] {
            let appearance = Appearance { is_phone, ..own };
            self.chromium.appear(appearance).await;
            self.expect_order(&format!("{what}, {}", appearance.name())).await;
        }
    }

    async fn expect_order(&self, what: &str) {
        let out_of_place = self.chromium.run(OUT_OF_PLACE, &[]).await;
        assert_eq!(out_of_place, json!([]), "{what}");
    }
}
