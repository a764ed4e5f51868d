//! Deployments that many tests share.

use super::{Deployment, World};
use crate::http::Origin;
use crate::shape::{Shape, TestArgument};
use libtest_mimic::{Failed, Trial};
use std::net::Ipv4Addr;
use std::ops::Deref;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, LazyLock};
use tokio::runtime::Runtime;
use tokio::sync::Mutex;

/// The deployments, each started by the first test that needs it.
static DEPLOYMENTS: Mutex<Vec<Arc<Deployment>>> = Mutex::const_new(Vec::new());
/// The runtime of their reverse proxies, which outlives those of the tests.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// One test's view of the deployment that tests of a shape share, for tests that need no setting, clock,
/// fault or restart of their own. Its calls come from an address in a network of its own, so that the limits
/// of other tests do not reach it. The test must tell its users, clients and posts from those of others.
#[derive(Debug)]
pub struct SharedWorld(World);

impl TestArgument for SharedWorld {
    async fn for_test(name: &'static str, shape: Shape) -> Self {
        let origin = Origin {
            test: name,
            address: fresh_address(),
        };
        Self(World::of(deployment(shape).await, origin))
    }
}

impl Deref for SharedWorld {
    type Target = World;

    fn deref(&self) -> &World {
        &self.0
    }
}

impl Drop for SharedWorld {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let address = self.0.anyone.address().to_string();
            let log = self.0.log();
            let lines: Vec<&str> = log.lines().filter(|line| line.contains(&address)).collect();
            eprintln!(
                "--- log lines of {address} ---\n{}\n--- end of logs ---",
                lines.join("\n")
            );
        }
    }
}

/// An address in a /24 network that no other test has. Connections from it to 127.0.0.1 need no preparation
/// on Linux.
fn fresh_address() -> Ipv4Addr {
    static NETWORKS: AtomicU16 = AtomicU16::new(256);
    let [high, low] = NETWORKS.fetch_add(1, Ordering::Relaxed).to_be_bytes();
    Ipv4Addr::new(127, high, low, 1)
}

/// Returns the deployment of this shape. The first call starts it.
async fn deployment(shape: Shape) -> Arc<Deployment> {
    let mut deployments = DEPLOYMENTS.lock().await;
    if let Some(running) = deployments.iter().find(|running| running.shape == shape) {
        return Arc::clone(running);
    }
    let started = RUNTIME.spawn(World::builder(shape).deploy()).await.unwrap();
    let started = Arc::new(started);
    deployments.push(Arc::clone(&started));
    started
}

/// Stops the shared deployments, and returns a test for each, which searches its logs and data for secrets of
/// all tests and for panics.
pub(crate) fn end_shared_deployments() -> Vec<Trial> {
    let ended = std::mem::take(&mut *DEPLOYMENTS.blocking_lock());
    let search = |deployment: Arc<Deployment>| {
        let name = format!(
            "shared_deployment::{:?}::has_no_secret_and_no_panic",
            deployment.shape
        );
        Trial::test(name.to_lowercase(), move || {
            let deployment = Arc::into_inner(deployment);
            deployment
                .map(drop)
                .ok_or_else(|| Failed::from("a test still uses it"))
        })
    };
    ended.into_iter().map(search).collect()
}
