//! The windows over which figures are shown.

use foundation::list_query::Query;
use foundation::names;
use serde::Serialize;
use std::time::Duration;
use utoipa::{IntoParams, ToSchema};

/// The time before the present that figures cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = FiguresWindow)]
pub enum Window {
    /// 60 periods of a minute.
    #[default]
    Hour,
    /// 144 periods of ten minutes.
    Day,
    /// 168 periods of an hour.
    Week,
}

/// The query parameter of the figures.
#[derive(Clone, Copy, Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct WindowQuery {
    /// The time that the figures cover, an hour by default.
    #[param(required = false, inline)]
    pub window: Window,
}

names!(Window: Hour = "hour", Day = "day", Week = "week");

impl Window {
    /// Returns the length of a period.
    pub const fn step(self) -> Duration {
        match self {
            Self::Hour => Duration::from_secs(60),
            Self::Day => Duration::from_secs(600),
            Self::Week => Duration::from_secs(3_600),
        }
    }

    /// Returns the number of periods.
    pub const fn periods(self) -> u16 {
        match self {
            Self::Hour => 60,
            Self::Day => 144,
            Self::Week => 168,
        }
    }
}

impl WindowQuery {
    /// Parses a query string. Ignores unknown parameters and invalid values.
    pub fn parse(query: &str) -> Self {
        let window = Query::read(query).first("window", Window::named);
        Self {
            window: window.unwrap_or_default(),
        }
    }
}
