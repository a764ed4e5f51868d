//! The panel of calls, and the payments that it explains.

use super::Demo;
use serde_json::Value;
use tests::items;

/// Returns the entries of the panel of calls, the newest first.
const CALLS: &str = "return [...document.querySelectorAll('.call')].map(call => call.textContent)";
/// Loses the next two calls that make a payment, as without a network.
const LOSE_PAYMENTS: &str = "
    const send = window.fetch;
    let count = 0;
    window.fetch = request => {
        const isPayment = request.method === 'POST' && request.url.endsWith('/payments');
        return isPayment && ++count <= 2 ? Promise.reject(new TypeError('lost')) : send(request);
    };
";
/// Returns whether the panel is to the right of the rest of the page, and begins as high.
const IS_BESIDE: &str = "
    const parts = [...document.querySelector('#demo').children];
    const [page, panel] = parts.map(part => part.getBoundingClientRect());
    return page.right <= panel.left && page.top === panel.top;
";

impl Demo<'_> {
    /// The newest entry of the panel that begins with this method, path and status.
    pub(super) async fn call(&self, beginning: &str) -> String {
        let calls = self.chromium.run(CALLS, &[]).await;
        let mut texts = calls.as_array().unwrap().iter().filter_map(Value::as_str);
        let call = texts.find(|text| text.starts_with(beginning));
        call.unwrap_or_else(|| panic!("{beginning}: {calls}")).to_owned()
    }

    /// Makes a payment whose answer is lost, captures it and refunds it.
    pub(super) async fn pay(&self) {
        let chromium = &self.chromium;
        chromium.submit(&[], "#lose-answer", "id=\"same-payment\"").await;
        let payments = items(&self.user.get("/payments").await.expect(200));
        assert_eq!(payments.len(), 1, "{payments:?}");
        let id = payments[0]["id"].as_str().unwrap();
        chromium.expect(&format!("id=\"capture-{id}\"")).await;
        let source = chromium.source().await;
        for shown in [
            "201, lost on purpose",
            "Idempotent-Replayed: true",
            "Authorization: Bearer …",
        ] {
            assert!(source.contains(shown), "{shown}: {source}");
        }
        for secret in ["Bearer eyJ", "\"access_token\": \"eyJ"] {
            assert!(!source.contains(secret), "{secret}: {source}");
        }
        self.expect_payment_in_panel(id).await;
        let [capture, refund] = ["capture", "refund"].map(|step| format!("#{step}-{id}"));
        chromium
            .submit(&[], &capture, "captured €12.50, refunded €0.00")
            .await;
        chromium
            .submit(&[], &refund, "captured €12.50, refunded €12.50")
            .await;
    }

    /// Makes a payment after the network was lost when its answer should be. The answer is kept.
    pub(super) async fn pay_after_a_failure(&self) {
        let chromium = &self.chromium;
        chromium.run(LOSE_PAYMENTS, &[]).await;
        chromium
            .submit(&[], "#lose-answer", "Try again: the session continues.")
            .await;
        chromium
            .expect("/latchkey-auth-errors.html#connectionerror\"")
            .await;
        chromium
            .submit(&[], "#pay", "captured €0.00, refunded €0.00")
            .await;
        let calls = chromium.run(CALLS, &[]).await;
        let texts = calls.as_array().unwrap().iter().filter_map(Value::as_str);
        let lost = texts.filter(|text| text.contains("201, lost on purpose")).count();
        assert_eq!(lost, 1, "{calls}");
    }

    /// Expects both calls that made this payment in the panel, each with its request and its response.
    async fn expect_payment_in_panel(&self, id: &str) {
        for status in ["201, lost on purpose", "201Request"] {
            let call = self.call(&format!("POST /payments {status}")).await;
            for shown in [
                "\"amount\": 1250",
                "\"currency\": \"EUR\"",
                "Idempotency-Key: ",
                id,
            ] {
                assert!(call.contains(shown), "{shown}: {call}");
            }
            let (_, correlation_id) = call.split_once("X-Correlation-Id: ").unwrap();
            let correlation_id = correlation_id.lines().next().unwrap();
            let is_id = correlation_id.len() == 32 && u128::from_str_radix(correlation_id, 16).is_ok();
            assert!(is_id, "{call}");
        }
    }

    /// Expects the panel beside the rest of the page in the window of a desktop.
    pub(super) async fn expect_panel_beside_the_page(&self) {
        self.chromium.be_a_desktop(1280).await;
        assert_eq!(self.chromium.run(IS_BESIDE, &[]).await, Value::Bool(true));
    }
}
