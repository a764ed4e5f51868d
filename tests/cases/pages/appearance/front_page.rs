//! The front page after the first start.

use super::Walk;
use tests::Appearance;

/// Returns whether the page needs no scrolling.
const FITS: &str = "return document.documentElement.scrollHeight <= innerHeight";

impl Walk<'_> {
    /// Expects that the front page fits a window of 1280 × 800 pixels, with the first steps of the
    /// administrator.
    pub(super) async fn check_front_page(&self) {
        self.chromium.appear(Appearance::default()).await;
        self.open("/").await;
        let source = self.chromium.source().await;
        assert!(source.contains("admin-password"), "{source}");
        let fits = self.chromium.run(FITS, &[]).await;
        assert_eq!(fits, true, "the front page needs scrolling ({})", self.language);
    }
}
