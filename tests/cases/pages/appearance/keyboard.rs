//! The use of the pages with a keyboard.

use super::Walk;
use serde_json::Value;

const TAB: &str = "\u{e004}";

impl Walk<'_> {
    /// Expects that the Tab key reaches every link, field and button, and that a focused element has an outline.
    pub(super) async fn check_keyboard(&self, what: &str) {
        // Forms in a closed `details` are not visible.
        const BLUR: &str = r#"document.activeElement.blur(); window.reached = new Set();
            const elements = document.querySelectorAll('a[href], button, input:not([type=hidden]):not([hidden]), select, summary, textarea');
            // The keyboard reaches the chosen one of a group of radio buttons, or else the first.
            const isReached = element => element.type !== 'radio' || element ===
                (document.querySelector(`input[name="${element.name}"]:checked`) ?? document.querySelector(`input[name="${element.name}"]`));
            window.visible = [...elements].filter(element => element.checkVisibility() && isReached(element));
            window.order = [];
            return window.visible.length;"#;
        const REACHED: &str = "const element = document.activeElement;
            if (element !== document.body) {
                window.reached.add(element);
                window.order.push(window.visible.indexOf(element));
                if (getComputedStyle(element).outlineStyle === 'none') return `no outline: ${element.outerHTML}`;
            }
            return window.reached.size;";
        let count = self.chromium.run(BLUR, &[]).await.as_u64().unwrap();
        let mut reached = Value::from(0);
        for _ in 0..=count {
            self.chromium.press_key(TAB).await;
            reached = self.chromium.run(REACHED, &[]).await;
            assert!(reached.is_u64(), "{what}: {reached}");
        }
        assert_eq!(
            reached, count,
            "{what}: the keyboard does not reach every element"
        );
        // The focus may have begun at a field in the middle of the page.
        const STEPS_BACK: &str =
            "return window.order.filter((index, n) => n > 0 && index < window.order[n - 1]).length;";
        let steps_back = self.chromium.run(STEPS_BACK, &[]).await;
        assert!(
            steps_back.as_u64().unwrap() <= 1,
            "{what}: the keyboard does not follow the order of the page"
        );
    }
}
