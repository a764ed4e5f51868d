//! The parts of the OpenAPI document that no type derives: HTML responses, and forms that ignore unknown
//! parameters.

use std::collections::BTreeMap;
use utoipa::IntoResponses;
use utoipa::openapi::schema::{AdditionalProperties, Object, ObjectBuilder, Schema, SchemaType};
use utoipa::openapi::{ContentBuilder, OpenApi, RefOr, Response, ResponseBuilder, Type};
use web::Code;
use web::openapi::error_responses;

/// Declares types that describe HTML responses, for operations to name among their responses.
macro_rules! pages {
    ($($(#[$doc:meta])* $name:ident: $($status:literal $description:literal),+;)+) => { $(
        $(#[$doc])*
        pub(crate) struct $name;

        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                [$((stringify!($status), $description)),+].map(page).into()
            }
        }
    )+ };
}

pages! {
    /// The error of a page that names the user.
    SessionErrors: 400 "The browser sent two session cookies.";
    /// The errors of an authorization request that are not sent to the client.
    AuthorizationErrors: 400 "The client or its redirect URI is unknown, or the request cannot be read.",
        429 "Too many documents of applications were fetched, or too many long requests came from the network.",
        503 "A part of the service does not answer.";
    /// The errors of a request to sign out.
    SignOutErrors: 400 "The client is unknown, or has not registered the redirect URI, or the request cannot be read.",
        429 "Too many long requests came from the network.", 503 "A part of the service does not answer.";
    /// The errors of a flow that cannot continue.
    FlowErrors: 400 "The flow has expired or belongs to another browser, or the form cannot be read.",
        429 "Too many documents of applications were fetched, or too many long requests came from the network.",
        503 "A part of the service does not answer.";
    /// The error of the consent form.
    ConsentErrors: 409 "The page was shown to another user: it is shown again.";
    /// The errors of the sign-in form.
    SignInErrors: 401 "The e-mail or the password is wrong.",
        422 "The captcha must be solved.", 429 "Sign-in is blocked for a while.",
        503 "Too many people are signing in at once.";
    /// The errors of the second step of a sign-in.
    SecondStepErrors: 400 "The password must be entered again, or the flow has expired or belongs to another browser.",
        401 "The one-time code is wrong.",
        409 "The password of another account was entered since the page was shown: it is shown again.",
        429 "Sign-in is blocked for a while.", 503 "Too many people are signing in at once.";
    /// The errors of a sign-in with a passkey.
    PasskeySignInErrors: 401 "The passkey does not sign in here.",
        422 "The page was open for too long, or its challenge was answered before.",
        429 "There were too many such sign-ins to the account.", 503 "A part of the service does not answer.";
    /// The error of the form that renames a passkey.
    PasskeyNameErrors: 422 "The name is not acceptable.";
    /// The errors of the form that adds a passkey.
    PasskeyErrors: 409 "The passkey was added already, or the account has too many.",
        422 "The name is not acceptable, or the answer of the authenticator does not fit the challenge.";
    /// The errors of the sign-up form.
    SignUpErrors: 409 "Another account has this address.", 422 "The address or the password is not acceptable.",
        429 "Too many accounts were created from the network.", 503 "Too many people are signing up at once.";
    /// The error of a link of a password reset.
    LinkErrors: 400 "The link is incomplete, used or expired.";
    /// The errors of the forms that mail a link.
    LinkRequestErrors: 422 "The address is invalid.", 429 "Too many mails were requested.",
        503 "A part of the service does not answer.";
    /// The errors of the form behind the link of a password reset.
    ResetErrors: 422 "The password is not acceptable, or the link does not work.",
        503 "Too many people are signing in at once.";
    /// The errors of a link that confirms an address.
    VerifyLinkErrors: 400 "The link does not work, or the browser sent two session cookies.";
    /// The errors of the form behind the link that confirms an address.
    VerifyErrors: 409 "Another account has this address.",
        422 "The link does not work, or the password is missing or wrong.", 429 "Sign-in is blocked for a while.",
        503 "Too many people are signing in at once, or a part of the service does not answer.";
    /// The error of a form of one user.
    OtherUserErrors: 409 "Another user has signed in in the browser since the form was shown.";
    /// The errors of the account page.
    AccountErrors: 429 "Too many mails were requested.", 503 "A part of the service does not answer.";
    /// The errors of the form with the first one-time code.
    FirstCodeErrors: 422 "The code is wrong.", 429 "Sign-in is blocked for a while.",
        503 "A part of the service does not answer.";
    /// The error of the pages for administrators.
    AdministratorErrors: 403 "The user is no administrator.";
    /// The errors of the form that rotates the signing keys.
    KeyRotationErrors: 403 "The user is no administrator, or the anti-forgery token is missing or wrong.",
        409 "The keys cannot be rotated yet, or have changed or another user has signed in since the form was shown.",
        503 "The clock of the issuer differs from that of the database.";
    /// The errors of the form that retires a signing key.
    KeyRetirementErrors: 403 "The user is no administrator, or the anti-forgery token is missing or wrong.",
        404 "No key has the kid.",
        409 "The state of the key has changed or another user has signed in since the form was shown.";
    /// The errors of the form that changes an app.
    ClientChangeErrors: 403 "The user is no administrator, or the anti-forgery token is missing or wrong.",
        404 "There is no such app.", 409 "The app has changed, or another user has signed in since the form was shown.",
        422 "The change is not possible for this app.";
    /// The errors of the form that creates an app.
    NewClientErrors: 403 "The user is no administrator, or the anti-forgery token is missing or wrong.",
        409 "Another user has signed in since the form was shown.", 422 "The app cannot be created like this.";
    /// The errors of the form that changes a user.
    UserChangeErrors: 403 "The user is no administrator, or the anti-forgery token is missing or wrong.",
        404 "There is no such user.",
        409 "The change is not possible, the account has changed, or another user has signed in since the form was shown.",
        503 "Too many people are signing in at once.";
    /// The error of the form that deletes an account.
    DeletionErrors: 409 "The account is that of the last administrator, or another user has signed in since the form was shown.";
    /// The errors of the form for the code of a device.
    DeviceErrors: 422 "The code is unknown, expired or used.", 429 "Too many wrong codes were entered.",
        503 "A part of the service does not answer.";
    /// The errors of the form to change a password.
    PasswordErrors: 422 "The new password is not acceptable.", 503 "Too many people are signing in at once.";
    /// The error of the form that removes a passkey.
    PasskeyRemovalErrors: 409 "The passkey is the only way to sign in.";
    /// The error of the form that removes a password.
    PasswordRemovalErrors: 409 "The session did not begin with a passkey, the address is not confirmed, or another user has signed in.";
}

/// The errors of every form.
pub(crate) struct FormErrors;

impl IntoResponses for FormErrors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let mut responses = error_responses(&[
            Code::MalformedJson,
            Code::PayloadTooLarge,
            Code::RequestTimeout,
            Code::UnsupportedMediaType,
        ]);
        responses.extend([
            page(("400", "The form cannot be read, or the flow has expired.")),
            page(("403", "The anti-forgery token is missing or wrong.")),
        ]);
        responses
    }
}

fn page((status, description): (&str, &str)) -> (String, RefOr<Response>) {
    let html = ContentBuilder::new()
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .example(Some(format!("<!doctype html>… {description} …").into()))
        .build();
    let response = ResponseBuilder::new()
        .description(description)
        .content("text/html", html)
        .build();
    (status.to_owned(), response.into())
}

/// Completes the schemas of the forms: unknown parameters are ignored (RFC 6749 §3.1, §3.2), and an omitted
/// parameter is absent, never null.
pub(crate) fn complete_forms(document: &mut OpenApi) {
    let posts = document
        .paths
        .paths
        .values()
        .filter_map(|path| path.post.as_ref());
    let forms: Vec<String> = posts
        .filter_map(|operation| match &operation.request_body {
            Some(RefOr::T(body)) => body.content.get("application/x-www-form-urlencoded"),
            _ => None,
        })
        .filter_map(|content| match content {
            RefOr::T(content) => content.schema.as_ref(),
            RefOr::Ref(_) => None,
        })
        .filter_map(|schema| match schema {
            RefOr::Ref(reference) => reference.ref_location.rsplit('/').next().map(str::to_owned),
            RefOr::T(_) => None,
        })
        .collect();
    let schemas = &mut document.components.get_or_insert_default().schemas;
    for name in forms {
        if let Some(RefOr::T(Schema::Object(form))) = schemas.get_mut(&name) {
            complete_form(form);
        }
    }
}

fn complete_form(form: &mut Object) {
    let text = ObjectBuilder::new().schema_type(Type::String);
    form.additional_properties = Some(Box::new(AdditionalProperties::<Schema>::from(text)));
    for field in form.properties.values_mut() {
        if let RefOr::T(Schema::Object(field)) = field {
            field.schema_type = SchemaType::Type(Type::String);
        }
    }
}
