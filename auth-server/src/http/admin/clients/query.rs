//! The query of `GET /admin/clients`.

use identity::grants::clients::{ClientType, Filter};
use issuer::params::Params;
use utoipa::IntoParams;

/// The longest cursor, which is the id of a client, in bytes.
const MAX_CURSOR: usize = 64;

/// The filters and the page. Invalid values are ignored.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ClientsQuery {
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
    /// Reads a query string. If a parameter is repeated, its first value is read.
    pub(super) fn read(query: &str) -> Self {
        let params = Params::from_form(query.as_bytes());
        let cursor = params.get("cursor");
        let is_valid = |cursor: &&str| cursor.len() <= MAX_CURSOR && !cursor.contains('\0');
        Self {
            kind: params.get("type").and_then(ClientType::named),
            first_party: params.get("first_party").and_then(|text| text.parse().ok()),
            cursor: cursor.filter(is_valid).map(str::to_owned),
        }
    }

    /// Returns the condition on the listed clients.
    pub(super) fn filter(&self) -> Filter {
        Filter {
            kind: self.kind,
            first_party: self.first_party,
        }
    }

    /// Returns the filters as query parameters, for the link to the next page.
    pub(super) fn filters(&self) -> [(&'static str, Option<String>); 2] {
        [
            ("type", self.kind.map(|kind| kind.as_str().to_owned())),
            (
                "first_party",
                self.first_party.map(|is_first_party| is_first_party.to_string()),
            ),
        ]
    }
}
