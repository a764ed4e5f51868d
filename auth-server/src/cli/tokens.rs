//! The command `tokens preview`.

use super::{Error, Services, print};
use crate::guarded_client;
use clap::Subcommand;
use identity::clients::Clients;
use issuer::clients::documents::{DocumentServices, Documents};
use issuer::grants::{PreviewRequest, Previewer, TokenTerms};
use storage::expiring::ExpiringStore;

/// The commands for tokens.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show the claims that an app would get if a user signed in now and gave it access. Issues nothing.
    Preview {
        /// The e-mail address of the user. A service needs none.
        #[arg(long, value_name = "EMAIL", default_value = "", hide_default_value = true)]
        user: String,
        /// The `client_id` of the app.
        #[arg(long, value_name = "ID", allow_hyphen_values = true)]
        client: String,
        /// The scope that the app asks for. By default that of the app.
        #[arg(long, default_value = "", hide_default_value = true)]
        scope: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// Prints the claims. Fails with the reason if the app would get no tokens.
pub(super) async fn run(command: Command, services: &Services) -> Result<(), Error> {
    let Command::Preview {
        user,
        client,
        scope,
        json,
    } = command;
    let (db, settings) = (&services.db, &services.settings);
    let documents = Documents::new(DocumentServices {
        hosts: settings.client_id_metadata_documents.clone(),
        http: guarded_client(&services.issuer)?,
        db: db.clone(),
        clients: Clients::new(db.clone()),
        revocations: services.revocations.clone(),
        store: ExpiringStore::new(None),
        issuer: services.issuer.clone(),
    });
    let previewer = Previewer {
        db,
        documents: &documents,
        terms: TokenTerms {
            issuer: &services.issuer,
            audience: &services.audience,
            lifetime: settings.lifetimes().access_token,
        },
    };
    let request = PreviewRequest {
        client_id: &client,
        email: &user,
        scope: &scope,
    };
    let preview = previewer.preview(request, services.clock.now()).await?;
    if let Some(refusal) = preview.refusal {
        return Err(Error::NoTokens(refusal));
    }
    let parts = [
        ("access token", &preview.access_token),
        ("ID token", &preview.id_token),
        ("response of /userinfo", &preview.user_info),
    ];
    let texts = parts.into_iter().filter_map(|(name, claims)| {
        let claims = claims.as_ref()?;
        Some(format!("{name}: {claims:#}\n"))
    });
    let text: String = texts.collect();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    print(json, &preview, &lines)
}
