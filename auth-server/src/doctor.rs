//! The checks of `doctor` that only an issuer needs: the signing keys, the keys that seal, and the mail.

use crate::cli::SealingKeys;
use crate::installation;
use crate::settings::IssuerSettings;
use foundation::clock;
use foundation::duration::in_words;
use foundation::sealing::SealingKey;
use foundation::settings::InvalidSetting;
use issuer::keys::life::takeover;
use issuer::keys::{self, Key, MasterKeys, State};
use mail::{OUTBOX, Transport};
use runtime::doctor::Report;
use runtime::settings::CommonSettings;
use std::time::Duration;
use storage::db::Db;

/// The time after which a due rotation is late. A running issuer makes it within seconds.
const LATE_AFTER: Duration = Duration::from_secs(60);

/// Adds the findings about the keys and the mail. `db` is the database, if its schema is up to date.
pub async fn examine(
    report: &mut Report,
    db: Option<&Db>,
    common: &CommonSettings,
    settings: &IssuerSettings,
    sealing_keys: SealingKeys,
) {
    let keys = match db {
        None => Err("the database, or its schema, is not there yet".to_owned()),
        Some(db) => keys::all(db).await.map_err(|error| error.to_string()),
    };
    match keys {
        Err(reason) => report.skip("signing-keys", reason),
        Ok(keys) => {
            examine_keys(report, &keys, settings.signing_keys.signing_key_lifetime);
            examine_master_key(report, &keys, sealing_keys.master);
        }
    }
    if let Some(db) = db {
        examine_account_key(report, db, sealing_keys.account).await;
    }
    examine_mail(report, common, settings).await;
}

/// Adds the finding about the states of the signing keys, each of which signs for `lifetime`.
fn examine_keys(report: &mut Report, keys: &[Key], lifetime: Duration) {
    let now = clock::now();
    let remedy = "start an issuer, which makes the change within seconds, or read its log";
    let active = keys::in_state(keys, State::Active);
    let next = takeover(keys, lifetime);
    match (active, next) {
        (None, _) => report.fail("signing-keys", "no key is active, so nobody gets tokens", remedy),
        (Some(active), None) => {
            let detail = format!("{} is active, and no key is staged for the rotation", active.kid);
            report.warn("signing-keys", detail, remedy);
        }
        (Some(_), Some((staged, at))) if now.since(at) > LATE_AFTER => {
            let detail = format!("the rotation to {} has been due since {at}", staged.kid);
            report.fail("signing-keys", detail, remedy);
        }
        (Some(active), Some((staged, at))) => {
            let age = now.since(active.activated_at.unwrap_or(active.created_at));
            let retired = keys.iter().filter(|key| key.state == State::Retired).count();
            report.ok(
                "signing-keys",
                format!(
                    "{} has been active for {}; {} is staged and takes over at {at}; {retired} retired",
                    active.kid,
                    in_words(age),
                    staged.kid
                ),
            );
        }
    }
}

fn examine_master_key(report: &mut Report, keys: &[Key], master_keys: Result<MasterKeys, InvalidSetting>) {
    let mut sealed = keys.iter().filter(|key| key.state != State::Deleted);
    let opened = master_keys
        .map_err(|invalid| invalid.to_string())
        .and_then(|master_keys| {
            let opened = sealed.try_for_each(|key| key.check_seal(&master_keys));
            opened.map_err(|error| error.to_string())
        });
    match opened {
        Ok(()) => report.ok("master-key", "it opens the signing keys"),
        Err(reason) => report.fail("master-key", reason, "restore the former key from your backup"),
    }
}

async fn examine_account_key(report: &mut Report, db: &Db, account_key: Result<SealingKey, InvalidSetting>) {
    let opened = match account_key {
        Ok(key) => installation::check_account_key(db, &key).await,
        Err(invalid) => Err(invalid.into()),
    };
    match opened {
        Ok(()) => report.ok("account-key", "it opens the secrets of accounts"),
        Err(error) => {
            let remedy = "restore the former key from your backup";
            report.fail("account-key", error.to_string(), remedy);
        }
    }
}

async fn examine_mail(report: &mut Report, common: &CommonSettings, settings: &IssuerSettings) {
    let mail = &settings.mail;
    let has_server = mail.smtp_url.is_some() || mail.smtp_url_file.is_some();
    // The transport would create the directory, which then belonged to the user of this command.
    if !has_server && !common.data_dir.join(OUTBOX).exists() {
        let reason = "SMTP_URL is not set, and no server has created DATA_DIR/outbox yet";
        return report.skip("mail", reason);
    }
    let transport = match mail.transport(&common.data_dir) {
        Ok(transport) => transport,
        Err(invalid) => {
            return report.fail(
                "mail",
                invalid.to_string(),
                "correct SMTP_URL, or the owner of DATA_DIR/outbox",
            );
        }
    };
    match (&transport, transport.check().await) {
        (Transport::Smtp(_), Ok(())) => {
            report.ok("mail", "the SMTP server accepts the connection and the login");
        }
        (Transport::Smtp(_), Err(error)) => report.fail(
            "mail",
            error.to_string(),
            "check the host, the port, the TLS and the password in SMTP_URL, and the firewall",
        ),
        (Transport::Directory(directory), Ok(())) => {
            let detail = format!("mails become files in {}", directory.display());
            match common.network.is_production() {
                true => report.warn("mail", detail, "set SMTP_URL: nobody gets these mails"),
                false => report.ok("mail", detail),
            }
        }
        (Transport::Directory(_), Err(error)) => {
            report.fail(
                "mail",
                error.to_string(),
                "let the user of the server own DATA_DIR/outbox",
            );
        }
    }
}
