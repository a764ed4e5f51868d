//! The life of an account in Chromium, from sign-up to deletion, with the mails from the outbox.

use std::path::Path;
use tests::{App, Authenticator, Chromium, PASSWORD, SUBMIT, World, eventually, on_shapes};

const EMAIL: &str = "ann@example.org";
const NEW_PASSWORD: &str = "another good password";

/// A user in a browser with or without scripts.
pub(super) struct Visitor<'w> {
    pub(super) world: &'w World,
    pub(super) chromium: Chromium,
    pub(super) has_scripts: bool,
}

impl<'w> Visitor<'w> {
    /// Opens a browser in which nobody is signed in.
    pub(super) async fn start(world: &'w World, has_scripts: bool) -> Self {
        let chromium = match has_scripts {
            true => Chromium::with_scripts().await,
            false => Chromium::without_scripts().await,
        };
        Self {
            world,
            chromium,
            has_scripts,
        }
    }

    /// Opens a path or a URL.
    pub(super) async fn open(&self, path: &str) {
        let url = self.world.base().parse::<url::Url>().unwrap().join(path).unwrap();
        self.chromium.open(url.as_str()).await;
    }

    /// Fills in fields, submits the form, and expects this text on the next page.
    pub(super) async fn submit(&self, fields: &[(&str, &str)], button: &str, text: &str) {
        self.chromium.submit(fields, button, text).await;
        if self.has_scripts {
            self.chromium.expect_no_trace(&[], 200).await;
        }
    }
}

impl Visitor<'_> {
    /// Opens the link of the newest mail with this subject.
    async fn open_mailed(&self, subject: &str) {
        let link = self.world.mail(EMAIL, subject, 1).await.link();
        self.open(link.as_str()).await;
    }

    /// Signs in with the password and a code.
    async fn sign_in(&self, password: &str, code: &str) {
        self.open("/signin").await;
        let fields = [("#email", EMAIL), ("#password", password)];
        self.submit(&fields, SUBMIT, "Enter the code").await;
        self.submit(&[("#otp", code)], SUBMIT, "Your account").await;
    }

    /// Turns two-step sign-in on. Returns the authenticator app with the recovery codes.
    async fn turn_two_step_sign_in_on(&self) -> Authenticator {
        self.open("/account/two-step").await;
        self.submit(&[], SUBMIT, "otpauth://").await;
        let link = texts_between(&self.chromium.source().await, "href=\"otpauth://", "\"");
        let mut app = Authenticator::of_link(&format!("otpauth://{}", link[0].replace("&amp;", "&")));
        let code = app.next_code(self.world);
        self.submit(&[("#otp", &code)], SUBMIT, "Your recovery codes")
            .await;
        app.recovery_codes = texts_between(&self.chromium.source().await, "<li><code>", "</code>");
        app
    }

    /// Adds a passkey, and signs in with it: by the button, and by the list at the field for the address.
    async fn sign_in_with_a_passkey(&self) {
        let button = "form[data-passkey] button";
        let authenticator = self.chromium.add_authenticator().await;
        self.open("/account").await;
        self.submit(&[], "a[href='/account/passkeys']", "A fake website")
            .await;
        self.submit(&[("#name", "My laptop")], button, "Rename or remove")
            .await;
        self.open("/signout").await;
        self.submit(&[], SUBMIT, "You are signed out").await;
        // A browser that offers no passkeys in the list, where the authenticator would answer at once.
        let script = "PublicKeyCredential.isConditionalMediationAvailable = undefined";
        let script = self.chromium.add_script(script).await;
        self.open("/signin").await;
        self.submit(&[], button, "Signed in with a passkey").await;
        self.chromium.remove_script(&script).await;
        self.open("/signout").await;
        self.submit(&[], SUBMIT, "You are signed out").await;
        self.open("/signin").await;
        self.chromium.expect("Signed in with a passkey").await;
        self.chromium.expect_no_trace(&[], 200).await;
        self.chromium.remove_authenticator(&authenticator).await;
    }

    /// Lets an app read posts, and disconnects it.
    async fn connect_and_disconnect(&self, app: &App) {
        self.open(&app.authorization().path()).await;
        self.submit(&[], "button[value=allow]", "Authorization code received")
            .await;
        self.open("/account").await;
        self.chromium.expect("Some App").await;
        let button = "form[action='/account/apps/disconnect'] button";
        self.submit(&[], button, "No app has access to your account")
            .await;
    }

    /// Downloads the data of the account, which name its address.
    async fn download(&self, directory: &Path) {
        self.chromium.download_to(directory).await;
        self.open("/account").await;
        self.chromium.press("a[href='/account/export']").await;
        let downloaded = || {
            let files = std::fs::read_dir(directory).unwrap();
            let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap_or_default());
            texts
                .filter(|text| text.contains(EMAIL) && text.ends_with('}'))
                .count()
        };
        eventually("no file was downloaded", async || downloaded() == 1).await;
    }
}

/// The texts of the page between these two.
pub(super) fn texts_between(page: &str, begin: &str, end: &str) -> Vec<String> {
    let rests = page.split(begin).skip(1);
    rests
        .map(|rest| rest.split(end).next().unwrap().to_owned())
        .collect()
}

async fn an_account_lives_from_sign_up_to_deletion(world: World) {
    live(&world, true).await;
}

/// All but the passkeys, which only a script can use.
async fn an_account_lives_without_scripts(world: World) {
    live(&world, false).await;
}

async fn live(world: &World, has_scripts: bool) {
    let directory = tempfile::tempdir().unwrap();
    let callback = format!("{}/demo", world.base());
    let app = world.app().kind("web").redirect_uri(&callback).register();
    let ann = Visitor::start(world, has_scripts).await;

    ann.open("/").await;
    ann.submit(&[], "a[href='/signup']", "autocomplete=\"new-password\"")
        .await;
    let fields = [("#email", EMAIL), ("#password", PASSWORD)];
    ann.submit(&fields, SUBMIT, "Your e-mail address is not confirmed")
        .await;
    ann.open_mailed("Confirm your e-mail address").await;
    ann.submit(&[], SUBMIT, "Your address is confirmed").await;
    ann.submit(&[], "a.button", "Your account").await;

    let authenticator = ann.turn_two_step_sign_in_on().await;
    let codes = &authenticator.recovery_codes;
    ann.submit(&[], "a.button", "On: with a password, you also enter a code")
        .await;
    ann.submit(&[], "a[href='/signout']", "action=\"/signout/confirmation")
        .await;
    ann.submit(&[], SUBMIT, "You are signed out").await;
    ann.sign_in(PASSWORD, &authenticator.next_code(world)).await;

    if has_scripts {
        ann.sign_in_with_a_passkey().await;
    }

    ann.open("/forgot").await;
    ann.submit(&[("#email", EMAIL)], SUBMIT, "Check your e-mail")
        .await;
    ann.open_mailed("Reset your password").await;
    ann.submit(
        &[("#new_password", NEW_PASSWORD)],
        SUBMIT,
        "Your password was changed",
    )
    .await;
    ann.sign_in(NEW_PASSWORD, &codes[1]).await;

    let elsewhere = Visitor::start(world, has_scripts).await;
    elsewhere.sign_in(NEW_PASSWORD, &codes[2]).await;
    let button = "form[action='/account/sessions/end'] button";
    elsewhere
        .submit(&[], button, "The other browser or device is signed out")
        .await;
    ann.open("/account").await;
    ann.chromium.expect("Another device signed you out here").await;
    ann.sign_in(NEW_PASSWORD, &codes[3]).await;

    ann.connect_and_disconnect(&app).await;
    ann.download(directory.path()).await;

    ann.open("/account/deletion").await;
    ann.submit(&[], SUBMIT, "Your account is deleted").await;
    ann.open("/signin").await;
    let fields = [("#email", EMAIL), ("#password", NEW_PASSWORD)];
    ann.chromium
        .submit(&fields, SUBMIT, "The e-mail address or the password is wrong")
        .await;
    if has_scripts {
        ann.chromium.expect_no_trace(&[], 401).await;
    }
}

on_shapes!(an_account_lives_from_sign_up_to_deletion: sqlite Sqlite; long: postgres Postgres);
on_shapes!(an_account_lives_without_scripts: ; long: sqlite Sqlite);
