//! The pages on which users turn two-step sign-in on and off, and renew the recovery codes.

use crate::pages::text::Text;
use crate::pages::{FormState, render, text};
use askama::Template;
use axum::response::Response;
use foundation::clock::Timestamp;
use identity::Enrollment;
use qrcode::QrCode;
use qrcode::render::svg;

/// The least width of a QR code in pixels.
const QR_WIDTH: u32 = 200;

#[derive(Template)]
#[template(path = "two_step_on.html")]
struct TwoStepOnTemplate<'a> {
    form: FormState<'a>,
    /// The address of the account.
    email: &'a str,
}

#[derive(Template)]
#[template(path = "two_step_off.html")]
struct TwoStepOffTemplate<'a> {
    form: FormState<'a>,
    /// The address of the account.
    email: &'a str,
}

#[derive(Template)]
#[template(path = "two_step_enrollment.html")]
struct TwoStepEnrollmentTemplate<'a> {
    form: FormState<'a>,
    /// The QR code as an SVG element.
    qr_code: Option<String>,
    /// The `otpauth://` URL, which opens an authenticator app on the same device.
    otpauth_url: &'a str,
    /// The secret, to type.
    secret: &'a str,
}

#[derive(Template)]
#[template(path = "recovery_codes.html")]
struct RecoveryCodesTemplate<'a> {
    title: &'a str,
    /// The further effect of the change.
    effect: String,
    codes: &'a [String],
    /// The address of the account, which the printed page names.
    email: &'a str,
    /// The day in UTC.
    date: String,
}

/// Renders the form that begins to turn two-step sign-in on.
pub(crate) fn two_step_on(form: FormState<'_>, email: &str) -> Response {
    render(&text::of("two-step").plain(), &TwoStepOnTemplate { form, email })
}

/// Renders the forms that renew the recovery codes and turn two-step sign-in off.
pub(crate) fn two_step_off(form: FormState<'_>, email: &str) -> Response {
    render(&text::of("two-step").plain(), &TwoStepOffTemplate { form, email })
}

/// Renders the secret of an authenticator app, with a form for its first code.
pub(crate) fn two_step_enrollment(form: FormState<'_>, enrollment: &Enrollment) -> Response {
    let otpauth_url = enrollment.otpauth_url.expose();
    let template = TwoStepEnrollmentTemplate {
        form,
        qr_code: qr_code(otpauth_url),
        otpauth_url,
        secret: enrollment.secret.expose(),
    };
    render(&text::of("two-step-enroll").plain(), &template)
}

/// Renders new recovery codes of the account with this address, which are shown once. `change` is the text
/// about the change that made them, whose attribute `text` is its further effect.
pub(crate) fn recovery_codes(change: &Text<'_>, codes: &[String], email: &str, now: Timestamp) -> Response {
    let title = change.plain();
    let template = RecoveryCodesTemplate {
        title: &title,
        effect: change.attribute("text"),
        codes,
        email,
        date: text::day(now),
    };
    render(&title, &template)
}

/// Returns a QR code as an SVG element, or `None` if the text is too long for one.
pub(in crate::pages) fn qr_code(text: &str) -> Option<String> {
    let code = QrCode::new(text).ok()?;
    let image = code
        .render::<svg::Color<'_>>()
        .min_dimensions(QR_WIDTH, QR_WIDTH)
        .build();
    // An element within HTML has no XML declaration.
    let (_, element) = image.split_once("?>")?;
    Some(element.to_owned())
}

/// Returns a text in groups of four characters, which are easier to type.
fn in_groups(text: &str) -> String {
    let mut grouped = String::with_capacity(text.len() * 5 / 4);
    for (position, c) in text.chars().enumerate() {
        if position > 0 && position.is_multiple_of(4) {
            grouped.push(' ');
        }
        grouped.push(c);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_qr_code_is_an_element_without_a_declaration() {
        let element =
            qr_code("otpauth://totp/Latchkey:ann%40example.org?secret=GEZDGNBV&issuer=Latchkey").unwrap();
        assert!(element.starts_with("<svg "), "{element}");
        assert!(element.ends_with("</svg>"), "{element}");
        assert_eq!(qr_code(&"x".repeat(10_000)), None);
    }

    #[test]
    fn a_secret_is_shown_in_groups_of_four() {
        assert_eq!(in_groups("GEZDGNBVGY"), "GEZD GNBV GY");
        assert_eq!(in_groups(""), "");
    }
}
