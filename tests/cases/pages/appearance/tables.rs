//! The tables, whose rows are cards on a phone.

use super::Walk;
use serde_json::json;

/// Returns what is wrong with the cards of the page. Each row must be a block. Each cell must show the
/// heading of its column, unless it is empty or has nothing but a button, and must fit into the window.
const WRONG_CARDS: &str = r#"
    const wrong = [];
    const report = (element, flaw) => wrong.push(`${flaw}: ${element.outerHTML}`);
    for (const table of [...document.querySelectorAll('table')].filter(table => table.checkVisibility())) {
        const headings = [...table.querySelectorAll('thead th')].map(heading => heading.textContent);
        for (const row of table.querySelectorAll('tbody tr')) {
            if (getComputedStyle(row).display !== 'block') report(row, 'no card');
            for (const cell of [...row.cells].filter(cell => cell.checkVisibility())) {
                const { right } = cell.getBoundingClientRect();
                const isWide = right > document.documentElement.clientWidth || cell.scrollWidth > cell.clientWidth;
                if (isWide) report(cell, 'too wide');
                if (cell.tagName === 'TH' || cell.matches(':has(> button)')) continue;
                if (cell.dataset.label !== headings[cell.cellIndex]) report(cell, 'another label');
                const label = getComputedStyle(cell, '::before');
                if (['none', 'normal'].includes(label.content) || label.display === 'none') report(cell, 'hidden label');
            }
        }
    }
    return wrong;
"#;

impl Walk<'_> {
    /// Expects that the rows of the tables are cards in the window of a phone.
    pub(super) async fn check_cards(&self, what: &str) {
        let wrong = self.chromium.run(WRONG_CARDS, &[]).await;
        assert_eq!(wrong, json!([]), "{what}");
    }
}
