//! The query of `GET /admin/clients`.

use super::super::ListQuery;
use foundation::ids::TextId;
use identity::grants::clients::{ClientType, Filter};
use issuer::params::Params;
use utoipa::IntoParams;

/// The filters and the page. Invalid values are ignored.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ClientsQuery {
    /// Only clients of this type.
    #[param(rename = "type", inline)]
    kind: Option<ClientType>,
    /// Only clients of the operator of this issuer (`true`), or only those of third parties (`false`).
    first_party: Option<bool>,
    /// The cursor of the page: `next` of the previous one.
    #[param(max_length = 64)]
    pub(super) cursor: Option<String>,
}

impl ClientsQuery {
    /// Returns the condition on the listed clients.
    pub(super) fn filter(&self) -> Filter {
        Filter {
            kind: self.kind,
            first_party: self.first_party,
        }
    }
}

impl ListQuery for ClientsQuery {
    fn read(params: &Params) -> Self {
        let cursor = params.get("cursor").and_then(|id| id.parse::<TextId>().ok());
        Self {
            kind: params.get("type").and_then(ClientType::named),
            first_party: params.get("first_party").and_then(|text| text.parse().ok()),
            cursor: cursor.map(String::from),
        }
    }

    fn filters(&self) -> Vec<(&'static str, Option<String>)> {
        vec![
            ("type", self.kind.map(|kind| kind.as_str().to_owned())),
            ("first_party", self.first_party.map(|value| value.to_string())),
        ]
    }
}
