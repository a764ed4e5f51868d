//! The query of `GET /admin/sessions`.

use super::super::ListQuery;
use foundation::ids::Id;
use issuer::params::Params;
use utoipa::IntoParams;

/// The filter and the page. Invalid values are ignored.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SessionsQuery {
    /// Only sessions of this user.
    #[param(inline)]
    pub(super) user_id: Option<Id>,
    /// The cursor of the page: `next` of the previous one.
    #[param(inline)]
    pub(super) cursor: Option<Id>,
}

impl ListQuery for SessionsQuery {
    fn read(params: &Params) -> Self {
        Self {
            user_id: params.get("user_id").and_then(|id| id.parse().ok()),
            cursor: params.get("cursor").and_then(|id| id.parse().ok()),
        }
    }

    fn filters(&self) -> Vec<(&'static str, Option<String>)> {
        vec![("user_id", self.user_id.map(|id| id.get().to_string()))]
    }
}
