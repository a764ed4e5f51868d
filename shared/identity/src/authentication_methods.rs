//! The methods by which a user signed in, as ID tokens name them.

use foundation::clock::Timestamp;
use foundation::names;

/// The methods by which a user signed in (RFC 8176).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthenticationMethods {
    /// The password alone.
    Password,
    /// The password and a one-time code or a recovery code.
    PasswordAndCode,
    /// A passkey, whose authenticator verified the user too. It counts as two factors.
    Passkey,
}

/// The sign-in that began a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct SignIn {
    /// The time of the sign-in: `auth_time` (OpenID Connect Core §2).
    #[sqlx(rename = "auth_time")]
    pub at: Timestamp,
    /// Its methods.
    #[sqlx(rename = "amr", try_from = "String")]
    pub methods: AuthenticationMethods,
}

// The texts that the database stores.
names!(AuthenticationMethods: Password = "pwd", PasswordAndCode = "pwd otp", Passkey = "passkey");

impl AuthenticationMethods {
    /// The values of [`acr`](Self::acr), the weakest first.
    pub const ACR: [&'static str; 2] = ["1", "2"];

    /// Returns the methods of a user who then turned two-step sign-in on with a first code.
    pub(crate) const fn with_code(self) -> Self {
        match self {
            Self::Password | Self::PasswordAndCode => Self::PasswordAndCode,
            Self::Passkey => Self::Passkey,
        }
    }

    /// Returns the methods that still count when two-step sign-in is off.
    pub(crate) const fn without_code(self) -> Self {
        match self {
            Self::Password | Self::PasswordAndCode => Self::Password,
            Self::Passkey => Self::Passkey,
        }
    }

    /// Returns the authentication methods references (RFC 8176 §2).
    pub const fn amr(self) -> &'static [&'static str] {
        match self {
            Self::Password => &["pwd"],
            Self::PasswordAndCode => &["pwd", "otp", "mfa"],
            // A passkey may be in hardware or be synchronized between devices, so it is neither `hwk` nor
            // `swk`.
            Self::Passkey => &["pop", "user", "mfa"],
        }
    }

    /// Returns the authentication context class (OpenID Connect Core §2): the number of factors.
    pub const fn acr(self) -> &'static str {
        match self {
            Self::Password => Self::ACR[0],
            Self::PasswordAndCode | Self::Passkey => Self::ACR[1],
        }
    }
}

/// Reads the column of a row. An unknown text becomes the weakest methods.
impl From<String> for AuthenticationMethods {
    fn from(text: String) -> Self {
        Self::named(&text).unwrap_or(Self::Password)
    }
}
