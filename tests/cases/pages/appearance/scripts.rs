//! The additions of the script to the pages.

use super::Walk;
use serde_json::json;

/// The state of the password field: its type, the label of the button that shows it, and the number of its
/// characters.
const STATE: &str = "
    const field = document.querySelector('#password'), button = document.querySelector('.reveal');
    return [field.type, button.ariaLabel, document.querySelector('.count').textContent];
";
/// Submits the form, which stays on the page, and returns the type of the password field.
const SUBMITTED: &str = "
    const form = document.querySelector('form');
    form.addEventListener('submit', event => event.preventDefault());
    form.requestSubmit();
    return document.querySelector('#password').type;
";

impl Walk<'_> {
    /// Expects that a button copies the text beside it.
    pub(super) async fn check_copy_button(&self) {
        let chromium = &self.chromium;
        chromium.allow_clipboard().await;
        self.open("/_design").await;
        chromium.press("[data-copy] + button").await;
        chromium.expect("Copied").await;
        let copied = chromium.run("return navigator.clipboard.readText()", &[]).await;
        assert_eq!(copied, "0h3k-8z5w-2m9x-tq7c\n7c1d-44qw-x0p2-9mfa");
    }

    /// Expects that the script shows a password on demand, hides it before the form is sent, and counts its
    /// characters.
    pub(super) async fn check_password_script(&self) {
        let chromium = &self.chromium;
        self.open("/signup").await;
        chromium.fill("#password", "päss wörd").await;
        let hidden = chromium.run(STATE, &[]).await;
        assert_eq!(
            hidden,
            json!(["password", "Show password", "9 of at least 8 characters"])
        );
        chromium.press(".reveal").await;
        let shown = chromium.run(STATE, &[]).await;
        assert_eq!(
            shown,
            json!(["text", "Hide password", "9 of at least 8 characters"])
        );
        chromium.expect("verdict good").await;
        self.check("sign-up-typing").await;
        chromium.fill("#password", "87654321").await;
        chromium.expect("A mere sequence").await;
        self.check("sign-up-easy").await;
        chromium.fill("#email", "ann@example.org").await;
        assert_eq!(chromium.run(SUBMITTED, &[]).await, "password");
    }
}
