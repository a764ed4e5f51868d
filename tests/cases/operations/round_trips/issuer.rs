//! Statements and round trips of the issuer: the token endpoint, its documents and its pages.

use super::accounts::with_two_steps;
use super::{Fixture, new_address, routes};
use serde_json::{Value, json};
use tests::{
    Authenticator, Browser, Call, Caller, Device, PASSWORD, Page, Passkey, PasskeyOptions, Signer, items,
};
use url::Url;

const NEW_PASSWORD: &str = "a new good password";

routes! {
    // Operation, case, [statements, round trips], request.
    exchangeToken "code" [1 1] |f| {
        let grant = f.first_party_app.authorize(&mut f.owner.browser(), &f.owner, "posts:read").await;
        f.first_party_app.exchange(&f.world.anyone(), &grant)
    };
    exchangeToken "refresh token" [1 1] |f| {
        let tokens = f.first_party_app.tokens(&f.owner, "posts:read").await;
        f.first_party_app.refresh(&f.world.anyone(), &tokens.refresh)
    };
    exchangeToken "service" [0 0] |f| {
        let service = f.world.app().kind("service").scope("posts:read").register();
        service.token(&f.world.anyone(), &[("grant_type", "client_credentials")])
    };
    exchangeToken "signed assertion" [1 1] |f| signed_request(f);
    // The event of a user is counted if it is not the first one of a minute, so each call is for a new user.
    revokeToken "refresh token" [6 6] |f| {
        let tokens = f.first_party_app.tokens(&f.world.user().await, "posts:read").await;
        f.first_party_app.client_call(&f.world.anyone(), "/revoke", &[("token", &tokens.refresh)])
    };
    revokeToken "access token" [5 5] |f| {
        let tokens = f.first_party_app.tokens(&f.world.user().await, "posts:read").await;
        f.first_party_app.client_call(&f.world.anyone(), "/revoke", &[("token", &tokens.access)])
    };
    revokeTokenInCookie "refresh token" [6 6] |f| {
        let tokens = f.first_party_app.tokens(&f.world.user().await, "posts:read").await;
        f.first_party_app.client_call(&f.world.anyone(), "/token/revoke", &[("token", &tokens.refresh)])
    };
    introspectToken "access token" [0 0] |f| {
        let (tokens, server) = (f.first_party_app.tokens(&f.owner, "posts:read").await, &f.confidential_app);
        server.client_call(&f.world.anyone(), "/introspect", &[("token", &tokens.access)])
    };
    introspectToken "refresh token" [1 1] |f| {
        let tokens = f.confidential_app.tokens(&f.owner, "posts:read").await;
        f.confidential_app.client_call(&f.world.anyone(), "/introspect", &[("token", &tokens.refresh)])
    };
    pushAuthorizationRequest "" [1 1] |f| push(f);
    authorizeDevice "" [1 1] |f| f.device_app.device_request(&f.world.anyone(), &[]);
    exchangeToken "device code, pending" [2 2] |f| device(f).await.poll(&f.world.anyone());
    exchangeToken "device code, allowed" [8 8] |f| {
        let device = device(f).await;
        device.decide(&f.owner, "allow").await;
        device.poll(&f.world.anyone())
    };
    readKeys "" [0 0] |f| f.world.anyone().get("/.well-known/jwks.json");
    readIssuerMetadata "" [0 0] |f| f.world.anyone().get("/.well-known/oauth-authorization-server");
    readOpenIdConfiguration "" [0 0] |f| f.world.anyone().get("/.well-known/openid-configuration");
    readUserInfo "" [1 1] |f| {
        let tokens = f.app.tokens(&f.owner, "openid email").await;
        f.world.anyone().bearer(&tokens.access).get("/userinfo")
    };
    readUserInfoByPost "" [1 1] |f| {
        let tokens = f.app.tokens(&f.owner, "openid email").await;
        f.world.anyone().post("/userinfo").form(&[("access_token", &tokens.access)])
    };
    readFigures "session" [3 3] |f| f.admin.get("/admin");
    readFigures "page" [3 3] |f| f.admin.browser().open_call("/admin");
    listSecurityEvents "session" [2 2] |f| f.admin.get("/admin/events");
    listSecurityEvents "page" [5 5] |f| f.admin.browser().open_call("/admin/events");
    listSecurityEvents "page of refusals" [3 3] |f| f.admin.browser().open_call("/admin/events?view=refusals");
    groupRefusals "session" [2 2] |f| f.admin.get("/admin/events/refusals");
    followSecurityEvents "session" [4 4] |f| f.admin.get("/admin/events/stream?seconds=0");
    listSigningKeys "session" [3 3] |f| f.admin.get("/admin/keys");
    listSigningKeys "page" [5 5] |f| f.admin.browser().open_call("/admin/keys");
    listVerifiers "session" [2 2] |f| f.admin.get("/admin/keys/verifiers");
    rotateSigningKeysByForm "changed since" [5 5] |f| {
        let mut browser = f.admin.browser();
        let page = browser.open("/admin/keys").await;
        let fields = ["csrf", "user"].map(|name| (name.to_owned(), page.hidden(name).unwrap()));
        browser.post_call(&page.url.join("/admin/keys/rotate").unwrap(), &fields)
    };
    retireSigningKeyByForm "retired before" [5 5] |f| {
        let staged = f.admin.get("/admin/keys?state=staged").await.expect(200).json();
        let staged = staged["items"][0]["kid"].as_str().unwrap().to_owned();
        let mut browser = f.admin.browser();
        let page = browser.open("/admin/keys").await;
        let fields = ["csrf", "user"].map(|name| (name.to_owned(), page.hidden(name).unwrap()));
        let key = [("kid", staged.as_str()), ("state", "staged")];
        let key = key.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let fields = [&fields[..], &key].concat();
        browser.post(&page.url.join("/admin/keys/retire").unwrap(), &fields).await;
        browser.post_call(&page.url.join("/admin/keys/retire").unwrap(), &fields)
    };
    changeAccountByForm "unlock" [8 8] |f| {
        let mut browser = f.admin.browser();
        let path = format!("/admin/users/{}", f.owner.id);
        let page = browser.open(&path).await;
        let fields = ["csrf", "user"].map(|name| (name.to_owned(), page.hidden(name).unwrap()));
        let change = [("change".to_owned(), "unlock".to_owned())];
        let fields = [&fields[..], &change].concat();
        browser.post_call(&page.url.join(&format!("{path}/changes")).unwrap(), &fields)
    };
    rotateSigningKeys "too early" [1 1] |f| f.admin.post("/admin/keys/rotations");
    retireSigningKey "too early" [1 1] |f| {
        let keys = f.admin.get("/admin/keys?state=active").await.expect(200).json();
        let active = keys["items"][0]["kid"].as_str().unwrap();
        f.admin.post(&format!("/admin/keys/{active}/retirements"))
    };
    listClients "session" [2 2] |f| f.admin.get("/admin/clients");
    listClients "page" [2 2] |f| f.admin.browser().open_call("/admin/clients");
    showNewClient "" [1 1] |f| f.admin.browser().open_call("/admin/apps/new");
    previewTokens "session" [2 2] |f| {
        f.admin.get(&format!("/admin/token-preview?client_id={}&email={}", f.app.id, f.owner.email))
    };
    previewTokens "form" [1 1] |f| f.admin.browser().open_call("/admin/token-preview");
    previewTokens "claims" [2 2] |f| {
        let path = format!("/admin/token-preview?client_id={}&email={}", f.app.id, f.owner.email);
        f.admin.browser().open_call(&path)
    };
    createClientByForm "review" [1 1] |f| {
        let mut browser = f.admin.browser();
        let page = browser.open("/admin/apps/new").await;
        let fields = ["csrf", "user"].map(|name| (name.to_owned(), page.hidden(name).unwrap()));
        let app = [("type", "service"), ("name", "A service"), ("scope", "posts:read")];
        let app = app.map(|(name, value)| (name.to_owned(), value.to_owned()));
        browser.post_call(&page.url, &[&fields[..], &app].concat())
    };
    changeClientByForm "unknown change" [6 6] |f| {
        let mut browser = f.admin.browser();
        let path = format!("/admin/clients/{}", f.app.id);
        let page = browser.open(&path).await;
        let fields = ["csrf", "user"].map(|name| (name.to_owned(), page.hidden(name).unwrap()));
        let change = [("change".to_owned(), "none".to_owned())];
        let fields = [&fields[..], &change].concat();
        browser.post_call(&page.url.join(&format!("{path}/changes")).unwrap(), &fields)
    };
    createClient "session" [8 8] |f| {
        f.admin.post("/admin/clients").json(&json!({
            "id": foundation::random::uuid(), "name": "A service", "type": "service", "scope": "posts:read",
        }))
    };
    readClient "session" [1 1] |f| f.admin.get(&client_path(f, ""));
    updateClient "session" [9 9] |f| f.admin.patch(&client_path(f, "")).json(&json!({ "name": "Another" }));
    rotateClientSecret "session" [7 7] |f| f.admin.post(&client_path(f, "/secrets"));
    disableClient "session" [10 10] |f| f.admin.post(&client_path(f, "/disablements"));
    enableClient "session" [8 8] |f| {
        let client = client_path(f, "");
        f.admin.post(&format!("{client}/disablements")).await.expect(200);
        f.admin.post(&format!("{client}/enablements"))
    };
    registerClient "anybody" [4 4] |f| f.elsewhere().post("/register").json(&metadata());
    registerClient "initial access token" [6 6] |f| {
        let made = f.admin.post("/admin/registration-tokens").await.expect(201).json();
        f.world.anyone().bearer(made["token"].as_str().unwrap()).post("/register").json(&metadata())
    };
    readRegistration "" [0 0] |f| {
        let (manager, client) = registered(f).await;
        manager.get(&registration_path(&client))
    };
    replaceRegistration "" [5 5] |f| {
        let (manager, client) = registered(f).await;
        manager.call("PUT", &registration_path(&client)).json(&client)
    };
    deleteRegistration "" [7 7] |f| {
        let (manager, client) = registered(f).await;
        manager.delete(&registration_path(&client))
    };
    listRegistrationTokens "session" [2 2] |f| f.admin.get("/admin/registration-tokens");
    createRegistrationToken "session" [7 7] |f| f.admin.post("/admin/registration-tokens");
    revokeRegistrationToken "session" [7 7] |f| {
        let made = f.admin.post("/admin/registration-tokens").await.expect(201).json();
        f.admin.delete(&format!("/admin/registration-tokens/{}", made["id"].as_str().unwrap()))
    };
    listAccounts "session" [2 2] |f| f.admin.get("/admin/users");
    listAccounts "page" [2 2] |f| f.admin.browser().open_call("/admin/users");
    createAccount "session" [8 8] |f| {
        f.admin.post("/admin/users").json(&json!({ "email": f.world.fresh_email(), "password": PASSWORD }))
    };
    readAccount "session" [2 2] |f| f.admin.get(&user_path(f, "").await);
    readAccount "page" [9 9] |f| f.admin.browser().open_call(&user_path(f, "").await);
    updateAccount "session" [14 14] |f| f.admin.patch(&user_path(f, "").await).json(&json!({ "role": "editor" }));
    setAccountPassword "session" [15 15] |f| {
        f.admin.call("PUT", &user_path(f, "/password").await).json(&json!({ "password": NEW_PASSWORD }))
    };
    disableAccount "session" [13 13] |f| f.admin.post(&user_path(f, "/disablements").await);
    enableAccount "session" [7 7] |f| {
        let user = user_path(f, "").await;
        f.admin.post(&format!("{user}/disablements")).await.expect(200);
        f.admin.post(&format!("{user}/enablements"))
    };
    unlockAccount "session" [7 7] |f| f.admin.delete(&user_path(f, "/lockouts").await);
    resetAccountMfa "session" [15 15] |f| {
        let user = f.world.user().await;
        Authenticator::enable(&f.world, &user).await;
        f.admin.delete(&format!("/admin/users/{}/mfa", user.id))
    };
    signUserOut "session" [12 12] |f| f.admin.delete(&user_path(f, "/sessions").await);
    listUserSessions "session" [2 2] |f| f.admin.get("/admin/sessions");
    listUserSessions "page" [3 3] |f| f.admin.browser().open_call("/admin/sessions");
    endUserSession "session" [10 10] |f| {
        let user = f.world.user().await;
        let list = f.admin.get(&format!("/admin/sessions?user_id={}", user.id)).await.expect(200);
        f.admin.delete(&format!("/admin/sessions/{}", items(&list)[0]["id"]))
    };
    listConsents "session" [2 2] |f| f.admin.get("/admin/consents");
    listConsents "page" [3 3] |f| f.admin.browser().open_call("/admin/consents");
    revokeConsent "session" [10 10] |f| {
        let user = f.world.user().await;
        f.app.tokens(&user, "posts:read").await;
        let list = f.admin.get(&format!("/admin/consents?user_id={}", user.id)).await.expect(200);
        f.admin.delete(&format!("/admin/consents/{}", items(&list)[0]["id"].as_str().unwrap()))
    };

    authorize "signed in" [1 1] |f| {
        let request = f.first_party_app.authorization().set("scope", "posts:read");
        f.owner.browser().open_call(&request.path())
    };
    authorize "signed out" [0 0] |f| {
        let request = f.first_party_app.authorization().set("scope", "posts:read");
        f.world.browser().open_call(&request.path())
    };
    authorize "pushed" [1 1] |f| {
        let pushed = push(f).await.expect(201).json();
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("client_id", &f.first_party_app.id)
            .append_pair("request_uri", pushed["request_uri"].as_str().unwrap())
            .finish();
        f.world.browser().open_call(&format!("/authorize?{query}"))
    };
    authorizeByForm "signed out" [0 0] |f| {
        let request = f.first_party_app.authorization().set("scope", "posts:read");
        f.world.anyone().post("/authorize").form(request.parameters())
    };
    showSignIn "" [0 0] |f| f.world.anyone().get("/signin");
    showSignIn "signed out" [2 2] |f| {
        let user = f.world.user().await;
        user.post("/logout").await.expect(204);
        user.browser().open_call("/signin")
    };
    submitSignIn "" [7 7] |f| {
        let mut browser = f.world.browser();
        let page = browser.open("/signin").await;
        browser.submit_call(&page, &[("email", &f.owner.email), ("password", PASSWORD)])
    };
    submitSignIn "with two steps" [2 2] |f| {
        let user = f.world.user().await;
        Authenticator::enable(&f.world, &user).await;
        let mut browser = f.world.browser();
        let page = browser.open("/signin").await;
        browser.submit_call(&page, &[("email", &user.email), ("password", PASSWORD)])
    };
    showSecondStep "" [0 0] |f| {
        first_step(f).await.1.open_call("/signin/second-step")
    };
    submitSecondStep "authenticator" [8 8] |f| {
        let (app, mut browser) = first_step(f).await;
        let page = browser.open("/signin/second-step").await;
        browser.submit_call(&page, &[("otp", &app.next_code(&f.world))])
    };
    showSignUp "" [0 0] |f| f.world.anyone().get("/signup");
    submitSignUp "" [9 9] |f| {
        let mut browser = f.world.browser();
        let page = browser.open("/signup").await;
        browser.submit_call(&page, &[("email", &f.world.fresh_email()), ("password", PASSWORD)])
    };
    signOut "signed in" [1 1] |f| f.owner.browser().open_call("/signout");
    signOut "signed out" [0 0] |f| f.world.browser().open_call("/signout");
    signOutByForm "" [0 0] |f| f.world.anyone().post("/signout").form::<&str, &str>(&[]);
    confirmSignOut "signed in" [7 7] |f| {
        let mut browser = f.world.user().await.browser();
        let page = browser.open("/signout").await;
        browser.submit_call(&page, &[("csrf", &page.hidden("csrf").unwrap())])
    };
    showConsent "signed in" [4 4] |f| {
        let mut browser = f.owner.browser();
        let url = consent_url(f, &mut browser).await;
        browser.open_call(url.as_str())
    };
    submitConsent "signed in" [10 10] |f| {
        let mut browser = f.world.user().await.browser();
        let url = consent_url(f, &mut browser).await;
        let page = browser.open(url.as_str()).await;
        browser.submit_call(&page, &[("decision", "allow")])
    };
    showDevice "signed in" [1 1] |f| f.owner.browser().open_call("/device");
    submitDevice "signed in" [2 2] |f| {
        let (device, mut browser) = (device(f).await, f.owner.browser());
        let page = browser.open("/device").await;
        browser.submit_call(&page, &[("user_code", &device.user_code)])
    };
    confirmDevice "signed in" [9 9] |f| {
        let (device, mut browser) = (device(f).await, f.world.user().await.browser());
        let page = browser.enter_user_code(&device.user_code).await;
        browser.submit_call(&page, &[("decision", "allow")])
    };
    showAccount "signed in" [6 6] |f| f.owner.browser().open_call("/account");
    endSessionByForm "signed in" [8 8] |f| {
        let user = f.world.user().await;
        let other = f.world.log_in(&user.email, PASSWORD).await;
        let sessions = other.get("/me/sessions").await.expect(200).json();
        let sessions = sessions["items"].as_array().unwrap().iter();
        let id = sessions.clone().find(|session| session["current"] == true).unwrap()["id"].to_string();
        let mut browser = user.browser();
        let page = browser.open("/account").await;
        browser.submit_call(&page, &[("session", &id)])
    };
    endOtherSessionsByForm "signed in" [9 9] |f| {
        let user = f.world.user().await;
        f.world.log_in(&user.email, PASSWORD).await;
        let mut browser = user.browser();
        let page = browser.open("/account").await;
        let fields = ["csrf", "user"].map(|name| (name.to_owned(), page.hidden(name).unwrap()));
        browser.post_call(&page.url.join("/account/sessions/end-others").unwrap(), &fields)
    };
    withdrawGrantByForm "signed in" [9 9] |f| {
        let user = f.world.user().await;
        f.app.tokens(&user, "posts:read").await;
        let mut browser = user.browser();
        let page = browser.open("/account").await;
        browser.submit_call(&page, &[("app", &f.app.id)])
    };
    requestEmailVerificationByForm "signed in" [9 9] |f| {
        let mut browser = f.world.user().await.browser();
        let page = browser.open("/account").await;
        browser.submit_call(&page, &[("csrf", &page.hidden("csrf").unwrap())])
    };
    showEmail "signed in" [1 1] |f| f.owner.browser().open_call("/account/email");
    changeEmailByForm "signed in" [10 10] |f| {
        let mut browser = f.world.user().await.browser();
        let page = browser.open("/account/email").await;
        let call = browser.submit_call(&page, &[("email", &f.world.fresh_email())]);
        call.header("x-forwarded-for", &new_address())
    };
    exportAccountByPage "signed in" [10 10] |f| f.world.user().await.browser().open_call("/account/export");
    showDeletion "signed in" [4 4] |f| f.owner.browser().open_call("/account/deletion");
    deleteAccountByForm "signed in" [25 25] |f| {
        let mut browser = f.world.user().await.browser();
        let page = browser.open("/account/deletion").await;
        browser.submit_call(&page, &[("csrf", &page.hidden("csrf").unwrap())])
    };
    showTwoStep "signed in" [2 2] |f| f.owner.browser().open_call("/account/two-step");
    enrollTwoStepByForm "signed in" [7 7] |f| {
        let mut browser = f.world.user().await.browser();
        let page = browser.open("/account/two-step").await;
        browser.submit_call(&page, &[("csrf", &page.hidden("csrf").unwrap())])
    };
    confirmTwoStepByForm "signed in" [27 27] |f| {
        let user = f.world.user().await;
        let mut browser = user.browser();
        let page = browser.open("/account/two-step").await;
        let page = browser.submit(&page, &[("csrf", &page.hidden("csrf").unwrap())]).await;
        let code = Authenticator::of_page(&page).next_code(&f.world);
        browser.submit_call(&page, &[("otp", &code)])
    };
    renewRecoveryCodesByForm "signed in" [19 19] |f| post_two_step(f, "recovery-codes").await;
    turnTwoStepOffByForm "signed in" [16 16] |f| post_two_step(f, "off").await;
    showPasskeys "signed in" [3 3] |f| f.owner.browser().open_call("/account/passkeys");
    addPasskey "signed in" [8 8] |f| {
        let mut browser = f.world.user().await.browser();
        let page = browser.open("/account/passkeys").await;
        let options = PasskeyOptions::of_page(&page);
        let passkey = Passkey::es256(&options, f.world.base());
        browser.submit_call(&page, &[("credential", &passkey.registration(&options)), ("name", "Phone")])
    };
    renamePasskeyByForm "signed in" [6 6] |f| {
        let (browser, page, _) = passkey_page(f).await;
        let fields = [("passkey", page.hidden("passkey").unwrap()), ("name", "Tablet".to_owned())];
        let csrf = ("csrf", page.hidden("csrf").unwrap());
        let fields = [&fields[..], &[csrf]].concat().into_iter().map(|(name, value)| (name.to_owned(), value));
        browser.post_call(&page.url.join("/account/passkeys/name").unwrap(), &fields.collect::<Vec<_>>())
    };
    removePasskeyByForm "signed in" [14 14] |f| {
        let (browser, page, _) = passkey_page(f).await;
        let fields = ["passkey", "csrf"].map(|name| (name.to_owned(), page.hidden(name).unwrap()));
        browser.post_call(&page.url.join("/account/passkeys/removal").unwrap(), &fields)
    };
    removePasswordByForm "signed in" [15 15] |f| {
        let user = f.world.sign_up_confirmed().await;
        let passkey = f.world.add_passkey(&mut user.browser()).await;
        let mut browser = f.world.browser();
        passkey.sign_in(&mut browser).await;
        let page = browser.open("/account/passkeys").await;
        let fields = ["csrf", "user"].map(|name| (name.to_owned(), page.hidden(name).unwrap()));
        browser.post_call(&page.url.join("/account/password/removal").unwrap(), &fields)
    };
    submitPasskey "" [7 7] |f| {
        let (_, _, passkey) = passkey_page(f).await;
        let mut browser = f.world.browser();
        let page = browser.open("/signin").await;
        let credential = passkey.assertion(&PasskeyOptions::of_page(&page));
        browser.submit_call(&page, &[("credential", &credential)])
    };
    readPasskeyEndpoints "" [0 0] |f| f.world.anyone().get("/.well-known/passkey-endpoints");
    showPassword "signed in" [1 1] |f| f.owner.browser().open_call("/password");
    submitPassword "signed in" [12 12] |f| {
        let mut browser = f.world.user().await.browser();
        let page = browser.open("/password").await;
        browser.submit_call(&page, &[("new_password", NEW_PASSWORD)])
    };
    judgePassword "" [0 0] |f| {
        let mut browser = f.world.browser();
        let page = browser.open("/signup").await;
        let fields = [("csrf", page.hidden("csrf").unwrap()), ("new_password", NEW_PASSWORD.to_owned())];
        let fields = fields.map(|(name, value)| (name.to_owned(), value));
        browser.post_call(&page.url.join("/password/verdict").unwrap(), &fields)
    };
    findPasswordPage "" [0 0] |f| f.world.anyone().get("/.well-known/change-password");
    showForgotten "" [0 0] |f| f.world.anyone().get("/forgot");
    submitForgotten "" [7 7] |f| {
        let email = f.world.user().await.email;
        let mut browser = f.world.browser();
        let page = browser.open("/forgot").await;
        browser.submit_call(&page, &[("email", &email)])
    };
    showReset "" [1 1] |f| {
        let (browser, page) = reset_page(f).await;
        browser.open_call(page.url.as_str())
    };
    submitReset "" [19 19] |f| {
        let (browser, page) = reset_page(f).await;
        browser.submit_call(&page, &[("new_password", NEW_PASSWORD)])
    };
    showVerify "" [1 1] |f| {
        let email = f.world.sign_up().await.email;
        let link = f.world.mail(&email, "Confirm your e-mail address", 1).await.link();
        f.world.anyone().get(link.as_str())
    };
    submitVerify "signed in" [9 9] |f| {
        let user = f.world.sign_up().await;
        let mail = f.world.mail(&user.email, "Confirm your e-mail address", 1).await;
        let mut browser = user.browser();
        let page = browser.open(mail.link().as_str()).await;
        browser.submit_call(&page, &[("token", &mail.token())])
    };
    submitVerify "password" [8 8] |f| {
        let email = f.world.sign_up().await.email;
        let link = f.world.mail(&email, "Confirm your e-mail address", 1).await.link();
        let mut browser = f.world.browser();
        let page = browser.open(link.as_str()).await;
        browser.submit_call(&page, &[("password", PASSWORD)])
    };
}

/// A browser on the page of the passkeys, whose user has one.
async fn passkey_page(f: &Fixture) -> (Browser, Page, Passkey) {
    let mut browser = f.world.user().await.browser();
    let passkey = f.world.add_passkey(&mut browser).await;
    let page = browser.open("/account/passkeys").await;
    (browser, page, passkey)
}

/// The request of a form on the page of a new user with two-step sign-in.
async fn post_two_step(f: &Fixture, form: &str) -> Call {
    let (user, _) = with_two_steps(f).await;
    let mut browser = user.browser();
    let page = browser.open("/account/two-step").await;
    let fields = ["csrf", "user"].map(|name| (name.to_owned(), page.hidden(name).unwrap()));
    browser.post_call(
        &page.url.join(&format!("/account/two-step/{form}")).unwrap(),
        &fields,
    )
}

/// A device that waits for a decision.
async fn device(f: &Fixture) -> Device {
    f.device_app.device(&f.world.anyone(), "posts:read").await
}

fn push(f: &Fixture) -> Call {
    let request = f.first_party_app.authorization().without("client_id");
    let fields: Vec<_> = request
        .parameters()
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    f.first_party_app.client_call(&f.world.anyone(), "/par", &fields)
}

/// The metadata of an app that registers itself.
fn metadata() -> Value {
    json!({ "redirect_uris": ["https://app.test/cb"] })
}

/// A client that has registered itself: a caller with its registration access token, and the response.
async fn registered(f: &Fixture) -> (Caller, Value) {
    let registered = f.elsewhere().post("/register").json(&metadata()).await;
    let client = registered.expect(201).json();
    let token = client["registration_access_token"].as_str().unwrap();
    (f.world.anyone().bearer(token), client)
}

fn registration_path(client: &Value) -> String {
    format!("/register/{}", client["client_id"].as_str().unwrap())
}

/// The path of a new client with a secret, or of a resource below it.
fn client_path(f: &Fixture, below: &str) -> String {
    let client = f.world.app().kind("web").register();
    format!("/admin/clients/{}{below}", client.id)
}

/// The path of a new user, or of a resource below it.
async fn user_path(f: &Fixture, below: &str) -> String {
    format!("/admin/users/{}{below}", f.world.user().await.id)
}

/// The request of a new service that authenticates by a signed assertion.
fn signed_request(f: &Fixture) -> Call {
    let (key, file) = (Signer::unknown("key"), f.world.data_dir().join("key.jwks"));
    std::fs::write(&file, json!({ "keys": [key.jwk()] }).to_string()).unwrap();
    let service = f.world.app().kind("service").scope("posts:read");
    let id = service.jwks(file.to_str().unwrap()).register().id;
    let claims = json!({
        "iss": id, "sub": id, "aud": f.world.base(), "jti": "once", "exp": f.world.now().seconds() + 60,
    });
    let assertion = key.sign(&json!({ "alg": "RS256" }).to_string(), &claims.to_string());
    f.world.anyone().post("/token").form(&[
        ("grant_type", "client_credentials"),
        (
            "client_assertion_type",
            "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        ),
        ("client_assertion", &assertion),
    ])
}

/// Begins a flow of the third-party app in the browser of a signed-in user. Returns the URL of its consent
/// page. Enters the right password of a new user with two-step sign-in.
async fn first_step(f: &Fixture) -> (Authenticator, Browser) {
    let user = f.world.user().await;
    let authenticator = Authenticator::enable(&f.world, &user).await;
    let mut browser = f.world.browser();
    let page = browser.open("/signin").await;
    let fields = [("email", user.email.as_str()), ("password", PASSWORD)];
    let to_code = browser.submit(&page, &fields).await;
    assert!(browser.cookie("first_step").is_some(), "{}", to_code.reply);
    (authenticator, browser)
}

async fn consent_url(f: &Fixture, browser: &mut Browser) -> Url {
    let request = f.app.authorization().set("scope", "posts:read");
    browser.open(&request.path()).await.location().unwrap()
}

/// Opens the link that resets the password of a new user.
async fn reset_page(f: &Fixture) -> (Browser, Page) {
    let email = f.world.user().await.email;
    let ask = f
        .elsewhere()
        .post("/password-resets")
        .json(&json!({ "email": email }));
    ask.await.expect(202);
    let link = f.world.mail(&email, "Reset your password", 1).await.link();
    let mut browser = f.world.browser();
    let page = browser.open(link.as_str()).await;
    (browser, page)
}
