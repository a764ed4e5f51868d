//! The users and the clients that security events are about.

use crate::{clients, users};
use audit::events::list::SecurityEvent;
use std::collections::HashMap;
use storage::db::{Db, Error};

/// Those users and clients that are not deleted.
#[derive(Debug, Default)]
pub struct EventSubjects {
    /// The e-mail addresses of the users and the administrators, by their ids.
    pub emails: HashMap<i64, String>,
    /// The names of the clients, by their ids.
    pub clients: HashMap<String, String>,
}

impl EventSubjects {
    /// Reads the users and the clients of these events.
    pub async fn read(db: &Db, events: &[SecurityEvent]) -> Result<Self, Error> {
        Ok(Self {
            emails: users::emails(db, &SecurityEvent::persons(events)).await?,
            clients: clients::names(db, &SecurityEvent::clients(events)).await?,
        })
    }
}
