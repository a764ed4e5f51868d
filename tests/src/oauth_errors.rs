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
        self.expect_error_response(world, &page.location().unwrap(), error);
    }

    /// Expects that `redirect` is the error response to this request (RFC 6749 §4.1.2.1).
    pub fn expect_error_response(&self, world: &World, redirect: &Url, error: &str) {
        let requested = |name: &str| {
            self.parameters()
                .iter()
                .find(|(found, _)| found == name)
                .map(|(_, value)| value)
        };
        let redirect_uri = requested("redirect_uri").unwrap();
        assert!(
            redirect.as_str().starts_with(&format!("{redirect_uri}?")),
            "{redirect}"
        );
        assert_eq!(parameter(redirect, "error").as_deref(), Some(error), "{redirect}");
        assert_eq!(
            parameter(redirect, "state").as_ref(),
            requested("state"),
            "{redirect}"
        );
        assert_eq!(
            parameter(redirect, "iss").as_deref(),
            Some(world.base()),
            "{redirect}"
        );
        for forbidden in ["code", "access_token", "id_token"] {
            assert_eq!(parameter(redirect, forbidden), None, "{redirect}");
        }
        assert_eq!(redirect.fragment(), None, "{redirect}");
    }

    /// Expects an error page on the issuer's origin without a redirect.
    pub async fn expect_error_page(&self, world: &World) -> Page {
        let page = world.browser().open(&self.path()).await;
        assert_eq!(page.reply.status, 400, "{}: {}", self.path(), page.reply);
        page.expect_page_within_origin();
        page
    }
}

impl Page {
    /// Expects an HTML page with no redirect and no link to another origin.
    pub fn expect_page_within_origin(&self) {
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
        let is_complete = body["correlationId"] == reply.correlation_id()
            && body["access_token"].is_null()
            && reply.header("cache-control").contains("no-store");
        assert!(body["error"] == error && is_complete, "expected {error}: {reply}");
        reply
    }
}
