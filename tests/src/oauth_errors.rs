//! Expected errors of `/authorize` and `/token`.

use crate::apps::Authorization;
use crate::browser::Page;
use crate::reply::Reply;
use crate::tokens::parameter;
use crate::world::World;
use url::Url;

impl Authorization {
    /// Expects an error redirect (RFC 6749 §4.1.2.1): 303 to the registered URI with the error, the state
    /// and the issuer (RFC 9207).
    pub async fn expect_error_redirect(&self, world: &World, error: &str) {
        let page = world.browser().open(&self.path()).await;
        assert_eq!(page.reply.status, 303, "{}: {}", self.path(), page.reply);
        self.expect_error_landing(world, &page.location().unwrap(), error);
    }

    /// Expects that the browser was redirected to the redirect URI of this request with this error.
    pub fn expect_error_landing(&self, world: &World, landing: &Url, error: &str) {
        let parameter_of_request = |name: &str| {
            self.parameters()
                .iter()
                .find(|(found, _)| found == name)
                .map(|(_, value)| value)
        };
        let redirect_uri = parameter_of_request("redirect_uri").unwrap();
        assert!(
            landing.as_str().starts_with(&format!("{redirect_uri}?")),
            "{landing}"
        );
        assert_eq!(parameter(landing, "error").as_deref(), Some(error), "{landing}");
        assert_eq!(
            parameter(landing, "state").as_ref(),
            parameter_of_request("state"),
            "{landing}"
        );
        assert_eq!(
            parameter(landing, "iss").as_deref(),
            Some(world.base()),
            "{landing}"
        );
        for forbidden in ["code", "access_token", "id_token"] {
            assert_eq!(parameter(landing, forbidden), None, "{landing}");
        }
        assert_eq!(landing.fragment(), None, "{landing}");
    }

    /// Expects an error page on the issuer's origin without a redirect.
    pub async fn expect_error_page(&self, world: &World) -> Page {
        let page = world.browser().open(&self.path()).await;
        assert_eq!(page.reply.status, 400, "{}: {}", self.path(), page.reply);
        page.expect_no_way_out();
        page
    }
}

impl Page {
    /// Expects an HTML page with no redirect and no link to another origin.
    pub fn expect_no_way_out(&self) {
        assert!(!self.reply.has("location"), "{}", self.reply);
        assert!(
            self.reply.header("content-type").starts_with("text/html"),
            "{}",
            self.reply
        );
        for link in self.links() {
            assert_eq!(link.origin(), self.url.origin(), "{}", self.reply);
        }
    }
}

impl Reply {
    /// Expects an error of the token endpoint (RFC 6749 §5.2).
    #[track_caller]
    pub fn expect_token_error(self, status: u16, error: &str) -> Self {
        let reply = self.expect(status);
        let body = reply.json();
        let is_whole = body["correlationId"] == reply.correlation_id()
            && body["access_token"].is_null()
            && reply.header("cache-control").contains("no-store");
        assert!(body["error"] == error && is_whole, "expected {error}: {reply}");
        reply
    }
}
