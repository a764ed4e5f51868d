//! The query of `GET /admin/security-events`.

use super::super::ListQuery;
use audit::events::list::Filter;
use foundation::cursor::Cursor;
use foundation::ids::Id;
use issuer::params::Params;
use utoipa::IntoParams;

/// The filters and the page. Invalid values are ignored.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventsQuery {
    /// Only events of this name.
    name: Option<String>,
    /// Only events of the user with this id, or of the deleted account with this pseudonym, which is negative.
    user_id: Option<i64>,
    /// Only events that the administrator with this id or pseudonym caused.
    administrator_id: Option<i64>,
    /// The cursor of the page: `next` of the previous one.
    #[param(inline)]
    pub(super) cursor: Option<Cursor>,
}

impl EventsQuery {
    /// Returns the condition on the listed events.
    pub(super) fn filter(&self) -> Filter {
        Filter {
            name: self.name.clone(),
            user_id: self.user_id,
            administrator_id: self.administrator_id,
        }
    }
}

impl ListQuery for EventsQuery {
    fn read(params: &Params) -> Self {
        let name = params.get("name").filter(|name| !name.contains('\0'));
        Self {
            name: name.map(str::to_owned),
            user_id: params.get("user_id").and_then(parse_id),
            administrator_id: params.get("administrator_id").and_then(parse_id),
            cursor: params.get("cursor").and_then(Cursor::parse),
        }
    }

    fn filters(&self) -> Vec<(&'static str, Option<String>)> {
        vec![
            ("name", self.name.clone()),
            ("user_id", self.user_id.map(|id| id.to_string())),
            ("administrator_id", self.administrator_id.map(|id| id.to_string())),
        ]
    }
}

/// Parses the canonical form of an id, or of a pseudonym: an id after a minus sign.
fn parse_id(text: &str) -> Option<i64> {
    match text.strip_prefix('-') {
        Some(number) => Some(-number.parse::<Id>().ok()?.get()),
        None => Some(text.parse::<Id>().ok()?.get()),
    }
}
