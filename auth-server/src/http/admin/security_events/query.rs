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
    /// Only events of this user.
    #[param(inline)]
    user_id: Option<Id>,
    /// Only events that this administrator caused.
    #[param(inline)]
    administrator_id: Option<Id>,
    /// The cursor of the page: `next` of the previous one.
    #[param(inline)]
    pub(super) cursor: Option<Cursor>,
}

impl EventsQuery {
    /// Returns the condition on the listed events.
    pub(super) fn filter(&self) -> Filter {
        Filter {
            name: self.name.clone(),
            user_id: self.user_id.map(Id::get),
            administrator_id: self.administrator_id.map(Id::get),
        }
    }
}

impl ListQuery for EventsQuery {
    fn read(params: &Params) -> Self {
        let name = params.get("name").filter(|name| !name.contains('\0'));
        Self {
            name: name.map(str::to_owned),
            user_id: params.get("user_id").and_then(|id| id.parse().ok()),
            administrator_id: params.get("administrator_id").and_then(|id| id.parse().ok()),
            cursor: params.get("cursor").and_then(Cursor::parse),
        }
    }

    fn filters(&self) -> Vec<(&'static str, Option<String>)> {
        vec![
            ("name", self.name.clone()),
            ("user_id", self.user_id.map(|id| id.get().to_string())),
            (
                "administrator_id",
                self.administrator_id.map(|id| id.get().to_string()),
            ),
        ]
    }
}
