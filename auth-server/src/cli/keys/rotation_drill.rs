//! The command `keys drill`: drills rotations of the signing keys with a service client of its own. Each
//! drill registers one, so that its tokens can read published posts and nothing else, and so that no secret
//! is kept: only the memory of the command holds it.

use super::super::{Error, Services, print};
use drill::{Attempt, DrillArgs, SCOPE, ServiceClient};
use foundation::context::RequestContext;
use foundation::{clock, random};
use identity::clients::ClientType;
use issuer::clients::{self, Registration};
use issuer::keys::{Error as KeyError, KeyStore, Outcome};
use runtime::server::stop_signal;
use std::time::Duration;

/// The beginning of the ids of the service clients.
const ID_PREFIX: &str = "keys-drill-";

/// Runs a drill with a service client of its own, which is disabled at the end, and prints the report. Fails
/// if a replica did not answer correctly before the first rotation, if the drill found a problem, or if the
/// client could not be disabled.
pub(super) async fn run(args: &DrillArgs, store: &KeyStore, services: &Services) -> Result<(), Error> {
    let stop = stop_signal()?;
    let client = register(services).await?;
    let client_id = client.id.clone();
    let rotate = async || try_to_rotate(store).await;
    let report = drill::run(args, &services.issuer, store.max_age, client, rotate, stop).await;
    let (db, revocations) = (&services.db, &services.revocations);
    let disabled = clients::disable(db, revocations, &client_id, &RequestContext::without_request()).await;
    let report = report?;
    // The report of a long drill is printed even if the database failed since.
    print(args.json, &report, &report.lines())?;
    disabled?;
    match report.problems.as_slice() {
        [] => Ok(()),
        problems => Err(drill::Error::Failed(problems.join("; ")).into()),
    }
}

/// Rotates the keys if the staged key may sign. Fails with a message.
async fn try_to_rotate(store: &KeyStore) -> Result<Attempt, String> {
    match store.rotate(&RequestContext::without_request()).await {
        Ok(change) if change.outcome == Outcome::Rotated => Ok(Attempt::Rotated {
            from: change.kid,
            to: change.active.unwrap_or_default(),
        }),
        Ok(_) | Err(KeyError::NoneStaged) => Ok(Attempt::TooEarly(Duration::ZERO)),
        Err(KeyError::SignsLater { until, .. }) => Ok(Attempt::TooEarly(until.since(clock::now()))),
        Err(error) => Err(error.to_string()),
    }
}

/// Registers a service client with an id of its own.
async fn register(services: &Services) -> Result<ServiceClient, Error> {
    let id = format!("{ID_PREFIX}{}", random::uuid());
    let name = "Drill of the signing keys".to_owned();
    let scope = SCOPE.parse().unwrap_or_default();
    let registration = Registration {
        first_party: true,
        ..Registration::new(id, name, ClientType::Service, scope)
    };
    let context = RequestContext::without_request();
    let (client, secret) = clients::register(&services.db, &services.issuer, registration, &context).await?;
    let secret = secret.ok_or_else(|| drill::Error::Failed("the service client got no secret".to_owned()))?;
    Ok(ServiceClient {
        id: client.id,
        secret,
    })
}
