//! The query of `GET /admin/users`.

use super::super::ListQuery;
use foundation::email::Email;
use foundation::ids::Id;
use identity::users::Role;
use identity::users::account::Filter;
use issuer::params::Params;
use utoipa::IntoParams;

/// The filters and the page. Invalid values are ignored.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct UsersQuery {
    /// Only the user with this address, in any case.
    #[param(inline)]
    email: Option<Email>,
    /// Only users with this role.
    #[param(inline)]
    role: Option<Role>,
    /// Only disabled users (`true`), or only enabled ones (`false`).
    disabled: Option<bool>,
    /// The cursor of the page: `next` of the previous one.
    #[param(inline)]
    cursor: Option<Id>,
}

impl UsersQuery {
    /// Returns the condition on the listed users.
    pub(super) fn filter(&self) -> Filter {
        Filter {
            email: self.email.clone(),
            role: self.role,
            disabled: self.disabled,
        }
    }

    /// Returns the id of the user before the page, or zero.
    pub(super) fn after(&self) -> i64 {
        self.cursor.map_or(0, Id::get)
    }
}

impl ListQuery for UsersQuery {
    fn read(params: &Params) -> Self {
        Self {
            email: params.get("email").and_then(|text| Email::parse(text).ok()),
            role: params.get("role").and_then(Role::named),
            disabled: params.get("disabled").and_then(|text| text.parse().ok()),
            cursor: params.get("cursor").and_then(|text| text.parse().ok()),
        }
    }

    fn filters(&self) -> Vec<(&'static str, Option<String>)> {
        vec![
            (
                "email",
                self.email.as_ref().map(|email| email.as_str().to_owned()),
            ),
            ("role", self.role.map(|role| role.as_str().to_owned())),
            ("disabled", self.disabled.map(|value| value.to_string())),
        ]
    }
}
