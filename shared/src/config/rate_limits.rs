//! Settings of the rate limits.

use crate::limits::Quotas;
use clap::{Args, ValueEnum};

/// Whether requests are limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// Where others can reach the program.
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// How many requests are answered in a minute.
#[derive(Args, Clone, Debug)]
pub struct RateLimits {
    /// Whether requests are limited: `auto` does so where others can reach the program.
    #[arg(
        long,
        env = "LATCHKEY_RATE_LIMITS",
        global = true,
        default_value = "auto",
        value_name = "WHEN"
    )]
    pub rate_limits: Switch,

    /// Reads a minute of one user of a client.
    #[arg(long, env = "LATCHKEY_RATE_LIMIT_READS", global = true, default_value_t = 1200, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rate_limit_reads: u32,

    /// Writes a minute of one user of a client.
    #[arg(long, env = "LATCHKEY_RATE_LIMIT_WRITES", global = true, default_value_t = 300, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rate_limit_writes: u32,

    /// Requests a minute from one address, of IPv6 one /64.
    #[arg(long, env = "LATCHKEY_RATE_LIMIT_ADDRESS", global = true, default_value_t = 600, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rate_limit_address: u32,
}

impl RateLimits {
    /// The quotas, where requests are limited.
    pub fn quotas(&self, is_production: bool) -> Option<Quotas> {
        let is_on = match self.rate_limits {
            Switch::Auto => is_production,
            Switch::On => true,
            Switch::Off => false,
        };
        is_on.then_some(Quotas {
            reads: self.rate_limit_reads,
            writes: self.rate_limit_writes,
            address: self.rate_limit_address,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_on_where_others_can_reach_the_program_unless_told_otherwise() {
        let quotas = Quotas {
            reads: 1200,
            writes: 300,
            address: 600,
        };
        for (rate_limits, alone, production) in [
            (Switch::Auto, None, Some(quotas)),
            (Switch::On, Some(quotas), Some(quotas)),
            (Switch::Off, None, None),
        ] {
            let settings = RateLimits {
                rate_limits,
                rate_limit_reads: 1200,
                rate_limit_writes: 300,
                rate_limit_address: 600,
            };
            assert_eq!(settings.quotas(false), alone, "{rate_limits:?}");
            assert_eq!(settings.quotas(true), production, "{rate_limits:?}");
        }
    }
}
