//! Mails: written sealed, in the transaction of their cause, so that none is lost and none is sent for what did
//! not happen.

mod notice;

pub use notice::Notice;

use crate::clock::Timestamp;
use crate::db::{Error, Tx};
use crate::events::Context;
use crate::seal::SealingKey;
use crate::{execute, sql};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

sql! {
    INSERT = "INSERT INTO mails (sealed, created_at, due_at, attempts) VALUES ($1, $2, $2, 0)";
}

/// What a mail is sealed as.
const SEALED_AS: &str = "mail";

/// A mail to be sent.
#[derive(Debug, Deserialize, Serialize)]
pub struct Mail {
    /// The address; a mail to nobody is written and sealed like any other, and never sent.
    pub to: Option<String>,
    /// One line.
    pub subject: String,
    /// Plain text.
    pub text: String,
}

/// Writes mails. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Mails {
    key: SealingKey,
    issuer: Arc<str>,
}

impl Mails {
    /// Mails sealed under this key, whose links lead to the issuer's pages.
    pub fn new(key: SealingKey, issuer: &str) -> Self {
        Self {
            key,
            issuer: issuer.into(),
        }
    }

    /// Writes a mail in the caller's transaction; it is sent after the commit.
    pub async fn queue(&self, tx: &mut Tx, mail: &Mail, now: Timestamp) -> Result<(), Error> {
        #[allow(clippy::expect_used, reason = "a struct of texts is JSON")]
        let plain = serde_json::to_vec(mail).expect("a mail is written as JSON");
        execute!(tx.on(), INSERT, self.key.seal(SEALED_AS, &plain), now).map(|_| ())
    }

    /// Tells a user what was done to their account, in the caller's transaction.
    pub async fn tell(
        &self,
        tx: &mut Tx,
        email: &str,
        notice: Notice<'_>,
        context: &Context,
    ) -> Result<(), Error> {
        let mail = notice.to_mail(email, &self.issuer, context);
        self.queue(tx, &mail, context.now).await
    }
}
