//! What the list is asked for.

use crate::params::Params;
use shared::cursor::Cursor;
use utoipa::IntoParams;

/// Which events. What is not understood is ignored.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct EventsQuery {
    /// Of this name alone.
    pub(super) name: Option<String>,
    /// Of this user alone.
    #[param(minimum = 1)]
    pub(super) user_id: Option<i64>,
    /// From where on: `next` of the page before.
    #[param(inline)]
    pub(super) cursor: Option<Cursor>,
}

impl EventsQuery {
    pub(super) fn read(query: &str) -> Self {
        let params = Params::from_form(query.as_bytes());
        let name = params.get("name").filter(|name| !name.contains('\0'));
        Self {
            name: name.map(str::to_owned),
            user_id: params.get("user_id").and_then(|id| id.parse().ok()),
            cursor: params.get("cursor").and_then(Cursor::parse),
        }
    }
}
