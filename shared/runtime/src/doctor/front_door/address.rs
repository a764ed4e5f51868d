//! The checks that the server tells clients apart by their addresses, and that no client chooses its own.

use super::{FrontDoor, Reply, TIME_LIMIT};
use foundation::{network, random};
use reqwest::Client;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;
use url::Url;
use web::headers::single;

/// The number of requests from the own address, and of those that claim another one.
const REQUESTS: usize = 3;
/// The number of requests of a client of which every replica gets some.
const BATCH: u32 = 4;
/// The number of requests of the second client, more than the first one sends between its two counts.
const OTHERS: u32 = 20;
/// The time in which replicas share their counts.
const PAUSE: Duration = Duration::from_millis(500);
/// The most comparisons of two clients. A new minute, in which the counts begin again, spoils one, and an
/// error must be found twice.
const COMPARISONS: usize = 3;
/// A second address of every machine with Linux, from which it reaches itself.
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
/// The way to find it out without the check.
const BY_HAND: &str = "sign in, and compare the address of `events list` with yours";

/// The count in a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Count {
    quota: u32,
    remaining: u32,
    /// The seconds until a new minute begins.
    resets_in: u32,
}

/// How the server counts two clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counting {
    Apart,
    Together,
    Unclear,
}

impl FrontDoor<'_> {
    /// Compares how the server counts the requests of clients: nothing else tells which addresses it sees.
    /// `address` is that of a second client, if the operator has named it.
    pub(super) async fn examine_addresses(&mut self, path: &str, address: Option<IpAddr>) {
        let clients = match two_clients(self.url, address) {
            Ok(clients) => clients,
            Err(error) => return self.fail_unexpected("client-address", path, Err(error.to_string())),
        };
        let replies = async {
            let first = self.send(clients[0].get(self.url_of(path))).await?;
            Ok::<_, String>([first, self.send(clients[1].get(self.url_of(path))).await?])
        };
        let forger = match replies.await {
            Ok(replies) => {
                self.examine_client_address(&clients, &replies, path).await;
                // The first one may run on the machine of the proxy, which the server trusts.
                clients[1].clone()
            }
            Err(error) => {
                let reason = format!(
                    "no two addresses of this machine reach the server ({error}): add --address, or {BY_HAND}"
                );
                self.report.skip("client-address", reason);
                self.client.clone()
            }
        };
        self.examine_forged_address(&forger, path).await;
    }

    /// Checks that the server counts two clients apart, each of which has got a reply.
    async fn examine_client_address(&mut self, clients: &[Client; 2], replies: &[Reply; 2], path: &str) {
        let networks = replies.each_ref().map(|reply| {
            let address = reply.connection.map(|connection| connection.ip());
            address.map(network::of_address).unwrap_or_default()
        });
        let [first, second] = &networks;
        if first == second {
            let reason = format!(
                "both clients have the address {first}: add --address with another one, or {BY_HAND}"
            );
            return self.report.skip("client-address", reason);
        }
        if replies.iter().any(|reply| Count::of(reply).is_none()) {
            let reason =
                format!("the responses do not count requests, because the rate limits are off: {BY_HAND}");
            return self.report.skip("client-address", reason);
        }
        let mut found_together = false;
        for _ in 0..COMPARISONS {
            match self.compare(clients, path).await {
                Ok(Counting::Apart) => {
                    let detail = format!("the server tells the clients {first} and {second} apart");
                    return self.report.ok("client-address", detail);
                }
                Ok(Counting::Together) if found_together => {
                    return self.report.fail(
                        "client-address",
                        format!("the server takes {first} and {second} for one client"),
                        "let the proxy add the client's address to X-Forwarded-For (nginx: \
                         `$proxy_add_x_forwarded_for`), and set TRUSTED_PROXIES to the address of the proxy: until \
                         then, clients lock each other out",
                    );
                }
                Ok(Counting::Together) => found_together = true,
                Ok(Counting::Unclear) => {}
                Err(error) => return self.fail_unexpected("client-address", path, Err(error)),
            }
        }
        let reason = format!("others have changed the counts of requests meanwhile: repeat it, or {BY_HAND}");
        self.report.skip("client-address", reason);
    }

    /// Lets the second client send requests between two counts of the first one.
    async fn compare(&self, [first, second]: &[Client; 2], path: &str) -> Result<Counting, String> {
        let before = self.settled_count(first, path).await?;
        for _ in 0..OTHERS {
            self.count(second, path, None).await?;
        }
        let after = self.settled_count(first, path).await?;
        Ok(Counting::of(before, after))
    }

    /// Returns the count of a client once the replicas have shared their counts; `None` if the responses do
    /// not tell it.
    async fn settled_count(&self, client: &Client, path: &str) -> Result<Option<Count>, String> {
        for _ in 0..BATCH {
            self.count(client, path, None).await?;
        }
        tokio::time::sleep(PAUSE).await;
        let mut counts = Vec::new();
        for _ in 0..BATCH {
            counts.extend(self.count(client, path, None).await?);
        }
        Ok(counts.into_iter().min_by_key(|count| count.remaining))
    }

    /// Compares the counts of requests that claim to come from elsewhere with those of other requests.
    async fn examine_forged_address(&mut self, client: &Client, path: &str) {
        let is_first = |count: Option<Count>| count.map(Count::is_first);
        let counted = async {
            let (mut own, mut claimed) = (None, Vec::new());
            for _ in 0..REQUESTS {
                own = is_first(self.count(client, path, None).await?);
            }
            for _ in 0..REQUESTS {
                claimed.push(is_first(self.count(client, path, Some(random_address())).await?));
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
    }

    /// Sends a request, which claims to come from `claimed` if that is set. Returns the count in its response.
    async fn count(
        &self,
        client: &Client,
        path: &str,
        claimed: Option<Ipv6Addr>,
    ) -> Result<Option<Count>, String> {
        let mut request = client.get(self.url_of(path));
        if let Some(claimed) = claimed {
            request = request.header("x-forwarded-for", claimed.to_string());
            request = request.header("forwarded", format!("for=\"[{claimed}]\""));
        }
        Ok(Count::of(&self.send(request).await?))
    }
}

impl Count {
    /// Returns the count in a response; `None` if it counts no requests.
    fn of(reply: &Reply) -> Option<Self> {
        let number = |header: &str, parameter: &str| -> Option<u32> {
            let mut parameters = single(&reply.headers, header)?.split(';');
            let text = parameters.find_map(|text| text.strip_prefix(parameter))?;
            text.parse().ok()
        };
        Some(Self {
            quota: number("ratelimit-policy", "q=")?,
            remaining: number("ratelimit", "r=")?,
            resets_in: number("ratelimit", "t=")?,
        })
    }

    /// Returns whether the request was the first one from the address that the server sees.
    fn is_first(self) -> bool {
        self.quota.checked_sub(1) == Some(self.remaining)
    }
}

impl Counting {
    /// Judges by the counts of the first client before and after the requests of the second one. At zero, the
    /// server counts no further.
    fn of(before: Option<Count>, after: Option<Count>) -> Self {
        let Some((before, after)) = before.zip(after) else {
            return Self::Unclear;
        };
        let is_one_minute = after.resets_in <= before.resets_in;
        match before.remaining.checked_sub(after.remaining) {
            Some(OTHERS..) if is_one_minute && after.remaining > 0 => Self::Together,
            Some(BATCH..OTHERS) if is_one_minute && after.remaining > 0 => Self::Apart,
            _ => Self::Unclear,
        }
    }
}

/// Returns clients with two addresses of this machine: on loopback with the usual one and another, and
/// elsewhere with IPv4 and IPv6, unless `second` names one. They use no proxy of the environment, whose address
/// both would have.
fn two_clients(url: &Url, second: Option<IpAddr>) -> Result<[Client; 2], reqwest::Error> {
    let [first, second] = match second {
        Some(second) => [None, Some(second)],
        None if http_client::is_loopback(url) => [None, Some(LOOPBACK)],
        None => [
            Some(Ipv4Addr::UNSPECIFIED.into()),
            Some(Ipv6Addr::UNSPECIFIED.into()),
        ],
    };
    let build = |address: Option<IpAddr>| {
        let builder = http_client::builder(url, TIME_LIMIT).no_proxy();
        builder.local_address(address).build()
    };
    Ok([build(first)?, build(second)?])
}

/// Returns an address in a network of its own, of those for documentation (RFC 3849).
fn random_address() -> Ipv6Addr {
    let [a, b, c, d] = random::bytes();
    let network = [[a, b], [c, d]].map(u16::from_be_bytes);
    Ipv6Addr::new(0x2001, 0xdb8, network[0], network[1], 0, 0, 0, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_together_if_the_requests_of_one_count_for_the_other() {
        let own = 2 * BATCH;
        let count = |remaining, resets_in| Count {
            quota: 600,
            remaining,
            resets_in,
        };
        let counting = |remaining| Counting::of(Some(count(600, 30)), Some(count(remaining, 28)));
        assert_eq!(counting(600 - own), Counting::Apart);
        // Some of the former requests had not been shared.
        assert_eq!(counting(600 - own - BATCH), Counting::Apart);
        assert_eq!(counting(600 - own - OTHERS), Counting::Together);
        // The limit is reached, others answered, or a new minute has begun.
        for remaining in [0, 600, 601] {
            assert_eq!(counting(remaining), Counting::Unclear, "{remaining}");
        }
        let next_minute = Counting::of(Some(count(580, 1)), Some(count(572, 60)));
        assert_eq!(next_minute, Counting::Unclear);
        assert_eq!(Counting::of(None, Some(count(600, 30))), Counting::Unclear);
    }
}
