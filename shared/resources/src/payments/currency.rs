//! Currencies.

use foundation::schema;
use utoipa::openapi::{ObjectBuilder, Type};

/// The codes in list one of ISO 4217 as of 2026, sorted, without those of funds, metals and tests.
const CODES: &[&str] = &[
    "AED", "AFN", "ALL", "AMD", "AOA", "ARS", "AUD", "AWG", "AZN", "BAM", "BBD", "BDT", "BHD", "BIF", "BMD",
    "BND", "BOB", "BRL", "BSD", "BTN", "BWP", "BYN", "BZD", "CAD", "CDF", "CHF", "CLP", "CNY", "COP", "CRC",
    "CUP", "CVE", "CZK", "DJF", "DKK", "DOP", "DZD", "EGP", "ERN", "ETB", "EUR", "FJD", "FKP", "GBP", "GEL",
    "GHS", "GIP", "GMD", "GNF", "GTQ", "GYD", "HKD", "HNL", "HTG", "HUF", "IDR", "ILS", "INR", "IQD", "IRR",
    "ISK", "JMD", "JOD", "JPY", "KES", "KGS", "KHR", "KMF", "KPW", "KRW", "KWD", "KYD", "KZT", "LAK", "LBP",
    "LKR", "LRD", "LSL", "LYD", "MAD", "MDL", "MGA", "MKD", "MMK", "MNT", "MOP", "MRU", "MUR", "MVR", "MWK",
    "MXN", "MYR", "MZN", "NAD", "NGN", "NIO", "NOK", "NPR", "NZD", "OMR", "PAB", "PEN", "PGK", "PHP", "PKR",
    "PLN", "PYG", "QAR", "RON", "RSD", "RUB", "RWF", "SAR", "SBD", "SCR", "SDG", "SEK", "SGD", "SHP", "SLE",
    "SOS", "SRD", "SSP", "STN", "SVC", "SYP", "SZL", "THB", "TJS", "TMT", "TND", "TOP", "TRY", "TTD", "TWD",
    "TZS", "UAH", "UGX", "USD", "UYU", "UZS", "VED", "VES", "VND", "VUV", "WST", "XAF", "XCD", "XCG", "XOF",
    "XPF", "YER", "ZAR", "ZMW", "ZWG",
];

/// A currency, identified by its ISO 4217 code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Currency(&'static str);

schema! {
    Currency = ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(CODES.iter().copied()))
        .description(Some("The code of a currency in ISO 4217, in upper case."));
}

impl Currency {
    /// Parses a code in upper case. The error completes a sentence that begins with the field name, such as
    /// "is not an ISO 4217 currency code".
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let found = CODES.binary_search(&text);
        found
            .map(|at| Self(CODES[at]))
            .map_err(|_| "is not an ISO 4217 currency code, such as EUR")
    }

    /// Returns the code.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_are_sorted_and_parse() {
        assert!(CODES.is_sorted_by(|a, b| a < b));
        for code in CODES {
            assert!(code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase()));
            assert_eq!(Currency::parse(code).map(Currency::as_str), Ok(*code));
        }
        for text in ["", "eur", "EU", "EURO", "XXX", "XTS", "XAU", "ABC", " EUR"] {
            assert!(Currency::parse(text).is_err(), "{text}");
        }
    }
}
