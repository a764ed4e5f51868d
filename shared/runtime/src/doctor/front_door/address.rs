//! The checks that the server tells clients apart by their addresses, and that no client chooses its own.

mod counting;

use super::{FrontDoor, Reply, TIME_LIMIT};
use counting::{Count, Counting};
use foundation::{network, random};
use reqwest::Client;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;
use url::Url;

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
/// The further connections of a client that must share its count.
const CONNECTIONS: usize = 3;
/// A second address of every machine with Linux, from which it reaches itself.
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
/// The way to find it out without the check.
const BY_HAND: &str = "sign in, and compare the address of `events list` with yours";

/// The clients whose counts are compared.
struct Clients {
    /// Those with two addresses.
    pair: [Client; 2],
    /// Further ones with the address of the first one, each of which opens a connection.
    further: Vec<Client>,
}

impl FrontDoor<'_> {
    /// Compares how the server counts the requests of clients: nothing else tells which addresses it sees.
    /// `address` is that of a second client, if the operator has named it.
    pub(super) async fn examine_addresses(&mut self, path: &str, address: Option<IpAddr>) {
        let clients = match Clients::new(self.url, address) {
            Ok(clients) => clients,
            Err(error) => return self.fail_unexpected("client-address", path, Err(error.to_string())),
        };
        let replies = async {
            let first = self.send(clients.pair[0].get(self.url_of(path))).await?;
            let second = self.send(clients.pair[1].get(self.url_of(path))).await?;
            Ok::<_, String>([first, second])
        };
        let forger = match replies.await {
            Ok(replies) => {
                self.examine_client_address(&clients, &replies, path).await;
                // The first one may run on the machine of the proxy, which the server trusts.
                clients.pair[1].clone()
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
    async fn examine_client_address(&mut self, clients: &Clients, replies: &[Reply; 2], path: &str) {
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
        match self.judge(clients, path).await {
            Ok(Counting::Apart) => {
                let detail = format!("the server tells the clients {first} and {second} apart");
                self.report.ok("client-address", detail);
            }
            Ok(Counting::Together) => self.report.fail(
                "client-address",
                format!("the server takes {first} and {second} for one client"),
                "let the proxy add the client's address to X-Forwarded-For (nginx: \
                 `$proxy_add_x_forwarded_for`), and set TRUSTED_PROXIES to the address of the proxy: until \
                 then, clients lock each other out",
            ),
            Ok(Counting::ByConnection) => {
                let reason = format!(
                    "the server counts the connections of one client apart, perhaps by the addresses of several \
                     proxies: {BY_HAND}"
                );
                self.report.skip("client-address", reason);
            }
            Ok(Counting::Unclear) => {
                let reason =
                    format!("others have changed the counts of requests meanwhile: repeat it, or {BY_HAND}");
                self.report.skip("client-address", reason);
            }
            Err(error) => self.fail_unexpected("client-address", path, Err(error)),
        }
    }

    /// Compares the pair of clients until the result is certain.
    async fn judge(&self, clients: &Clients, path: &str) -> Result<Counting, String> {
        let mut found_together = false;
        for _ in 0..COMPARISONS {
            match self.compare(clients.pair.each_ref(), path).await? {
                Counting::Apart => return self.judge_connections(clients, path).await,
                Counting::Together if found_together => return Ok(Counting::Together),
                Counting::Together => found_together = true,
                Counting::ByConnection | Counting::Unclear => {}
            }
        }
        Ok(Counting::Unclear)
    }

    /// Confirms that clients are counted apart by their addresses: behind several proxies whose addresses the
    /// server sees, connections would be.
    async fn judge_connections(&self, clients: &Clients, path: &str) -> Result<Counting, String> {
        let mut sharing = 0;
        for further in &clients.further {
            match self.compare([&clients.pair[0], further], path).await? {
                Counting::Apart => return Ok(Counting::ByConnection),
                Counting::Together => sharing += 1,
                Counting::ByConnection | Counting::Unclear => {}
            }
            if sharing == CONNECTIONS {
                return Ok(Counting::Apart);
            }
        }
        Ok(Counting::Unclear)
    }

    /// Lets the second client send requests between two counts of the first one.
    async fn compare(&self, [first, second]: [&Client; 2], path: &str) -> Result<Counting, String> {
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

impl Clients {
    /// Creates clients with two addresses of this machine: on loopback with the usual one and another, and
    /// elsewhere with IPv4 and IPv6, unless `second` names one. They use no proxy of the environment, whose
    /// address all would have.
    fn new(url: &Url, second: Option<IpAddr>) -> Result<Self, reqwest::Error> {
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
        // One more than needed, because a new minute may spoil a comparison.
        let further = (0..=CONNECTIONS).map(|_| build(first));
        Ok(Self {
            pair: [build(first)?, build(second)?],
            further: further.collect::<Result<_, _>>()?,
        })
    }
}

/// Returns an address in a network of its own, of those for documentation (RFC 3849).
fn random_address() -> Ipv6Addr {
    let [a, b, c, d] = random::bytes();
    let network = [[a, b], [c, d]].map(u16::from_be_bytes);
    Ipv6Addr::new(0x2001, 0xdb8, network[0], network[1], 0, 0, 0, 1)
}
