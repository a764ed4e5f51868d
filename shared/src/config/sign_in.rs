//! Settings of what is beside the password at a sign-in.

use crate::identity::lockout::Throttles;
use clap::Args;

/// How many failed sign-ins are too many, beside the five of one account from one address.
#[derive(Args, Clone, Debug)]
pub struct SignIn {
    /// Failed sign-ins to one account from anywhere, an hour. Where a user signed in before they do not count.
    #[arg(long, env = "LATCHKEY_LOGIN_FAILURES_ACCOUNT", global = true, default_value_t = 100, value_name = "N",
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(5..=10_000))]
    pub login_failures_account: usize,

    /// Failed sign-ins from one address (IPv6: one /64) in 15 minutes, whichever the account.
    #[arg(long, env = "LATCHKEY_LOGIN_FAILURES_ADDRESS", global = true, default_value_t = 100, value_name = "N",
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(5..=10_000))]
    pub login_failures_address: usize,
}

impl SignIn {
    /// The throttles.
    pub fn throttles(&self) -> Throttles {
        Throttles {
            account: self.login_failures_account,
            address: self.login_failures_address,
        }
    }
}
