//! The check that a client cannot choose the address that the server sees.

use super::FrontDoor;
use foundation::random;
use reqwest::Method;
use std::net::Ipv6Addr;
use web::headers::single;

/// The number of requests from the own address, and of those that claim another one.
const REQUESTS: usize = 3;

impl FrontDoor<'_> {
    /// Compares the counts of requests that claim to come from elsewhere with those of other requests:
    /// nothing else tells which address the server sees.
    pub(super) async fn examine_address(&mut self, path: &str) {
        let counted = async {
            let (mut own, mut claimed) = (None, Vec::new());
            for _ in 0..REQUESTS {
                own = self.is_first(path, None).await?;
            }
            for _ in 0..REQUESTS {
                claimed.push(self.is_first(path, Some(random_address())).await?);
            }
            Ok::<_, String>((own, claimed))
        };
        match counted.await {
            Ok((Some(false), claimed)) if claimed.iter().all(|is_first| *is_first == Some(true)) => {
                self.report.fail(
                    "forged-address",
                    "the server believes the address that a client sends in X-Forwarded-For or Forwarded",
                    "let the proxy add the client's address to the header (nginx: `$proxy_add_x_forwarded_for`), and \
                     take networks with clients out of TRUSTED_PROXIES",
                );
            }
            Ok((Some(false), _)) => {
                self.report.ok(
                    "forged-address",
                    "the server ignores addresses that a client claims",
                );
            }
            Ok(_) => self.report.skip(
                "forged-address",
                "the responses do not count requests: the rate limits are off, or there are many replicas",
            ),
            Err(error) => self.fail_unexpected("forged-address", path, Err(error)),
        }
        self.report.skip(
            "client-address",
            "no public response tells the address that the server sees: sign in, and compare that of `events list` \
             with yours",
        );
    }

    /// Sends a request, which claims to come from `claimed` if that is set. Returns whether it is the first
    /// one from the address that the server sees; `None` if the response does not count requests.
    async fn is_first(&self, path: &str, claimed: Option<Ipv6Addr>) -> Result<Option<bool>, String> {
        let mut request = self.request(Method::GET, path);
        if let Some(claimed) = claimed {
            request = request.header("x-forwarded-for", claimed.to_string());
            request = request.header("forwarded", format!("for=\"[{claimed}]\""));
        }
        let headers = self.send(request).await?.headers;
        let number = |header: &str, parameter: &str| -> Option<u32> {
            let mut parameters = single(&headers, header)?.split(';');
            parameters
                .find_map(|text| text.strip_prefix(parameter))?
                .parse()
                .ok()
        };
        let counts = number("ratelimit-policy", "q=").zip(number("ratelimit", "r="));
        Ok(counts.map(|(quota, remaining)| quota.checked_sub(1) == Some(remaining)))
    }
}

/// Returns an address in a network of its own, of those for documentation (RFC 3849).
fn random_address() -> Ipv6Addr {
    let [a, b, c, d] = random::bytes();
    let network = [[a, b], [c, d]].map(u16::from_be_bytes);
    Ipv6Addr::new(0x2001, 0xdb8, network[0], network[1], 0, 0, 0, 1)
}
