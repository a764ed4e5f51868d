//! The pages on which users connect devices.

use super::{FormState, in_words, render, text};
use askama::Template;
use axum::response::Response;
use foundation::clock::Timestamp;
use issuer::grants::device_decision::ShownRequest;

/// The form for the code of a device.
#[derive(Template)]
#[template(path = "device.html")]
pub(crate) struct DevicePage<'a> {
    pub(crate) form: FormState<'a>,
    pub(crate) email: &'a str,
    /// The path of the page on which another user signs in.
    pub(crate) sign_in: String,
    /// The code that the field contains, which may be empty.
    pub(crate) code: &'a str,
}

/// The form to decide about the request of a device.
pub(crate) struct DeviceConfirmationPage<'a> {
    pub(crate) form: FormState<'a>,
    pub(crate) email: &'a str,
    /// The path of the page on which another user signs in.
    pub(crate) sign_in: String,
    pub(crate) code: &'a str,
    pub(crate) request: &'a ShownRequest,
    pub(crate) now: Timestamp,
}

#[derive(Template)]
#[template(path = "device_confirmation.html")]
struct DeviceConfirmationTemplate<'a> {
    form: FormState<'a>,
    email: &'a str,
    sign_in: &'a str,
    code: &'a str,
    /// The sealed request.
    request: &'a str,
    client: &'a str,
    first_party: bool,
    /// Whether the application has a server, which asked for the device.
    is_server: bool,
    /// The name and the description of each requested scope.
    scopes: Vec<(&'static str, String)>,
    address: String,
    created: Timestamp,
    now: Timestamp,
}

/// Renders the form for the code of a device.
pub(crate) fn device(page: &DevicePage<'_>) -> Response {
    render(&text::of("device").plain(), page)
}

/// Renders the page on which a user decides about the request of a device.
pub(crate) fn device_confirmation(page: &DeviceConfirmationPage<'_>) -> Response {
    let request = page.request;
    let client = request.client.name.as_str();
    let address = request.address.clone();
    let template = DeviceConfirmationTemplate {
        form: page.form,
        email: page.email,
        sign_in: &page.sign_in,
        code: page.code,
        request: &request.sealed,
        client,
        first_party: request.client.first_party,
        is_server: request.client.kind.is_confidential(),
        scopes: in_words(request.scope),
        address: address.unwrap_or_else(|| text::of("address-unknown").plain()),
        created: request.created_at,
        now: page.now,
    };
    render(
        &text::of("device-confirm").with("client", client).plain(),
        &template,
    )
}
