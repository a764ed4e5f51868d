//! The query of `GET /admin/consents`.

use super::super::ListQuery;
use foundation::ids::{Id, TextId};
use identity::grants::consents::{Consent, Filter, Position};
use issuer::params::Params;
use utoipa::IntoParams;

/// The filters and the page. Invalid values are ignored.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ConsentsQuery {
    /// Only consents of this user.
    #[param(inline)]
    user_id: Option<Id>,
    /// Only consents to this client.
    #[param(max_length = 64)]
    client_id: Option<String>,
    /// The cursor of the page: `next` of the previous one.
    #[param(value_type = Option<String>)]
    cursor: Option<Position>,
}

impl ConsentsQuery {
    /// Returns the condition on the listed consents.
    pub(super) fn filter(&self) -> Filter {
        Filter {
            user_id: self.user_id.map(Id::get),
            client_id: self.client_id.clone(),
        }
    }

    /// Returns the position before the page.
    pub(super) fn after(&self) -> Position {
        self.cursor.clone().unwrap_or_default()
    }
}

impl ListQuery for ConsentsQuery {
    fn read(params: &Params) -> Self {
        Self {
            user_id: params.get("user_id").and_then(|id| id.parse().ok()),
            client_id: params.get("client_id").and_then(parse_client_id),
            cursor: params.get("cursor").and_then(parse_cursor),
        }
    }

    fn filters(&self) -> Vec<(&'static str, Option<String>)> {
        vec![
            ("user_id", self.user_id.map(|id| id.get().to_string())),
            ("client_id", self.client_id.clone()),
        ]
    }
}

/// Returns the cursor of the page after this consent: the id of the user, a dot and the `client_id`.
pub(super) fn cursor(consent: &Consent) -> String {
    format!("{}.{}", consent.user_id, consent.client_id)
}

fn parse_cursor(text: &str) -> Option<Position> {
    let (user_id, client_id) = text.split_once('.')?;
    Some(Position {
        user_id: user_id.parse::<Id>().ok()?.get(),
        client_id: parse_client_id(client_id)?,
    })
}

fn parse_client_id(text: &str) -> Option<String> {
    text.parse::<TextId>().ok().map(String::from)
}
