//! The check that the programs see the host of the URL.

use super::FrontDoor;
use reqwest::Method;
use reqwest::header::{COOKIE, HeaderMap, SET_COOKIE};

/// The same session cookie twice, as a browser sends it if another host of the site has set one.
const REPEATED_COOKIE: &str = "sid=1; sid=2";

impl FrontDoor<'_> {
    /// Sends a repeated session cookie. The response removes it for the host of the request and for the
    /// parents of this host, and so tells which host the programs see.
    pub(super) async fn examine_host(&mut self, path: &str) {
        let host = self.url.host_str().unwrap_or_default();
        if !(host.contains('.') && host.ends_with(|last: char| last.is_ascii_alphabetic())) {
            let reason = "the host of the URL is no name with a dot, and no response tells any other";
            return self.report.skip("host", reason);
        }
        let request = self.request(Method::GET, path).header(COOKIE, REPEATED_COOKIE);
        let headers = match self.send(request).await {
            Ok(reply) if matches!(reply.status.as_u16(), 400 | 401) => reply.headers,
            other => return self.fail_unexpected("host", path, other),
        };
        match domains(&headers).any(|domain| domain == host) {
            true => self.report.ok("host", format!("the programs see {host}")),
            false => self.report.warn(
                "host",
                format!("the programs see another host than {host}"),
                "let the proxy pass Host on (nginx: `proxy_set_header Host $host`): until then, a browser with the \
                 session cookie of another host of the site cannot sign in, and pages do not lead back to the page before",
            ),
        }
    }
}

/// Returns the domains for which a response changes cookies.
fn domains(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(SET_COOKIE).into_iter();
    let attributes = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';').skip(1));
    attributes.filter_map(|attribute| attribute.trim().strip_prefix("Domain="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_are_those_of_all_cookies() {
        let mut headers = HeaderMap::new();
        for line in [
            "sid=; Path=/; Max-Age=0; HttpOnly",
            "sid=Domain=x; Max-Age=0; Domain=id.example.org; HttpOnly",
            "sid=; Domain=example.org",
        ] {
            headers.append(SET_COOKIE, line.parse().unwrap());
        }
        let found: Vec<&str> = domains(&headers).collect();
        assert_eq!(found, ["id.example.org", "example.org"]);
    }
}
