//! What the OpenAPI document says of pages and parameters, which no type of ours holds.

use super::browser::Form;
use shared::http::Code;
use shared::http::openapi::refusals;
use shared::schema;
use std::collections::BTreeMap;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{AdditionalProperties, Object, ObjectBuilder, Schema};
use utoipa::openapi::{ContentBuilder, RefOr, Required, Response, ResponseBuilder, Type};
use utoipa::{IntoParams, IntoResponses};

/// A parameter's name, whether it must be there, what it is.
type Field = (&'static str, bool, &'static str);

const AUTHORIZE: [Field; 7] = [
    ("response_type", true, "`code`"),
    ("client_id", true, "Which client asks."),
    (
        "redirect_uri",
        true,
        "Where the answer goes: one that is registered, to the letter.",
    ),
    (
        "scope",
        false,
        "What is asked for, separated by spaces; the client's default if absent.",
    ),
    ("state", false, "Given back with the answer."),
    ("code_challenge", true, "The S256 challenge of PKCE (RFC 7636)."),
    ("code_challenge_method", true, "`S256`"),
];
const FLOW: Field = (
    "flow",
    false,
    "The authorization request that the page belongs to.",
);
const CSRF: Field = ("csrf", true, "The value of the csrf cookie.");
const SIGN_IN: [Field; 5] = [
    ("email", true, "As given at sign-up."),
    ("password", true, "The account's."),
    (
        "otp",
        false,
        "A one-time code or a recovery code, where the account asks for one.",
    ),
    CSRF,
    FLOW,
];
const CONSENT: [Field; 3] = [("decision", true, "`allow` or `deny`"), CSRF, FLOW];
const PASSWORD: [Field; 4] = [
    ("current_password", true, "The account's."),
    ("new_password", true, "The one to be."),
    CSRF,
    FLOW,
];
const FORGOT: [Field; 2] = [("email", true, "The account's address."), CSRF];
const LINK: Field = ("token", true, "From the mail.");
const RESET: [Field; 3] = [LINK, ("new_password", true, "The one to be."), CSRF];
const VERIFY: [Field; 2] = [LINK, CSRF];
const TOKEN: [Field; 7] = [
    ("grant_type", true, "`authorization_code` or `refresh_token`"),
    (
        "client_id",
        false,
        "Of a client that does not authenticate by HTTP Basic.",
    ),
    ("code", false, "From the redirect."),
    ("redirect_uri", false, "The one of the authorization request."),
    (
        "code_verifier",
        false,
        "What the challenge was made from (RFC 7636).",
    ),
    ("refresh_token", false, "The latest of its family."),
    ("scope", false, "Less than was granted, for this access token."),
];

/// An authorization request (RFC 6749 §4.1.1).
pub(crate) struct AuthorizationRequest;
/// What the sign-in form sends.
pub(crate) struct SignInForm;
/// What the consent form sends.
pub(crate) struct ConsentForm;
/// What the form for a new password sends.
pub(crate) struct PasswordForm;
/// What the form for a forgotten password sends.
pub(crate) struct ForgotForm;
/// What the form that a reset's link leads to sends.
pub(crate) struct ResetForm;
/// What the button that confirms an address sends.
pub(crate) struct VerifyForm;
/// A token request (RFC 6749 §4.1.3, §6).
pub(crate) struct TokenRequest;
/// The query of a page.
pub(crate) struct PageQuery;
/// The query of a link from a mail.
pub(crate) struct LinkQuery;

schema! {
    AuthorizationRequest = form(&AUTHORIZE);
    SignInForm = form(&SIGN_IN);
    ConsentForm = form(&CONSENT);
    PasswordForm = form(&PASSWORD);
    ForgotForm = form(&FORGOT);
    ResetForm = form(&RESET);
    VerifyForm = form(&VERIFY);
    TokenRequest = form(&TOKEN);
}

impl IntoParams for AuthorizationRequest {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        AUTHORIZE.iter().map(query).collect()
    }
}

impl IntoParams for PageQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![query(&FLOW)]
    }
}

impl IntoParams for LinkQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![query(&LINK)]
    }
}

/// Pages in the document: a type of each list, for operations to name among their responses.
macro_rules! pages {
    ($($(#[$doc:meta])* $who:ident: $($status:literal $says:literal),+;)+) => { $(
        $(#[$doc])*
        pub(crate) struct $who;

        impl IntoResponses for $who {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                [$((stringify!($status), $says)),+].map(page).into()
            }
        }
    )+ };
}

pages! {
    /// A request that goes back to no client.
    NoRedirect: 400 "The client or its redirect URI is unknown, or the request cannot be read.";
    /// A flow that does not go on.
    NoFlow: 400 "The sign-in is over, or is another browser's, or the form is broken.",
        503 "A part of the service does not answer.";
    /// The sign-in form again.
    SignInAgain: 401 "The e-mail, the password or the one-time code is wrong, or a code is asked for.",
        422 "The captcha is to be solved too.", 429 "Sign-in is blocked for a while.",
        503 "Too many people sign in at once.";
    /// A link that was not copied whole.
    NoLink: 400 "The link is not whole.";
    /// The form for a forgotten password again.
    ForgotAgain: 422 "The address is none.", 429 "Too many mails were asked for.",
        503 "A part of the service does not answer.";
    /// The form that a reset's link leads to, again, or that the link does not work.
    ResetAgain: 422 "The password is too short, or the link does not work.", 503 "Too many people sign in at once.";
    /// An address that is not confirmed.
    VerifyRefused: 409 "Another account has this address.", 422 "The link does not work.";
    /// The form for a new password again.
    PasswordAgain: 422 "A password is wrong, or too short.", 429 "Sign-in is blocked for a while.",
        503 "Too many people sign in at once.";
}

impl IntoResponses for Form {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let mut responses = refusals(&[
            Code::MalformedJson,
            Code::PayloadTooLarge,
            Code::RequestTimeout,
            Code::UnsupportedMediaType,
        ]);
        responses.extend([
            page(("400", "The form is broken, or the sign-in is over.")),
            page(("403", "The anti-forgery token is missing or wrong.")),
        ]);
        responses
    }
}

fn page((status, says): (&str, &str)) -> (String, RefOr<Response>) {
    let html = ContentBuilder::new()
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .example(Some(format!("<!doctype html>… {says} …").into()))
        .build();
    let response = ResponseBuilder::new()
        .description(says)
        .content("text/html", html)
        .build();
    (status.to_owned(), response.into())
}

/// An object of texts. Others than these are ignored (RFC 6749 §3.1, §3.2).
fn form(fields: &[Field]) -> Object {
    let mut object = ObjectBuilder::new().additional_properties(Some(AdditionalProperties::<Schema>::from(
        ObjectBuilder::new().schema_type(Type::String),
    )));
    for (name, required, description) in fields {
        object = object.property(*name, text(description));
        if *required {
            object = object.required(*name);
        }
    }
    object.build()
}

fn query((name, required, description): &Field) -> Parameter {
    ParameterBuilder::new()
        .name(*name)
        .parameter_in(ParameterIn::Query)
        .required(if *required {
            Required::True
        } else {
            Required::False
        })
        .description(Some(*description))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .build()
}

fn text(description: &str) -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(description))
        .build()
}
