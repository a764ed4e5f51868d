//! Permissions: one table of all documented operations and all kinds of callers.
//!
//! A cell is the status of one request; a 401 must also name the scope that the operation needs.
//! [`every_operation_is_in_the_permission_table`] fails if a row is missing or names no operation.

use foundation::scope::OF_API as SCOPES;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tests::{App, Caller, PASSWORD, Reply, SharedWorld, User, World, fresh_key, on_every_shape};

/// The callers, in the order of the columns. The columns with a scope missing are in the order of [`SCOPES`].
const CALLERS: [&str; 18] = [
    "an anonymous caller",
    "another user's session",
    "the owner's session",
    "an editor's session",
    "an administrator's session",
    "the owner's access token of every scope",
    "the same without posts:read",
    "the same without posts:write",
    "the same without comments:write",
    "the same without payments:read",
    "the same without payments:write",
    "the same without profile:read",
    "an administrator's access token without admin",
    "an administrator's access token of every scope",
    "a service's own access token of every scope but admin",
    "the owner's access token, revoked",
    "a disabled user's session",
    "a disabled user's access token",
];

/// The rows whose requests end the sessions of the columns, or begin the two-step enrollment of their users.
/// They have callers of their own.
const CHANGING_CALLERS: [&str; 6] = [
    "login",
    "logout",
    "change_password",
    "begin_totp",
    "sign_out",
    "sign_out_by_form",
];

/// A row: the operation, one request, and the status for each caller. In paths `{draft}`, `{published}`,
/// `{comment}`, `{payment}` and `{captured}` stand for resources of the owner, created anew for
/// each request, `{owner}` for the owner, and `{client}` for a client with a secret.
struct Row {
    name: &'static str,
    operation: &'static str,
    method: &'static str,
    path: &'static str,
    body: Body,
    statuses: [u16; CALLERS.len()],
}

/// The body of a request.
enum Body {
    None,
    Json(fn(&User) -> Value),
    Form,
}

macro_rules! table {
    ($($name:ident: $operation:literal $method:ident $path:literal $body:expr,
        [$anonymous:literal | $($session:literal)+ | $all:literal | $($without:literal)+ | $revoked:literal | $($disabled:literal)+];)+) => {
        /// The permission table.
        const ROWS: &[Row] = &[$(Row {
            name: stringify!($name),
            operation: $operation,
            method: stringify!($method),
            path: $path,
            body: $body,
            statuses: [$anonymous, $($session,)+ $all, $($without,)+ $revoked, $($disabled),+],
        }),+];
    };
}

const TITLE: Body = Body::Json(|_| json!({ "title": "A title" }));
const NOTHING: Body = Body::Json(|_| json!({}));
const PAYMENT: Body = Body::Json(|_| json!({ "amount": 100, "currency": "EUR" }));
const COMMENT: Body = Body::Json(|_| json!({ "body": "A comment" }));
const SIGN_UP: Body = Body::Json(
    |_| json!({ "email": format!("{}@example.org", foundation::random::id()), "password": PASSWORD }),
);
const SIGN_IN: Body = Body::Json(|owner| json!({ "email": owner.email, "password": PASSWORD }));
const EMAIL: Body = Body::Json(|owner| json!({ "email": owner.email }));
const BAD_TOKEN: Body = Body::Json(|_| json!({ "token": "x" }));
const BAD_RESET: Body = Body::Json(|_| json!({ "token": "x", "new_password": PASSWORD }));
const RIGHT_PASSWORD: Body = Body::Json(|_| json!({ "password": PASSWORD }));
const WRONG_PASSWORD: Body = Body::Json(|_| json!({ "password": "not the password" }));
const CODE: Body = Body::Json(|_| json!({ "otp": "123456" }));
const CLIENT: Body = Body::Json(|_| {
    json!({ "id": foundation::random::uuid(), "name": "An app", "type": "web", "scope": "posts:read",
            "redirect_uris": ["https://app.test/cb"] })
});
const NAME: Body = Body::Json(|_| json!({ "name": "A name" }));
const NEW_PASSWORD: Body =
    Body::Json(|_| json!({ "current_password": PASSWORD, "new_password": "another good password" }));

#[rustfmt::skip]
table! {
    //                                                                         | session of another, owner, editor, admin
    //                                                                         |     | token of every scope, without posts:read posts:write
    //                                                                         |     | comments:write payments:read payments:write profile:read admin; an administrator's of all; a service's
    //                                                                     none|     |     |                             revoked|  disabled
    list_posts: "listPosts" GET "/posts" Body::None,                       [401 | 200 200 200 200 | 200 | 403 200 200 200 200 200 200 200 200 | 401 | 401 401];
    create_post: "createPost" POST "/posts" TITLE,                         [401 | 201 201 201 201 | 201 | 201 403 201 201 201 201 201 201 403 | 401 | 401 401];
    read_published: "readPost" GET "/posts/{published}" Body::None,        [200 | 200 200 200 200 | 200 | 200 200 200 200 200 200 200 200 200 | 401 | 200 401];
    read_draft: "readPost" GET "/posts/{draft}" Body::None,                [404 | 404 200 200 200 | 200 | 404 200 200 200 200 200 200 200 404 | 401 | 404 401];
    update_published: "updatePost" PATCH "/posts/{published}" TITLE,       [401 | 403 200 200 200 | 200 | 200 403 200 200 200 200 200 200 403 | 401 | 401 401];
    update_draft: "updatePost" PATCH "/posts/{draft}" TITLE,               [401 | 404 200 200 200 | 200 | 200 403 200 200 200 200 200 200 403 | 401 | 401 401];
    delete_published: "deletePost" DELETE "/posts/{published}" Body::None, [401 | 403 204 204 204 | 204 | 204 403 204 204 204 204 204 204 403 | 401 | 401 401];
    delete_draft: "deletePost" DELETE "/posts/{draft}" Body::None,         [401 | 404 204 204 204 | 204 | 204 403 204 204 204 204 204 204 403 | 401 | 401 401];

    list_comments: "listComments" GET "/posts/{published}/comments" Body::None,
                                                                           [200 | 200 200 200 200 | 200 | 200 200 200 200 200 200 200 200 200 | 401 | 200 401];
    list_comments_of_draft: "listComments" GET "/posts/{draft}/comments" Body::None,
                                                                           [404 | 404 200 200 200 | 200 | 404 200 200 200 200 200 200 200 404 | 401 | 404 401];
    create_comment: "createComment" POST "/posts/{published}/comments" COMMENT,
                                                                           [401 | 201 201 201 201 | 201 | 201 201 403 201 201 201 201 201 403 | 401 | 401 401];
    create_comment_on_draft: "createComment" POST "/posts/{draft}/comments" COMMENT,
                                                                           [401 | 404 201 201 201 | 201 | 404 201 403 201 201 201 201 201 403 | 401 | 401 401];
    read_comment: "readComment" GET "/posts/{published}/comments/{comment}" Body::None,
                                                                           [200 | 200 200 200 200 | 200 | 200 200 200 200 200 200 200 200 200 | 401 | 200 401];
    delete_comment: "deleteComment" DELETE "/posts/{published}/comments/{comment}" Body::None,
                                                                           [401 | 403 204 204 204 | 204 | 204 204 403 204 204 204 204 204 403 | 401 | 401 401];

    list_payments: "listPayments" GET "/payments" Body::None,              [401 | 200 200 200 200 | 200 | 200 200 200 403 200 200 200 200 403 | 401 | 401 401];
    create_payment: "createPayment" POST "/payments" PAYMENT,              [401 | 201 201 201 201 | 201 | 201 201 201 201 403 201 201 201 403 | 401 | 401 401];
    read_payment: "readPayment" GET "/payments/{payment}" Body::None,      [401 | 404 200 404 404 | 200 | 200 200 200 403 200 200 404 404 403 | 401 | 401 401];
    capture_payment: "capturePayment" POST "/payments/{payment}/captures" NOTHING,
                                                                           [401 | 404 201 404 404 | 201 | 201 201 201 201 403 201 404 404 403 | 401 | 401 401];
    cancel_payment: "cancelPayment" POST "/payments/{payment}/cancellations" NOTHING,
                                                                           [401 | 404 201 404 404 | 201 | 201 201 201 201 403 201 404 404 403 | 401 | 401 401];
    refund_payment: "refundPayment" POST "/payments/{captured}/refunds" NOTHING,
                                                                           [401 | 404 201 404 404 | 201 | 201 201 201 201 403 201 404 404 403 | 401 | 401 401];

    create_user: "createUser" POST "/users" SIGN_UP,                       [201 | 201 201 201 201 | 201 | 201 201 201 201 201 201 201 201 201 | 401 | 201 401];
    read_user: "readUser" GET "/users/{owner}" Body::None,                 [401 | 404 200 404 200 | 200 | 200 200 200 200 200 403 404 200 403 | 401 | 401 401];
    login: "login" POST "/login" SIGN_IN,                                  [200 | 200 200 200 200 | 200 | 200 200 200 200 200 200 200 200 200 | 401 | 200 401];
    logout: "logout" POST "/logout" Body::None,                            [401 | 204 204 204 204 | 403 | 403 403 403 403 403 403 403 403 403 | 401 | 401 401];
    read_me: "readMe" GET "/me" Body::None,                                [401 | 200 200 200 200 | 200 | 200 200 200 200 200 403 200 200 403 | 401 | 401 401];
    change_password: "changePassword" PUT "/me/password" NEW_PASSWORD,     [401 | 204 204 204 204 | 403 | 403 403 403 403 403 403 403 403 403 | 401 | 401 401];
    // A sign-in with a password is not enough.
    remove_password: "removePassword" DELETE "/me/password" Body::None,    [401 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 401 | 401 401];
    ask_for_reset: "requestPasswordReset" POST "/password-resets" EMAIL,     [202 | 202 202 202 202 | 202 | 202 202 202 202 202 202 202 202 202 | 401 | 202 401];
    confirm_reset: "confirmPasswordReset" POST "/password-resets/confirmations" BAD_RESET,
                                                                           [422 | 422 422 422 422 | 422 | 422 422 422 422 422 422 422 422 422 | 401 | 422 401];
    ask_for_verification: "requestEmailVerification" POST "/email-verifications" NOTHING,
                                                                           [401 | 202 202 202 202 | 403 | 403 403 403 403 403 403 403 403 403 | 401 | 401 401];
    confirm_email: "confirmEmailVerification" POST "/email-verifications/confirmations" BAD_TOKEN,
                                                                           [422 | 422 422 422 422 | 422 | 422 422 422 422 422 422 422 422 422 | 401 | 422 401];
    begin_totp: "beginTotp" POST "/me/mfa/totp" RIGHT_PASSWORD,                     [401 | 201 201 201 201 | 403 | 403 403 403 403 403 403 403 403 403 | 401 | 401 401];
    confirm_totp: "confirmTotp" POST "/me/mfa/totp/verifications" CODE,    [401 | 404 404 404 404 | 403 | 403 403 403 403 403 403 403 403 403 | 401 | 401 401];
    renew_recovery_codes: "renewRecoveryCodes" POST "/me/mfa/recovery-codes" RIGHT_PASSWORD,
                                                                           [401 | 404 404 404 404 | 403 | 403 403 403 403 403 403 403 403 403 | 401 | 401 401];
    disable_totp: "disableTotp" DELETE "/me/mfa/totp" RIGHT_PASSWORD,               [401 | 404 404 404 404 | 403 | 403 403 403 403 403 403 403 403 403 | 401 | 401 401];
    list_sessions: "listSessions" GET "/me/sessions" Body::None,           [401 | 200 200 200 200 | 403 | 403 403 403 403 403 403 403 403 403 | 401 | 401 401];
    end_other_sessions: "endOtherSessions" DELETE "/me/sessions" Body::None, [401 | 204 204 204 204 | 403 | 403 403 403 403 403 403 403 403 403 | 401 | 401 401];
    end_session: "endSession" DELETE "/me/sessions/999999" Body::None,     [401 | 404 404 404 404 | 403 | 403 403 403 403 403 403 403 403 403 | 401 | 401 401];
    list_grants: "listGrants" GET "/me/grants" Body::None,                 [401 | 200 200 200 200 | 403 | 403 403 403 403 403 403 403 403 403 | 401 | 401 401];
    list_passkeys: "listPasskeys" GET "/me/passkeys" Body::None,    [401 | 200 200 200 200 | 403 | 403 403 403 403 403 403 403 403 403 | 401 | 401 401];
    rename_passkey: "renamePasskey" PUT "/me/passkeys/1/name" NAME,        [401 | 404 404 404 404 | 403 | 403 403 403 403 403 403 403 403 403 | 401 | 401 401];
    remove_passkey: "removePasskey" DELETE "/me/passkeys/1" RIGHT_PASSWORD,
                                                                           [401 | 404 404 404 404 | 403 | 403 403 403 403 403 403 403 403 403 | 401 | 401 401];
    withdraw_grant: "withdrawGrant" DELETE "/me/grants/none" Body::None,   [401 | 404 404 404 404 | 403 | 403 403 403 403 403 403 403 403 403 | 401 | 401 401];
    export_account: "exportAccount" GET "/me/export" Body::None,           [401 | 200 200 200 200 | 403 | 403 403 403 403 403 403 403 403 403 | 401 | 401 401];
    // With a wrong password, because the right one deletes the account.
    delete_account: "deleteAccount" DELETE "/me" WRONG_PASSWORD,                 [401 | 422 422 422 422 | 403 | 403 403 403 403 403 403 403 403 403 | 401 | 401 401];
    read_protected: "readProtected" GET "/protected" Body::None,           [401 | 401 401 401 401 | 200 | 200 200 200 200 200 200 200 200 200 | 401 | 401 401];

    // Only for administrators, on the issuer. A rotation comes too early here, because the staged key is new.
    read_figures: "readFigures" GET "/admin" Body::None,                   [401 | 403 403 403 200 | 403 | 403 403 403 403 403 403 403 200 403 | 401 | 401 401];
    list_security_events: "listSecurityEvents" GET "/admin/events" Body::None,
                                                                           [401 | 403 403 403 200 | 403 | 403 403 403 403 403 403 403 200 403 | 401 | 401 401];
    group_refusals: "groupRefusals" GET "/admin/events/refusals" Body::None,
                                                                           [401 | 403 403 403 200 | 403 | 403 403 403 403 403 403 403 200 403 | 401 | 401 401];
    follow_security_events: "followSecurityEvents" GET "/admin/events/stream?seconds=0" Body::None,
                                                                           [401 | 403 403 403 200 | 403 | 403 403 403 403 403 403 403 200 403 | 401 | 401 401];
    list_signing_keys: "listSigningKeys" GET "/admin/keys" Body::None,     [401 | 403 403 403 200 | 403 | 403 403 403 403 403 403 403 200 403 | 401 | 401 401];
    list_verifiers: "listVerifiers" GET "/admin/keys/verifiers" Body::None, [401 | 403 403 403 200 | 403 | 403 403 403 403 403 403 403 200 403 | 401 | 401 401];
    rotate_signing_keys: "rotateSigningKeys" POST "/admin/keys/rotations" Body::None,
                                                                           [401 | 403 403 403 409 | 403 | 403 403 403 403 403 403 403 409 403 | 401 | 401 401];
    retire_signing_key: "retireSigningKey" POST "/admin/keys/none/retirements" Body::None,
                                                                           [401 | 403 403 403 404 | 403 | 403 403 403 403 403 403 403 404 403 | 401 | 401 401];
    list_clients: "listClients" GET "/admin/clients" Body::None,           [401 | 403 403 403 200 | 403 | 403 403 403 403 403 403 403 200 403 | 401 | 401 401];
    create_client: "createClient" POST "/admin/clients" CLIENT,            [401 | 403 403 403 201 | 403 | 403 403 403 403 403 403 403 201 403 | 401 | 401 401];
    read_client: "readClient" GET "/admin/clients/{client}" Body::None,    [401 | 403 403 403 200 | 403 | 403 403 403 403 403 403 403 200 403 | 401 | 401 401];
    update_client: "updateClient" PATCH "/admin/clients/{client}" NAME,
                                                                           [401 | 403 403 403 200 | 403 | 403 403 403 403 403 403 403 200 403 | 401 | 401 401];
    rotate_client_secret: "rotateClientSecret" POST "/admin/clients/{client}/secrets" NOTHING,
                                                                           [401 | 403 403 403 201 | 403 | 403 403 403 403 403 403 403 201 403 | 401 | 401 401];
    disable_client: "disableClient" POST "/admin/clients/{client}/disablements" Body::None,
                                                                           [401 | 403 403 403 200 | 403 | 403 403 403 403 403 403 403 200 403 | 401 | 401 401];
    enable_client: "enableClient" POST "/admin/clients/{client}/enablements" Body::None,
                                                                           [401 | 403 403 403 200 | 403 | 403 403 403 403 403 403 403 200 403 | 401 | 401 401];
    // Some have no such user, because they would end the sessions of the columns.
    list_accounts: "listAccounts" GET "/admin/users" Body::None,
                                                                           [401 | 403 403 403 200 | 403 | 403 403 403 403 403 403 403 200 403 | 401 | 401 401];
    create_account: "createAccount" POST "/admin/users" SIGN_UP,
                                                                           [401 | 403 403 403 201 | 403 | 403 403 403 403 403 403 403 201 403 | 401 | 401 401];
    read_account: "readAccount" GET "/admin/users/{owner}" Body::None,
                                                                           [401 | 403 403 403 200 | 403 | 403 403 403 403 403 403 403 200 403 | 401 | 401 401];
    update_account: "updateAccount" PATCH "/admin/users/{owner}" NOTHING,
                                                                           [401 | 403 403 403 200 | 403 | 403 403 403 403 403 403 403 200 403 | 401 | 401 401];
    set_account_password: "setAccountPassword" PUT "/admin/users/999999/password" NOTHING,
                                                                           [401 | 403 403 403 404 | 403 | 403 403 403 403 403 403 403 404 403 | 401 | 401 401];
    disable_account: "disableAccount" POST "/admin/users/999999/disablements" Body::None,
                                                                           [401 | 403 403 403 404 | 403 | 403 403 403 403 403 403 403 404 403 | 401 | 401 401];
    enable_account: "enableAccount" POST "/admin/users/{owner}/enablements" Body::None,
                                                                           [401 | 403 403 403 200 | 403 | 403 403 403 403 403 403 403 200 403 | 401 | 401 401];
    unlock_account: "unlockAccount" DELETE "/admin/users/{owner}/lockouts" Body::None,
                                                                           [401 | 403 403 403 204 | 403 | 403 403 403 403 403 403 403 204 403 | 401 | 401 401];
    reset_account_mfa: "resetAccountMfa" DELETE "/admin/users/{owner}/mfa" Body::None,
                                                                           [401 | 403 403 403 404 | 403 | 403 403 403 403 403 403 403 404 403 | 401 | 401 401];
    sign_user_out: "signUserOut" DELETE "/admin/users/999999/sessions" Body::None,
                                                                           [401 | 403 403 403 404 | 403 | 403 403 403 403 403 403 403 404 403 | 401 | 401 401];
    list_user_sessions: "listUserSessions" GET "/admin/sessions" Body::None,
                                                                           [401 | 403 403 403 200 | 403 | 403 403 403 403 403 403 403 200 403 | 401 | 401 401];
    end_user_session: "endUserSession" DELETE "/admin/sessions/999999" Body::None,
                                                                           [401 | 403 403 403 404 | 403 | 403 403 403 403 403 403 403 404 403 | 401 | 401 401];
    list_consents: "listConsents" GET "/admin/consents" Body::None,
                                                                           [401 | 403 403 403 200 | 403 | 403 403 403 403 403 403 403 200 403 | 401 | 401 401];
    preview_tokens: "previewTokens" GET "/admin/token-preview" Body::None, [401 | 403 403 403 200 | 403 | 403 403 403 403 403 403 403 200 403 | 401 | 401 401];
    revoke_consent: "revokeConsent" DELETE "/admin/consents/none" Body::None,
                                                                           [401 | 403 403 403 404 | 403 | 403 403 403 403 403 403 403 404 403 | 401 | 401 401];
    list_registration_tokens: "listRegistrationTokens" GET "/admin/registration-tokens" Body::None,
                                                                           [401 | 403 403 403 200 | 403 | 403 403 403 403 403 403 403 200 403 | 401 | 401 401];
    create_registration_token: "createRegistrationToken" POST "/admin/registration-tokens" NOTHING,
                                                                           [401 | 403 403 403 201 | 403 | 403 403 403 403 403 403 403 201 403 | 401 | 401 401];
    revoke_registration_token: "revokeRegistrationToken" DELETE "/admin/registration-tokens/none" Body::None,
                                                                           [401 | 403 403 403 404 | 403 | 403 403 403 403 403 403 403 404 403 | 401 | 401 401];

    read_user_info: "readUserInfo" GET "/userinfo" Body::None,             [401 | 401 401 401 401 | 200 | 200 200 200 200 200 200 200 200 403 | 401 | 401 401];
    read_user_info_by_post: "readUserInfoByPost" POST "/userinfo" Body::Form,
                                                                           [401 | 401 401 401 401 | 200 | 200 200 200 200 200 200 200 200 403 | 401 | 401 401];

    // The same for everyone: credentials are not checked.
    read_resource_metadata: "readResourceMetadata" GET "/.well-known/oauth-protected-resource" Body::None,
                                                                           [200 | 200 200 200 200 | 200 | 200 200 200 200 200 200 200 200 200 | 200 | 200 200];
    read_issuer_metadata: "readIssuerMetadata" GET "/.well-known/oauth-authorization-server" Body::None,
                                                                           [200 | 200 200 200 200 | 200 | 200 200 200 200 200 200 200 200 200 | 200 | 200 200];
    read_openid_configuration: "readOpenIdConfiguration" GET "/.well-known/openid-configuration" Body::None,
                                                                           [200 | 200 200 200 200 | 200 | 200 200 200 200 200 200 200 200 200 | 200 | 200 200];
    read_passkey_endpoints: "readPasskeyEndpoints" GET "/.well-known/passkey-endpoints" Body::None,
                                                                           [200 | 200 200 200 200 | 200 | 200 200 200 200 200 200 200 200 200 | 200 | 200 200];
    read_keys: "readKeys" GET "/.well-known/jwks.json" Body::None,         [200 | 200 200 200 200 | 200 | 200 200 200 200 200 200 200 200 200 | 200 | 200 200];
    read_document: "readDocument" GET "/openapi.json" Body::None,          [200 | 200 200 200 200 | 200 | 200 200 200 200 200 200 200 200 200 | 200 | 200 200];
    read_csrf_token: "readCsrfToken" GET "/csrf" Body::None,               [200 | 200 200 200 200 | 200 | 200 200 200 200 200 200 200 200 200 | 200 | 200 200];
    livez: "livez" GET "/livez" Body::None,                                [200 | 200 200 200 200 | 200 | 200 200 200 200 200 200 200 200 200 | 200 | 200 200];
    readyz: "readyz" GET "/readyz" Body::None,                             [200 | 200 200 200 200 | 200 | 200 200 200 200 200 200 200 200 200 | 200 | 200 200];

    // The issuer authenticates clients and browsers by other means, so these credentials do not help an empty
    // request.
    exchange_token: "exchangeToken" POST "/token" Body::Form,              [401 | 401 401 401 401 | 401 | 401 401 401 401 401 401 401 401 401 | 401 | 401 401];
    revoke_token: "revokeToken" POST "/revoke" Body::Form,               [401 | 401 401 401 401 | 401 | 401 401 401 401 401 401 401 401 401 | 401 | 401 401];
    revoke_token_in_cookie: "revokeTokenInCookie" POST "/token/revoke" Body::Form,               [401 | 401 401 401 401 | 401 | 401 401 401 401 401 401 401 401 401 | 401 | 401 401];
    introspect_token: "introspectToken" POST "/introspect" Body::Form,   [401 | 401 401 401 401 | 401 | 401 401 401 401 401 401 401 401 401 | 401 | 401 401];
    push_authorization_request: "pushAuthorizationRequest" POST "/par" Body::Form,
                                                                           [401 | 401 401 401 401 | 401 | 401 401 401 401 401 401 401 401 401 | 401 | 401 401];
    // Clients cannot register themselves unless the operator allows it.
    register_client: "registerClient" POST "/register" NOTHING,
                                                                           [404 | 404 404 404 404 | 404 | 404 404 404 404 404 404 404 404 404 | 404 | 404 404];
    read_registration: "readRegistration" GET "/register/none" Body::None,
                                                                           [404 | 404 404 404 404 | 404 | 404 404 404 404 404 404 404 404 404 | 404 | 404 404];
    replace_registration: "replaceRegistration" PUT "/register/none" NOTHING,
                                                                           [404 | 404 404 404 404 | 404 | 404 404 404 404 404 404 404 404 404 | 404 | 404 404];
    delete_registration: "deleteRegistration" DELETE "/register/none" Body::None,
                                                                           [404 | 404 404 404 404 | 404 | 404 404 404 404 404 404 404 404 404 | 404 | 404 404];
    sign_out: "signOut" GET "/signout" Body::None,                         [200 | 200 200 200 200 | 200 | 200 200 200 200 200 200 200 200 200 | 200 | 200 200];
    sign_out_by_form: "signOutByForm" POST "/signout" Body::Form,          [303 | 303 303 303 303 | 303 | 303 303 303 303 303 303 303 303 303 | 303 | 303 303];
    confirm_sign_out: "confirmSignOut" POST "/signout/confirmation" Body::Form,
                                                                           [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    authorize: "authorize" GET "/authorize" Body::None,                    [400 | 400 400 400 400 | 400 | 400 400 400 400 400 400 400 400 400 | 400 | 400 400];
    authorize_by_form: "authorizeByForm" POST "/authorize" Body::Form,     [400 | 400 400 400 400 | 400 | 400 400 400 400 400 400 400 400 400 | 400 | 400 400];
    show_sign_in: "showSignIn" GET "/signin" Body::None,                   [200 | 303 303 303 303 | 200 | 200 200 200 200 200 200 200 200 200 | 200 | 200 200];
    submit_sign_in: "submitSignIn" POST "/signin" Body::Form,              [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    show_second_step: "showSecondStep" GET "/signin/second-step" Body::None,
                                                                           [400 | 303 303 303 303 | 400 | 400 400 400 400 400 400 400 400 400 | 400 | 400 400];
    submit_second_step: "submitSecondStep" POST "/signin/second-step" Body::Form,
                                                                           [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    submit_passkey: "submitPasskey" POST "/signin/passkey" Body::Form,     [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    show_sign_up: "showSignUp" GET "/signup" Body::None,                   [200 | 200 200 200 200 | 200 | 200 200 200 200 200 200 200 200 200 | 200 | 200 200];
    submit_sign_up: "submitSignUp" POST "/signup" Body::Form,              [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    show_account: "showAccount" GET "/account" Body::None,                 [303 | 200 200 200 200 | 303 | 303 303 303 303 303 303 303 303 303 | 303 | 303 303];
    end_session_by_form: "endSessionByForm" POST "/account/sessions/end" Body::Form,
                                                                           [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    end_other_sessions_by_form: "endOtherSessionsByForm" POST "/account/sessions/end-others" Body::Form,
                                                                           [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    withdraw_grant_by_form: "withdrawGrantByForm" POST "/account/apps/disconnect" Body::Form,
                                                                           [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    request_email_verification_by_form: "requestEmailVerificationByForm" POST "/account/email/confirmation" Body::Form,
                                                                           [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    show_email: "showEmail" GET "/account/email" Body::None,               [303 | 200 200 200 200 | 303 | 303 303 303 303 303 303 303 303 303 | 303 | 303 303];
    change_email_by_form: "changeEmailByForm" POST "/account/email" Body::Form,
                                                                           [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    export_account_by_page: "exportAccountByPage" GET "/account/export" Body::None,
                                                                           [303 | 200 200 200 200 | 303 | 303 303 303 303 303 303 303 303 303 | 303 | 303 303];
    show_deletion: "showDeletion" GET "/account/deletion" Body::None,      [303 | 200 200 200 200 | 303 | 303 303 303 303 303 303 303 303 303 | 303 | 303 303];
    delete_account_by_form: "deleteAccountByForm" POST "/account/deletion" Body::Form,
                                                                           [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    rotate_signing_keys_by_form: "rotateSigningKeysByForm" POST "/admin/keys/rotate" Body::Form,
                                                                           [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    retire_signing_key_by_form: "retireSigningKeyByForm" POST "/admin/keys/retire" Body::Form,
                                                                           [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    change_account_by_form: "changeAccountByForm" POST "/admin/users/1/changes" Body::Form,
                                                                           [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    change_client_by_form: "changeClientByForm" POST "/admin/clients/{client}/changes" Body::Form,
                                                                           [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    show_new_client: "showNewClient" GET "/admin/apps/new" Body::None,     [303 | 403 403 403 200 | 303 | 303 303 303 303 303 303 303 303 303 | 303 | 303 303];
    create_client_by_form: "createClientByForm" POST "/admin/apps/new" Body::Form,
                                                                           [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    show_two_step: "showTwoStep" GET "/account/two-step" Body::None,       [303 | 200 200 200 200 | 303 | 303 303 303 303 303 303 303 303 303 | 303 | 303 303];
    enroll_two_step_by_form: "enrollTwoStepByForm" POST "/account/two-step/enrollment" Body::Form,
                                                                           [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    confirm_two_step_by_form: "confirmTwoStepByForm" POST "/account/two-step/confirmation" Body::Form,
                                                                           [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    renew_recovery_codes_by_form: "renewRecoveryCodesByForm" POST "/account/two-step/recovery-codes" Body::Form,
                                                                           [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    turn_two_step_off_by_form: "turnTwoStepOffByForm" POST "/account/two-step/off" Body::Form,
                                                                           [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    show_passkeys: "showPasskeys" GET "/account/passkeys" Body::None,      [303 | 200 200 200 200 | 303 | 303 303 303 303 303 303 303 303 303 | 303 | 303 303];
    add_passkey: "addPasskey" POST "/account/passkeys" Body::Form,         [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    rename_passkey_by_form: "renamePasskeyByForm" POST "/account/passkeys/name" Body::Form,
                                                                           [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    remove_passkey_by_form: "removePasskeyByForm" POST "/account/passkeys/removal" Body::Form,
                                                                           [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    remove_password_by_form: "removePasswordByForm" POST "/account/password/removal" Body::Form,
                                                                           [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    show_consent: "showConsent" GET "/consent" Body::None,                 [400 | 400 400 400 400 | 400 | 400 400 400 400 400 400 400 400 400 | 400 | 400 400];
    submit_consent: "submitConsent" POST "/consent" Body::Form,            [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    show_password: "showPassword" GET "/password" Body::None,              [303 | 200 200 200 200 | 303 | 303 303 303 303 303 303 303 303 303 | 303 | 303 303];
    submit_password: "submitPassword" POST "/password" Body::Form,         [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    judge_password: "judgePassword" POST "/password/verdict" Body::Form,   [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    find_password_page: "findPasswordPage" GET "/.well-known/change-password" Body::None,              [303 | 303 303 303 303 | 303 | 303 303 303 303 303 303 303 303 303 | 303 | 303 303];
    show_forgotten: "showForgotten" GET "/forgot" Body::None,              [200 | 200 200 200 200 | 200 | 200 200 200 200 200 200 200 200 200 | 200 | 200 200];
    submit_forgotten: "submitForgotten" POST "/forgot" Body::Form,         [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    show_reset: "showReset" GET "/reset" Body::None,                       [400 | 400 400 400 400 | 400 | 400 400 400 400 400 400 400 400 400 | 400 | 400 400];
    submit_reset: "submitReset" POST "/reset" Body::Form,                  [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    show_verify: "showVerify" GET "/verify" Body::None,                    [400 | 400 400 400 400 | 400 | 400 400 400 400 400 400 400 400 400 | 400 | 400 400];
    submit_verify: "submitVerify" POST "/verify" Body::Form,               [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    authorize_device: "authorizeDevice" POST "/device_authorization" Body::Form,
                                                                           [401 | 401 401 401 401 | 401 | 401 401 401 401 401 401 401 401 401 | 401 | 401 401];
    show_device: "showDevice" GET "/device" Body::None,                    [303 | 200 200 200 200 | 303 | 303 303 303 303 303 303 303 303 303 | 303 | 303 303];
    submit_device: "submitDevice" POST "/device" Body::Form,               [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
    confirm_device: "confirmDevice" POST "/device/confirmation" Body::Form,
                                                                           [403 | 403 403 403 403 | 403 | 403 403 403 403 403 403 403 403 403 | 403 | 403 403];
}

/// The callers of the columns, and the owner of the resources.
struct Fixture {
    owner: User,
    callers: Vec<Caller>,
}

impl Fixture {
    async fn create(world: &World) -> Self {
        let app = world.app().register();
        let (owner, other) = (world.user().await, world.user().await);
        let (editor, admin) = (
            world.user_with_role("editor").await,
            world.user_with_role("admin").await,
        );
        let disabled = world.user().await;
        let every = SCOPES[..6].join(" ");
        let every_of_user = format!("{every} openid");
        let revoked = app.tokens(&owner, &every).await;
        app.refresh(&world.anyone(), &revoked.refresh).await.expect(200);
        let replayed = app.refresh(&world.anyone(), &revoked.refresh).await;
        replayed.expect_token_error(400, "invalid_grant");
        world.expect_revoked(&revoked.access).await;
        let of_disabled = app.tokens(&disabled, &every).await;
        world.cli(&["users", "disable", "--email", &disabled.email, "--json"], "");
        disabled.get("/me").await.expect(401);
        world.expect_revoked_soon(&of_disabled.access).await;

        let bearer = |token: &str| world.anyone().bearer(token);
        let mut callers = vec![world.anyone()];
        callers.extend([&other, &owner, &editor, &admin].map(|user| Caller::clone(user)));
        callers.push(bearer(&app.tokens(&owner, &every_of_user).await.access));
        for without in SCOPES.iter().copied() {
            let user = if without == "admin" { &admin } else { &owner };
            callers.push(bearer(&tokens_without(&app, user, without).await));
        }
        callers.push(bearer(
            &app.tokens(&admin, &format!("{every_of_user} admin")).await.access,
        ));
        callers.push(bearer(&service_token(world, &every).await));
        callers.extend([
            bearer(&revoked.access),
            Caller::clone(&disabled),
            bearer(&of_disabled.access),
        ]);
        Self { owner, callers }
    }
}

/// A service's own access token of every scope that it can have.
async fn service_token(world: &World, scope: &str) -> String {
    let service = world.app().kind("service").scope(scope).register();
    let fields = [("grant_type", "client_credentials"), ("scope", scope)];
    let reply = service.token(&world.anyone(), &fields).await.expect(200);
    reply.json()["access_token"].as_str().unwrap().to_owned()
}

async fn tokens_without(app: &App, user: &User, without: &str) -> String {
    let scopes: Vec<&str> = SCOPES[..6]
        .iter()
        .copied()
        .filter(|scope| *scope != without)
        .chain(["openid"])
        .collect();
    app.tokens(user, &scopes.join(" ")).await.access
}

/// Creates the resources of the owner for which a path has placeholders. Returns the path with their ids.
async fn with_resources(owner: &User, path: &str) -> String {
    let mut path = path.to_owned();
    if path.contains("{draft}") {
        let draft = owner.draft("A draft").await;
        path = path.replace("{draft}", &draft.id.to_string());
    }
    if path.contains("{published}") {
        let post = owner.publish("A post").await;
        path = path.replace("{published}", &post.id.to_string());
        if path.contains("{comment}") {
            let comment = owner.comment(&post, "A comment").await;
            path = path.replace("{comment}", &comment.id.to_string());
        }
    }
    for (name, is_captured) in [("{payment}", false), ("{captured}", true)] {
        if path.contains(name) {
            let payment = owner.pay(100).await;
            if is_captured {
                let capture = owner.transition(&payment, "captures", &json!({}));
                capture.await.expect(201);
            }
            path = path.replace(name, &payment.id);
        }
    }
    assert!(!path.contains('{'), "{path}");
    path
}

impl Row {
    /// Expects that the challenge of a 401 names the scope that the operation needs (RFC 6750 §3), and no
    /// other.
    fn expect_named_scope(&self, reply: &Reply) {
        let challenge = reply.header("www-authenticate");
        let named = challenge
            .split("scope=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        assert_eq!(named, self.needed_scope(), "{}: {reply}", self.operation);
    }

    /// Returns the scope without which a token gets 403, and with which it does not.
    fn needed_scope(&self) -> Option<&'static str> {
        if self.path == "/userinfo" {
            return Some("openid");
        }
        let status_of =
            |caller: &str| self.statuses[CALLERS.iter().position(|name| *name == caller).unwrap()];
        let first = CALLERS
            .iter()
            .position(|name| name.starts_with("the same"))
            .unwrap();
        let without = |n: usize| self.statuses[first + n];
        let with = |scope: &str| match scope {
            "admin" => status_of("an administrator's access token of every scope"),
            _ => status_of("the owner's access token of every scope"),
        };
        let needs = |(n, scope): &(usize, &&'static str)| without(*n) == 403 && with(scope) != 403;
        let needed: Vec<_> = SCOPES.iter().enumerate().filter(needs).collect();
        assert!(needed.len() < 2, "{}: {needed:?}", self.operation);
        needed.first().map(|(_, scope)| **scope)
    }

    /// Sends the request as every caller. Those with tokens go first, because signing out and password
    /// changes end sessions. Returns the wrong cells.
    async fn check(&self, world: &World, fixture: &Fixture) -> Vec<String> {
        let template = match self.path.contains("{client}") {
            true => self
                .path
                .replace("{client}", &world.app().kind("web").register().id),
            false => self.path.replace("{owner}", &fixture.owner.id.to_string()),
        };
        let mut paths = Vec::new();
        for _ in CALLERS {
            paths.push(with_resources(&fixture.owner, &template).await);
        }
        let mut wrong = Vec::new();
        for (n, path) in paths.into_iter().enumerate().rev() {
            let call = fixture.callers[n]
                .call(self.method, &path)
                .header("if-match", "*");
            let call = call.key(&fresh_key());
            let call = match &self.body {
                Body::None => call.without("if-match"),
                Body::Json(body) => call.json(&body(&fixture.owner)),
                Body::Form => call.form::<&str, &str>(&[]),
            };
            let reply = call.await;
            // The endpoints of clients, which take forms, challenge only who used the header `Authorization`.
            if reply.status == 401 && !matches!(self.body, Body::Form) {
                self.expect_named_scope(&reply);
            }
            if reply.status != self.statuses[n] {
                let (name, caller, expected) = (self.name, CALLERS[n], self.statuses[n]);
                wrong.push(format!(
                    "{name} by {caller}: {} instead of {expected}",
                    reply.status
                ));
            }
        }
        wrong
    }
}

async fn the_table_holds(world: World) {
    // The staged key is new then, so that a further rotation comes too early.
    world.cli(&["keys", "rotate", "--yes", "--json"], "");
    let all = Fixture::create(&world).await;
    let mut wrong = Vec::new();
    for row in ROWS {
        wrong.extend(match CHANGING_CALLERS.contains(&row.name) {
            true => row.check(&world, &Fixture::create(&world).await).await,
            false => row.check(&world, &all).await,
        });
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

async fn every_operation_is_in_the_permission_table(world: SharedWorld) {
    let mut described = BTreeSet::new();
    for port in [world.issuer_ports()[0], world.api_ports()[0]] {
        let url = format!("http://localhost:{port}/openapi.json");
        let document = world.anyone().get(&url).await.expect(200).json();
        let operations = document["paths"].as_object().unwrap().values();
        let operations = operations.flat_map(|path| path.as_object().unwrap().values());
        described
            .extend(operations.filter_map(|operation| operation["operationId"].as_str().map(str::to_owned)));
    }
    let in_table: BTreeSet<String> = ROWS.iter().map(|row| row.operation.to_owned()).collect();
    assert_eq!(in_table, described);
}

on_every_shape!(the_table_holds, every_operation_is_in_the_permission_table);
