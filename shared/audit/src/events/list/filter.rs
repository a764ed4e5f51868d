//! The selection of security events.

use super::SecurityEvent;
use foundation::clock::Timestamp;
use foundation::ids::Id;
use foundation::list_query::{Order, PageRequest, Query, parse_text};
use foundation::names;
use std::net::IpAddr;
use storage::db::Value;
use utoipa::{IntoParams, ToSchema};

/// The largest number of characters of a detail by which events can be selected. Longer ones are not in the
/// index.
const MAX_DETAIL_LENGTH: usize = 500;

/// The condition on listed events. A field that is `None` imposes no condition.
#[derive(Clone, Debug, Default, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Filter {
    /// Only events of this name.
    pub name: Option<String>,
    /// Only events of the user with this id, or of the deleted account with this pseudonym, which is
    /// negative.
    pub user_id: Option<i64>,
    /// Only events that the administrator with this id or pseudonym caused.
    pub administrator_id: Option<i64>,
    /// Only events of the client with this id.
    pub client_id: Option<String>,
    /// Only events that were caused from this IP address.
    pub address: Option<String>,
    /// Only events of the response with this correlation id.
    pub trace_id: Option<String>,
    /// Only events with this detail, which has at most 500 characters.
    pub detail: Option<String>,
    /// Only events with this outcome.
    #[param(inline)]
    pub outcome: Option<Outcome>,
    /// Only events at this time or later, in RFC 3339 or, in UTC, as `2026-11-27T16:05`.
    #[param(value_type = Option<String>)]
    pub since: Option<Timestamp>,
    /// Only events before this time, in the same forms.
    #[param(value_type = Option<String>)]
    pub until: Option<Timestamp>,
}

/// The outcome of the action that an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
#[schema(as = EventOutcome, rename_all = "lowercase")]
pub enum Outcome {
    /// The action had its effect.
    Success,
    /// The action failed or was refused.
    Failure,
}

/// The query parameters of the list of all events.
#[derive(Clone, Debug)]
pub struct ListQuery {
    /// The condition on the events.
    pub filter: Filter,
    /// The requested page.
    pub page: PageRequest,
    /// The parameters with invalid values, which impose no condition.
    pub refused: Vec<(&'static str, String)>,
}

impl Filter {
    /// Returns whether the condition holds for an event.
    pub(super) fn selects(&self, event: &SecurityEvent) -> bool {
        let text = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
        };
        let id = |wanted: Option<i64>, found: Option<i64>| wanted.is_none() || wanted == found;
        text(&self.name, Some(&event.name))
            && id(self.user_id, event.user_id)
            && id(self.administrator_id, event.administrator_id)
            && text(&self.client_id, event.client_id.as_deref())
            && text(&self.address, event.address.as_deref())
            && text(&self.trace_id, Some(&event.trace_id))
            && text(&self.detail, event.detail.as_deref())
            && self
                .outcome
                .is_none_or(|outcome| outcome.as_str() == event.outcome)
            && self.since.is_none_or(|since| event.at >= since)
            && self.until.is_none_or(|until| event.at < until)
    }
}

impl ListQuery {
    /// Parses a query string. Ignores unknown parameters and invalid values.
    pub fn parse(query: &str) -> Self {
        let mut query = Query::read(query);
        let filter = Filter {
            name: query.first("name", parse_text),
            user_id: query.first("user_id", parse_id),
            administrator_id: query.first("administrator_id", parse_id),
            client_id: query.first("client_id", parse_text),
            address: query.first("address", parse_address),
            trace_id: query.first("trace_id", parse_text),
            detail: query.first("detail", parse_detail),
            outcome: query.first("outcome", Outcome::named),
            since: query.first("since", parse_time),
            until: query.first("until", parse_time),
        };
        Self {
            filter,
            refused: query.refused().to_vec(),
            page: query.page_request(),
        }
    }

    /// Returns the order; by default the newest event comes first.
    pub fn order(&self) -> Order {
        self.page.order.unwrap_or(Order::Descending)
    }
}

names!(Outcome: Success = "success", Failure = "failure");

/// Parses a detail that is not longer than those in the index.
fn parse_detail(text: &str) -> Option<String> {
    parse_text(text).filter(|detail| detail.chars().count() <= MAX_DETAIL_LENGTH)
}

/// Parses an IP address, which is stored in its canonical form, or the label of a network.
fn parse_address(text: &str) -> Option<String> {
    let address = text.trim().parse::<IpAddr>().ok();
    let canonical = address.map(|address| address.to_canonical().to_string());
    canonical.or_else(|| parse_text(text))
}

/// Parses a time in RFC 3339, or in UTC without a zone, with or without seconds.
fn parse_time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let zones = ["", "Z", ":00Z"].into_iter();
    zones
        .filter_map(|zone| Timestamp::parse(&format!("{text}{zone}")))
        .next()
}

/// Parses the canonical form of an id, or of a pseudonym: an id after a minus sign.
fn parse_id(text: &str) -> Option<i64> {
    match text.trim().strip_prefix('-') {
        Some(number) => Some(-number.parse::<Id>().ok()?.get()),
        None => Some(text.trim().parse::<Id>().ok()?.get()),
    }
}

impl Filter {
    /// Returns the query parameters of the list of these events.
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let id = |id: Option<i64>| id.map(|id| id.to_string());
        let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
        let outcome = self.outcome.map(|outcome| outcome.as_str().to_owned());
        let parameters = [
            ("name", self.name.clone()),
            ("user_id", id(self.user_id)),
            ("administrator_id", id(self.administrator_id)),
            ("client_id", self.client_id.clone()),
            ("address", self.address.clone()),
            ("trace_id", self.trace_id.clone()),
            ("detail", self.detail.clone()),
            ("outcome", outcome),
            ("since", time(self.since)),
            ("until", time(self.until)),
        ];
        let parameters = parameters.into_iter();
        parameters
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }

    /// Returns the columns that can be compared with a value, each with its value if the selection has one.
    /// The column that selects the fewest events comes first.
    fn comparisons(&self) -> [(&'static str, Option<Value>); 8] {
        let text = |text: &Option<String>| text.as_deref().map(Value::from);
        [
            ("trace_id", text(&self.trace_id)),
            ("administrator_id", self.administrator_id.map(Value::from)),
            ("user_id", self.user_id.map(Value::from)),
            ("address", text(&self.address)),
            ("client_id", text(&self.client_id)),
            ("detail", text(&self.detail)),
            ("name", text(&self.name)),
            (
                "outcome",
                self.outcome.map(|outcome| Value::from(outcome.as_str())),
            ),
        ]
    }

    /// Returns the columns that have a condition, and their values, in the order of [`Filter::columns`].
    pub(super) fn conditions(&self) -> Vec<(&'static str, Value)> {
        let comparisons = self.comparisons().into_iter();
        comparisons
            .filter_map(|(column, value)| Some((column, value?)))
            .collect()
    }

    /// Returns the columns that can have a condition. That which selects the fewest events comes first.
    pub(super) fn columns() -> [&'static str; 8] {
        Self::default().comparisons().map(|(column, _)| column)
    }
}
