//! The query of `GET /admin/security-events`.

use foundation::cursor::Cursor;
use issuer::params::Params;
use utoipa::IntoParams;

/// The filters and the page. Invalid values are ignored.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct EventsQuery {
    /// Only events of this name.
    pub(super) name: Option<String>,
    /// Only events of this user.
    #[param(minimum = 1)]
    pub(super) user_id: Option<i64>,
    /// The cursor of the page: `next` of the previous one.
    #[param(inline)]
    pub(super) cursor: Option<Cursor>,
}

impl EventsQuery {
    /// Reads a query string. If a parameter is repeated, its first value is read.
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
