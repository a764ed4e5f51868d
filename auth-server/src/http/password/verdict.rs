//! `POST /password/verdict`: what the issuer thinks of a new password while it is typed.

use crate::http::documentation::FormErrors;
use crate::http::extract::PageForm;
use crate::http::form_page::flaw_in_words;
use crate::http::forms::PasswordVerdictForm;
use crate::pages::text;
use crate::paths;
use axum::Json;
use axum::extract::State;
use foundation::email::Email;
use identity::Identity;
use serde::Serialize;
use utoipa::ToSchema;

/// The verdict about a new password.
#[derive(Serialize, ToSchema)]
pub(crate) struct PasswordVerdict {
    /// Whether the password is acceptable.
    acceptable: bool,
    /// The verdict, in the language of the pages.
    #[schema(example = "A mere sequence. Choose another password.")]
    text: String,
}

/// Judge a new password
///
/// The script of the pages on which users choose a password asks while they type, because the list of common
/// passwords is too long to send. The password is compared in memory: it is neither hashed nor stored nor
/// logged, and the forms judge it again.
#[utoipa::path(
    post, path = paths::PASSWORD_VERDICT, operation_id = "judgePassword", tag = "Pages", security(()),
    request_body(content = PasswordVerdictForm, content_type = "application/x-www-form-urlencoded"),
    responses((status = 200, description = "The verdict.", body = PasswordVerdict), FormErrors)
)]
pub(crate) async fn judge(
    State(identity): State<Identity>,
    PageForm(fields): PageForm<PasswordVerdictForm>,
) -> Json<PasswordVerdict> {
    // An address that is not complete yet is that of no account.
    let email = Email::parse(&fields.email);
    let email = email.as_ref().map_or("", Email::as_str);
    let judged = identity.passwords.parse_new_for(&fields.new_password, email);
    let flaw = judged.err();
    let text = flaw.map_or_else(|| text::of("password-good"), flaw_in_words);
    Json(PasswordVerdict {
        acceptable: flaw.is_none(),
        text: text.plain(),
    })
}
