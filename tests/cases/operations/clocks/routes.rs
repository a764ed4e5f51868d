//! The operations that a process serves while its clock differs. The OpenAPI documents describe every route,
//! so this test fails until a new operation is in one of its lists.

use super::{MINUTE, expect_noticed};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tests::{Call, Caller, Reply, Shape, World, on_postgresql};

/// The operations that publish something or end something, by their `operationId`.
const SERVED: [&str; 48] = [
    // Health.
    "livez",
    "readyz",
    // Keys and metadata.
    "findPasswordPage",
    "readCsrfToken",
    "readDocument",
    "readIssuerMetadata",
    "readKeys",
    "readOpenIdConfiguration",
    "readPasskeyEndpoints",
    "readResourceMetadata",
    // Sign-out, and the end of sessions and of connected apps.
    "confirmSignOut",
    "endOtherSessions",
    "endOtherSessionsByForm",
    "endSession",
    "endSessionByForm",
    "listGrants",
    "listSessions",
    "logout",
    "showAccount",
    "signOut",
    "signOutByForm",
    "withdrawGrant",
    "withdrawGrantByForm",
    // Revocation and introspection.
    "introspectToken",
    "revokeToken",
    "revokeTokenInCookie",
    // Administration: finding and ending.
    "changeAccountByForm",
    "changeClientByForm",
    "disableAccount",
    "disableClient",
    "endUserSession",
    "groupRefusals",
    "listAccounts",
    "listClients",
    "listConsents",
    "listRegistrationTokens",
    "listSecurityEvents",
    "listSigningKeys",
    "listUserSessions",
    "listVerifiers",
    "readAccount",
    "readClient",
    "readFigures",
    "retireSigningKey",
    "retireSigningKeyByForm",
    "revokeConsent",
    "revokeRegistrationToken",
    "signUserOut",
];

/// All other operations.
const REFUSED: [&str; 100] = [
    "addPasskey",
    "authorize",
    "authorizeByForm",
    "authorizeDevice",
    "beginTotp",
    "cancelPayment",
    "capturePayment",
    "changeEmailByForm",
    "changePassword",
    "confirmDevice",
    "confirmEmailVerification",
    "confirmPasswordReset",
    "confirmTotp",
    "confirmTwoStepByForm",
    "createAccount",
    "createClient",
    "createClientByForm",
    "createComment",
    "createPayment",
    "createPost",
    "createRegistrationToken",
    "createUser",
    "deleteAccount",
    "deleteAccountByForm",
    "deleteComment",
    "deletePost",
    "deleteRegistration",
    "disableTotp",
    "enableAccount",
    "enableClient",
    "enrollTwoStepByForm",
    "exchangeToken",
    "exportAccount",
    "exportAccountByPage",
    "followSecurityEvents",
    "judgePassword",
    "listComments",
    "listPasskeys",
    "listPayments",
    "listPosts",
    "login",
    "previewTokens",
    "pushAuthorizationRequest",
    "readComment",
    "readMe",
    "readPayment",
    "readPost",
    "readProtected",
    "readRegistration",
    "readUser",
    "readUserInfo",
    "readUserInfoByPost",
    "refundPayment",
    "registerClient",
    "removePasskey",
    "removePasskeyByForm",
    "removePassword",
    "removePasswordByForm",
    "renamePasskey",
    "renamePasskeyByForm",
    "renewRecoveryCodes",
    "renewRecoveryCodesByForm",
    "replaceRegistration",
    "requestEmailVerification",
    "requestEmailVerificationByForm",
    "requestPasswordReset",
    "resetAccountMfa",
    "rotateClientSecret",
    "rotateSigningKeys",
    "rotateSigningKeysByForm",
    "setAccountPassword",
    "showConsent",
    "showDeletion",
    "showDevice",
    "showEmail",
    "showForgotten",
    "showNewClient",
    "showPasskeys",
    "showPassword",
    "showReset",
    "showSecondStep",
    "showSignIn",
    "showSignUp",
    "showTwoStep",
    "showVerify",
    "submitConsent",
    "submitDevice",
    "submitForgotten",
    "submitPasskey",
    "submitPassword",
    "submitReset",
    "submitSecondStep",
    "submitSignIn",
    "submitSignUp",
    "submitVerify",
    "turnTwoStepOffByForm",
    "unlockAccount",
    "updateAccount",
    "updateClient",
    "updatePost",
];

/// The media type of forms.
const FORM: &str = "application/x-www-form-urlencoded";

/// Prepares a request without parameters for an operation.
fn call(caller: &Caller, (path, method, operation): (&str, &str, &Value)) -> Call {
    let segments = path.split('/').map(|segment| match segment.starts_with('{') {
        true => "1",
        false => segment,
    });
    let path = segments.collect::<Vec<_>>().join("/");
    let call = caller.call(&method.to_uppercase(), &path);
    let body = &operation["requestBody"]["content"];
    if body[FORM].is_object() {
        call.form::<&str, &str>(&[])
    } else if body["application/json"].is_object() {
        call.json(&json!({}))
    } else {
        call
    }
}

/// Whether the process refused a request because of its clock. The readiness has the same status.
fn is_refusal(reply: &Reply) -> bool {
    let body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    reply.status == 503 && body["code"] == "dependency_unavailable"
}

async fn each_operation_is_served_or_refused_while_the_clock_differs(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (anyone, admin) = (world.anyone(), world.user_with_role("admin").await);
    world.advance_programs(61 * MINUTE);
    expect_noticed(&world).await;
    let (mut served, mut refused) = (BTreeSet::new(), BTreeSet::new());
    for described in anyone.contract().operations() {
        let (_, method, operation) = described;
        // Calls with other methods have no credentials, so that none ends the administrator's session.
        let caller: &Caller = if method == "get" { &admin } else { &anyone };
        let reply = call(caller, described).may_fail().await;
        let name = operation["operationId"].as_str().unwrap();
        if is_refusal(&reply) {
            assert_eq!(reply.header("retry-after"), "1", "{reply}");
            refused.insert(name);
        } else {
            assert!(reply.status < 500 || name == "readyz", "{reply}");
            served.insert(name);
        }
    }
    assert_eq!(served, BTreeSet::from(SERVED));
    assert_eq!(refused, BTreeSet::from(REFUSED));
    // The pages that are served need their assets, which no document describes.
    for path in ["/assets/latchkey.css", "/assets/pages.js"] {
        anyone.get(path).await.expect(200);
    }
    // The version is no other route, and a preflight depends on no time.
    let versioned = admin.get("/v1/posts").may_fail().await;
    versioned.expect_error(503, "dependency_unavailable");
    admin.get("/v1/me/sessions").await.expect(200);
    anyone.call("OPTIONS", "/token").await.expect(204);
}

on_postgresql!(each_operation_is_served_or_refused_while_the_clock_differs);
