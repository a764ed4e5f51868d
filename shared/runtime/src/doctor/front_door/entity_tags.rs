//! The check that entity tags arrive as the programs send them.

use super::{FrontDoor, Reply};
use reqwest::header::{ACCEPT_ENCODING, ETAG, IF_NONE_MATCH};
use reqwest::{Method, RequestBuilder, StatusCode};
use web::headers::single;

/// The encodings that the client accepts: gzip, which the programs apply to long responses, and gzip only if
/// it gets nothing else, so that they compress none. Most proxies ignore that wish, and compress what the
/// programs left as it was.
const ACCEPTED: [&str; 2] = ["gzip", "gzip;q=0.5, identity"];

impl FrontDoor<'_> {
    /// Checks that the strong entity tags at these paths arrive as such, although the client accepts
    /// compression, and that they are recognized when they come back.
    pub(super) async fn examine_entity_tags(&mut self, paths: impl Iterator<Item = &'static str>) {
        let mut checked = Vec::new();
        for path in paths {
            for accepted in ACCEPTED {
                match self.flaw_of_tag(path, accepted).await {
                    Ok(None) => {}
                    Ok(Some(flaw)) => {
                        return self.report.fail(
                            "entity-tags",
                            format!("{path} {flaw}"),
                            "let the proxy neither compress these responses (nginx: `gzip off`) nor change their \
                             headers: without strong entity tags, clients cannot change posts",
                        );
                    }
                    Err(reply) => return self.fail_unexpected("entity-tags", path, reply),
                }
            }
            checked.push(path);
        }
        let detail = format!("strong, and answered by 304, at {}", checked.join(" and "));
        self.report.ok("entity-tags", detail);
    }

    /// Returns the flaw of the entity tag at this path. Fails with a response that tells nothing about it, or
    /// with the reason for which there is none.
    async fn flaw_of_tag(
        &self,
        path: &str,
        accepted: &str,
    ) -> Result<Option<&'static str>, Result<Reply, String>> {
        let accepting = |request: RequestBuilder| request.header(ACCEPT_ENCODING, accepted);
        let first = match self.send(accepting(self.request(Method::GET, path))).await {
            Ok(first) if first.status == StatusCode::OK => first,
            other => return Err(other),
        };
        let Some(etag) = single(&first.headers, ETAG.as_str()) else {
            return Ok(Some("has no ETag"));
        };
        if etag.starts_with("W/") {
            return Ok(Some("has a weak ETag"));
        }
        let again = self.request(Method::GET, path).header(IF_NONE_MATCH, etag);
        match self.send(accepting(again)).await {
            Ok(again) if again.status == StatusCode::NOT_MODIFIED => Ok(None),
            Ok(again) if again.status == StatusCode::OK => {
                Ok(Some("answers 200 to its own entity tag in If-None-Match"))
            }
            other => Err(other),
        }
    }
}
