//! The checks of `doctor` that only the API needs: the issuer's keys and metadata.

use crate::api::shared_settings;
use crate::settings::ApiSettings;
use access_tokens::Jwks;
use runtime::doctor::Report;
use runtime::settings::CommonSettings;

/// Adds the findings about the issuer as this API sees it. `is_issuer` tells whether the program is the
/// issuer too, and fetches the keys from its own listener.
pub async fn examine(report: &mut Report, common: &CommonSettings, settings: &ApiSettings, is_issuer: bool) {
    let own_issuer = is_issuer.then(|| common.network.own_address()).transpose();
    let own_issuer = match own_issuer {
        Ok(own_issuer) => own_issuer,
        Err(reason) => return report.skip("jwks", reason),
    };
    let urls = match common.network.urls(common.network.listen) {
        Ok(urls) => urls,
        Err(invalid) => return report.skip("jwks", invalid.to_string()),
    };
    let remedy = "start the issuer, and check ISSUER, JWKS_URL and the network between the two";
    let url = settings.jwks_url(&urls, own_issuer);
    let jwks = Jwks::new(url.clone());
    match jwks.fetch().await {
        Ok(_) => {
            let keys = jwks.kids().borrow().len();
            report.ok("jwks", format!("{url} has {keys} keys"));
        }
        Err(error) => report.fail("jwks", error, remedy),
    }
    if is_issuer {
        return;
    }
    let url = settings.issuer_metadata_url(&urls);
    let shared = shared_settings(&urls, &common.network.policy(&urls));
    match shared.disagreement_with_issuer(&jwks, &url).await {
        Ok(None) => report.ok("issuer", format!("{url} has the same ISSUER and AUDIENCE")),
        Ok(Some(disagreement)) => report.fail(
            "issuer",
            disagreement,
            "correct the setting, and restart both services",
        ),
        Err(error) => report.fail("issuer", error, remedy),
    }
}
