# The texts of the pages in English. A message page has its heading as the value and its text as the attribute.
# An element of a page shows each argument in a <bdi> element, so that its direction does not affect the text around it.

## Frame

help = Help
terms = Terms
privacy = Privacy

## Durations and days

duration-seconds = { $n ->
    [one] { $n } second
   *[other] { $n } seconds
 }
duration-minutes = { $n ->
    [one] { $n } minute
   *[other] { $n } minutes
 }
duration-hours = { $n ->
    [one] { $n } hour
   *[other] { $n } hours
 }
duration-days = { $n ->
    [one] { $n } day
   *[other] { $n } days
 }
date = { $day } { $month ->
    [1] January
    [2] February
    [3] March
    [4] April
    [5] May
    [6] June
    [7] July
    [8] August
    [9] September
    [10] October
    [11] November
   *[12] December
 } { $year }

## Fields

email = E‑mail
password = Password
one-time-code = One-time code
recovery-code = Recovery code
new-password = New password
password-show = Show
    .label = Show password
password-hide = Hide
    .label = Hide password
password-enough = Long enough.
password-good = You can use this password.
password-sequence = A mere sequence. Choose another password.
password-like-address = Too like your e‑mail address. Choose another.
password-count = { $n } of at least { $min } characters
copy = Copy
copied = Copied
cancel = Cancel

## Sign-in

sign-in = Sign in
sign-in-forgot = Forgot your password?
sign-in-passkey = Sign in with a passkey
leads-to-app = Afterwards you continue to { $client }.
sign-in-too-old = Your last sign‑in was over ten minutes ago. Sign in again to continue.
sign-in-without-password = Your account has no password. Sign in with a passkey. If you have none at hand, set a password with a link that we mail you.
sign-in-passkeys-unsupported = This browser cannot use a passkey: it is too old, or scripts are turned off for this site.
sign-in-sign-up = Create an account
signed-in-as = You are signed in as { $email }.
use-other-account = Use another account
keep-account = Continue with this account
user-changed = Nothing was changed
    .text = This browser is now signed in to another account.
    .link = Go to this account
wrong-credentials = The e‑mail address or the password is wrong. Check both, or reset your password.
second-step = Enter the code
second-step-explanation = You are signing in as { $email }. One more step is needed.
second-step-user-changed = Meanwhile the password of another account was entered in this browser. Nothing was checked. Enter the code of the account that is named above.
second-step-ended = The code was not entered within five minutes, the password was changed meanwhile, or your browser keeps no cookies. Enter your password again.
use-recovery-code = Use a recovery code
back-to-sign-in = Back to the sign‑in page
wrong-code = This code is wrong or was used already. Wait for the next one, and enter that.
wrong-recovery-code = This recovery code is wrong or was used already. Each code works once: enter another.
session-ended = You were signed out. Sign in again.
captcha-needs-script = The captcha needs JavaScript. Allow it on this page to sign in.
captcha-not-loaded = The captcha did not load. If your browser blocks scripts of other sites, allow them on this page. Otherwise try again in a few minutes.
captcha-required = Enter your password again, and solve the captcha.
ended-password-changed = You were signed out { $time } ago, because the password of your account was changed on another device.
ended-password-reset = You were signed out { $time } ago, because the password of your account was reset.
ended-password-removed = You were signed out { $time } ago, because the password of your account was removed on another device.
ended-password-replaced = You were signed out { $time } ago, because an administrator chose a new password for your account. Ask the administrator for it.
ended-changed-here = You were signed out { $time } ago, because the password, two-step sign‑in or a passkey of your account was changed in this browser.
ended-email-changed = You were signed out { $time } ago, because the e‑mail address of your account was changed. If that was you, sign in with the new address. If not, contact the administrator.
ended-two-step-on = You were signed out { $time } ago, because another device turned two-step sign‑in on. If that was not you, contact the administrator.
ended-two-step-off = You were signed out { $time } ago, because another device turned two-step sign‑in off.
ended-two-step-reset = You were signed out { $time } ago, because an administrator turned two-step sign‑in off or removed your passkeys.
ended-passkey-removed = You were signed out { $time } ago, because a passkey of your account was removed on another device.
ended-role-changed = You were signed out { $time } ago, because an administrator changed your role. Sign in again to use it.
ended-account-disabled = You were signed out { $time } ago, because an administrator disabled your account. Contact the administrator.
ended-account-deleted = You were signed out { $time } ago, because your account was deleted.
ended-by-administrator = An administrator signed you out { $time } ago.
ended-elsewhere = Another device signed you out here { $time } ago.
ended-newer-sign-ins = You were signed out { $time } ago, because an account can be signed in 100 times at once, and newer sign‑ins took the place of this one.
ended-unused = You were signed out, because you were last here { $time } ago.
ended-lifetime = You were signed out { $time } ago, because a session ends some time after the sign‑in, even if it is in use.
ended-restored = You were signed out { $time } ago, because this service was restored from a backup.
ended-otherwise = You were signed out { $time } ago.
ended-reset = Was that not you? Choose a new password.
sign-in-locked = Sign‑in is blocked, because there were too many failed attempts. Try again in { $wait }, or reset your password, which may end the block sooner.
sign-in-unavailable = Sign‑in is not possible right now. Try again in a moment.
overloaded = Many people are signing in right now. Try again in a moment.

## Sign-up

sign-up = Create an account
password-hint = At least { $min } characters. A few random words are easy to remember and hard to guess.
sign-up-accept = By creating an account you accept the terms.
sign-up-sign-in = Have an account? Sign in.
sign-up-email-taken = An account with this address already exists. Sign in, or reset its password.
sign-up-too-many = Too many accounts were created from your network. Try again in { $wait }.
email-invalid = This is not a valid e‑mail address. Enter one such as ann@example.org.
password-too-short = Use at least { $min } characters.
password-too-long = Use at most 128 characters.
password-too-common = Too common. Choose another password.

## Password

change-password = Change password
set-password = Set a password
choose-password = Choose a password
choose-password-required = Your password was set by somebody else. Choose one of your own to continue.
choose-password-effect = The new password signs you out on all devices and in all apps. Then sign in with the new password.
forgot = Reset your password
forgot-explanation = Enter the e‑mail address of your account. We will send you a link to choose a new password.
forgot-submit = Send the link
forgot-sent = Check your e‑mail
    .text = If an account with the address { $email } exists, a link to choose a new password is on its way. If nothing comes within a few minutes, look in the spam folder and check the address, or send the link again.
    .again = Send the link again
forgot-other = Use another address
mail-too-many = No e‑mail was sent: too many were requested. Try again in { $wait }.
mail-unavailable = No e‑mail can be sent right now. Try again in a moment.
reset = Choose a new password
reset-account = This link belongs to the account { $email }.
reset-effect = A new password signs you out on all devices and in all apps, and removes the passkeys of the account.
reset-submit = Set the password
reset-done = Your password was changed
    .text = You were signed out on all devices and in all apps, and the passkeys of the account were removed. Sign in with the new password.
    .link = Sign in

## E-mail address

verify = Confirm your e‑mail address
verify-account = An account with the address { $email } was created { $time } ago. If it is yours, confirm the address with its password.
verify-change = Somebody asked to make { $email } the address of an account that was created { $time } ago. If the account is yours, confirm the change with its password: you are then signed out on all devices and in all apps. If it is not, close this page, and nothing changes.
verify-own = Confirm { $email } as the address of your account.
verify-own-change = Confirm { $email } as the new address of your account: you are then signed out on all devices and in all apps.
verify-password = Password of the account
verify-password-missing = Enter the password of the account.
verify-password-wrong = The password is wrong.
verify-sign-in = You can also sign in first, for example with a passkey, and then open the link again.
verify-submit = Confirm the address
verify-no-password = If you do not know the password
verify-reset = You may have forgotten it, or somebody else created the account with your address. Choose a new password with a link that we mail you. The address is confirmed then, and the account is yours alone: all sessions end, all apps are disconnected, two-step sign‑in is turned off, and passkeys are removed.
verify-done = Your address is confirmed
    .text = It is now the address of your account.
    .link = Go to your account
verify-done-in-flow = Your address is confirmed
    .text = It is now the address of your account.
    .link = Continue
verify-taken = Another account has this address
    .text = Sign in to that account, or choose another address for this one. Nothing was changed.
    .link = Go to your account
invalid-link = This link does not work
    .text = The link was used already, has expired, was replaced by a newer one, or was not copied completely. Nothing was changed. You can have a new link sent from your account.
    .link = Go to your account
invalid-reset-link = This link does not work
    .text = The link was used already, has expired, was replaced by a newer one, or was not copied completely. Nothing was changed.
    .link = Request a new link

## Consent

consent = Give { $client } access to your account?
consent-registered-itself = This app registered itself. { $service } has not checked it.
consent-describes-itself = This app is described at { $host }. { $service } has not checked it.
consent-asks = The app will be able to:
consent-asks-more = The app will also be able to:
consent-granted = You have allowed it before to:
consent-destination = You then return to { $destination }.
allow = Allow access
deny = Deny
consent-user-changed = Another account is signed in now. Nothing was decided. Check the account and decide again.
no-decision = No decision was made
    .text = Go back and choose whether the app gets access.
    .link = Go to your account
client-changed = The app has changed
    .text = The app changed its description of itself while you decided, so nothing was decided. Look at its present description, and decide again.
    .link = Look at the app again

## Changes that succeeded

done-account-changed = The account is changed. The change holds everywhere within a second.
done-app-changed = The app is changed. The change holds everywhere within a second.
done-session-ended = The other browser or device is signed out.
done-other-sessions-ended = You are signed out in all other browsers and on all other devices.
done-app-disconnected = The app is disconnected. It has no access to your account any more.
done-passkey-added = The passkey is added. You can sign in with it from now on.
done-passkey-renamed = The passkey has its new name.
done-passkey-removed = The passkey is removed. You are signed out on all other devices and in all apps.
done-password-changed = Your new password is saved, and you are signed out everywhere. Sign in with the new password.
done-password-removed = Your password is removed. From now on you sign in with a passkey.

## Account

account = Your account
account-profile = Profile
account-created = Created { $time } ago
account-email-confirmed = confirmed
account-email-not-confirmed = not confirmed
account-email-requested = You asked to change this address to { $email }. To confirm, open the link that we mailed there. A later request replaces this one.
account-is-administrator = You administer this service.
account-signing-in = Signing in
account-has-password = You can sign in with a password.
account-session-began = Signed in { $time } ago
account-event-at = { $time } ago
account-two-step-turn-on = Turn on two-step sign‑in
account-two-step-turn-off = Turn off two-step sign‑in
account-email-unconfirmed = Your e‑mail address is not confirmed. Open the link that we mailed you.
account-send-link = Send the link again
account-link-sent = Check your e‑mail
    .text = A link that confirms the address { $email } is on its way, unless we sent you several in the last hour. If nothing comes within a few minutes, look in the spam folder.
    .link = Back to your account
account-two-step-on = On: with a password, you also enter a code from your authenticator app.
account-two-step-off = Off: your password alone gives access to your account.
account-recovery-codes = Recovery codes
account-few-recovery-codes = { $n ->
    [0] You have no recovery codes left. If you lose your phone, you can no longer sign in with your password.
   *[other] You have almost no recovery codes left. If you lose your phone, you need one to sign in with your password.
 }
account-no-password = None: you sign in with passkeys alone, which need no code.
account-passkeys = { $n ->
    [one] Your account has { $n } passkey.
   *[other] Your account has { $n } passkeys.
 }
account-passkeys-manage = Manage passkeys
account-no-passkeys = Sign in with your fingerprint, your face or your screen lock, in place of the password.
account-sessions = Where you are signed in
account-session-current = this browser
account-session-used = last used { $time } ago
ip-address = IP address { $address }
account-session-end = Sign out there
account-sessions-end-others = Sign out everywhere else
account-sessions-end-others-effect = This signs you out in all other browsers and on all other devices, and in the apps of this service that were used there.
account-apps = Connected apps
account-no-apps = No app has access to your account. An app appears here after you sign in to it with this account.
account-app-used = used { $time } ago
account-apps-at-most = At most { $n } apps are shown. If you have more, disconnect some to see the others.
account-app-disconnect = Disconnect
account-activity = Security activity
account-activity-all = The download of your data has all events.
account-data = Your data
account-export = Download your data
ago = { $time } ago
browser-on-system = { $browser } on { $system }
browser-unknown = An unknown program
event-of-app = { $what }: { $app }
event-repeated = { $what } ({ $n } times)
event-signed-in = Signed in
event-sign-in-failed = A sign‑in failed
event-locked = Sign‑in was blocked after failed attempts
event-codes-locked = Sign‑in was blocked after wrong codes
event-signed-out = Signed out
event-session-ended = A browser or device was signed out
event-password-changed = The password was changed
event-password-removed = The password was removed
event-reset-requested = A link to reset the password was requested
event-password-reset = The password was reset
event-two-step-on = Two-step sign‑in was turned on
event-two-step-off = Two-step sign‑in was turned off
event-recovery-code = A recovery code was used
event-recovery-codes-renewed = The recovery codes were replaced
event-signed-in-passkey = Signed in with a passkey
event-passkey-added = A passkey was added
event-passkey-removed = A passkey was removed
event-unlocked = An administrator unblocked sign‑in
event-role-changed = An administrator changed the role
event-confirmation-requested = A link to confirm the e‑mail address was requested
event-email-confirmed = The e‑mail address was confirmed
event-email-change-requested = A change of the e‑mail address was requested
event-email-changed = The e‑mail address was changed
event-account-created = The account was created
event-account-disabled = An administrator disabled the account
event-account-enabled = An administrator enabled the account
event-account-deleted = The account was deleted
event-app-created = An app was created
event-app-changed = An app was changed
event-app-secret = An app got a new secret
event-app-disabled = An app was disabled
event-app-enabled = An app was enabled
event-app-deleted = An app deleted its registration
event-app-consent = Consent to the access of an app
event-app-allowed = An app got access
event-app-access-renewed = An app renewed its access
event-app-denied = An app was denied access
event-app-disconnected = An app was disconnected
event-code-reuse = A used code was presented again: somebody may have copied it
event-token-reuse = A used refresh token was presented again: somebody may have copied it
event-tokens-revoked = The access of apps was revoked
event-apps-signed-out = Apps were signed out
event-registration-token = A token for the registration of apps was created
event-key-staged = A signing key was generated
event-key-activated = A signing key began to sign
event-key-retired = A signing key was retired
event-key-deleted = A signing key was deleted
event-key-compromised = A signing key was retired as compromised
event-keys-resealed = The keys were sealed under another master key
event-forbidden = A permission was missing
event-forged = A request without a valid anti‑forgery token was refused
event-idempotency-conflict = An idempotency key was used for another request
event-detail-passkey = passkey
event-detail-all-passkeys = all passkeys
event-detail-passkey-id = passkey { $id }
event-detail-passkey-counter = passkey: its counter did not grow
event-detail-passkey-stale = passkey: it answered this challenge or a later one before, or the challenge has expired
event-detail-codes-left = { $n } left
event-detail-before-mailbox = older than the first proof of the mailbox
event-detail-by-administrator = by an administrator
event-detail-all-sessions = all sessions
event-detail-session-by-administrator = session { $id }: an administrator signed the user out
event-detail-session-elsewhere = session { $id }: the user ended the session on another device
event-detail-session-signed-out = session { $id }: the user signed out
event-detail-session-newer = session { $id }: the user has too many newer sign-ins
event-detail-all-grants = all grants
event-detail-grants-of-uri = { $n } grants that began with the redirect URI { $uri }
event-detail-grants = grants { $ids }
event-detail-access-token = access token { $id }
event-detail-initial-token-for = initial access token { $id } for { $n } clients
event-detail-initial-token = initial access token { $id }
event-detail-with-initial-token = with the initial access token { $id }
event-detail-without-token = without a token
event-detail-document = its document
event-detail-document-changed = its document changed: { $members }
event-detail-role = role: { $role }
event-detail-former-secret = the former secret is valid for { $seconds }
event-detail-former-secret-ended = the former secret ended at once
event-detail-device-code = device code
event-detail-rows = { $n } rows
event-detail-csrf = The anti-forgery token is missing or wrong, or the origin is not allowed. Get a token from /csrf, and send it in the x-csrf-token header together with the csrf cookie.
event-detail-scope = This call needs the scope { $scope }, which the access token or its user does not have.
event-detail-needs-user = This call needs a user, and the access token was issued to a client on its own behalf.
event-detail-needs-session = This call needs a session: sign in at /login. An access token is not enough.
event-detail-administrators-call = Only administrators may call this.
event-detail-administrators-see = Only administrators may see this page.
event-detail-last-administrator = This is the last administrator. Make another user an administrator first.
event-detail-post-author = Only the author of the post, an editor or an administrator may change it.
event-detail-comment-author = Only the author of the comment, an editor or an administrator may delete it.
event-detail-idempotency-key = This idempotency key was used with another body. Send a call with a new body under a new key.
event-detail-sign-up-off = No account was created: sign-up is turned off; ask an administrator for an account.
event-detail-client-disabled = An administrator has disabled this client. Its registration cannot be read or changed.
event-detail-change = { $former } → { $present }

## E-mail address and two-step sign-in of the account

change-email = Change e‑mail address
change-email-explanation = The address of your account is { $email }. We will send a link to the new address. The change takes effect when you open the link and confirm it. You are then signed out on all devices and in all apps.
new-email = New e‑mail address
change-email-submit = Send the link
email-link-sent = Check your e‑mail
    .text = We have sent a link to { $email }. Until you confirm this address, your account keeps its present one. If nothing comes within a few minutes, look in the spam folder and check the address.
    .link = Back to your account
back-to-account = Back to your account
two-step = Two-step sign‑in
two-step-explanation = With two-step sign‑in, your password alone does not give access to your account: you also enter a code from an authenticator app on your phone.
two-step-effect = Turning it on signs you out on all other devices and in all apps.
two-step-begin = Continue
two-step-enroll = Set up your authenticator app
two-step-scan = Scan this code with an authenticator app.
two-step-qr-code = QR code for an authenticator app
two-step-type = Or type this key into the app:
two-step-open = Open an authenticator app on this device
two-step-first-code = The code that the app shows
two-step-turn-off = Turn off
two-step-is-on = Two-step sign‑in is on
    .text = You were signed out on all other devices and in all apps.
two-step-off-effect = Without it, a sign‑in with a password takes no code. Turning it off signs you out on all other devices and in all apps.
two-step-is-off = Two-step sign‑in is off
    .text = A sign‑in with a password takes no code now. You were signed out on all other devices and in all apps.
    .link = Back to your account
one-time-code-hint = From your authenticator app.
recovery-codes = Your recovery codes
recovery-codes-explanation = If you lose your phone, enter one of these codes in place of the code from the app. Each works once. Keep them in a safe place: they are shown only now.
recovery-codes-account = They belong to the account { $email }, and were made on { $date }.
recovery-codes-print = Print the codes
recovery-codes-kept = I have saved the codes
recovery-codes-renewed = Your recovery codes were replaced
    .text = The former codes no longer work.
recovery-codes-renew = Replace recovery codes
recovery-codes-renew-effect = Replacing them gives you ten new codes. The codes that you have now then stop working.
recovery-codes-left = { $n ->
    [0] No recovery code is left.
    [one] { $n } recovery code is left.
   *[other] { $n } recovery codes are left.
 }

## Passkeys

passkeys = Passkeys
passkeys-explanation = A passkey signs you in with your fingerprint, your face or your screen lock, in place of the password and the one-time code. A fake website cannot steal it.
passkeys-unsupported = This browser cannot add a passkey: it is too old, or scripts are turned off for this site.
passkey-offer = Next time, sign in faster, without your password.
passkey-add = Add a passkey
passkey-later = Continue without a passkey
passkey-name = Name
passkey-name-hint = So that you recognize it later.
passkey-synced = on several devices
passkey-added = Added { $time } ago
passkey-used = used { $time } ago
passkey-change = Rename or remove
passkey-save-name = Save the name
passkey-remove = Remove the passkey
passkey-removal-effect = Removing it signs you out on all other devices and in all apps, and you can no longer sign in with it. If your device still offers it afterwards, delete it there.
passkey-name-invalid = Enter a name of 1 to 64 characters, without line breaks.
passkey-exists = This device already has a passkey for your account. You can sign in with it.
passkey-too-many = An account can have at most 20 passkeys. Remove one that you no longer use.
passkey-only-one = The passkey was not removed. You have not signed in with any other passkey, and your account has no password. Set a password, or sign in with another passkey first. If you have no other, add one.
without-password = Sign in without a password
without-password-explanation = You can remove your password and sign in with passkeys alone. Nobody can guess or steal a password that does not exist.
without-password-effect = Removing it signs you out on all other devices and in all apps. If you lose your passkeys, you choose a new password with a link that we send you.
without-password-submit = Remove the password
without-password-on = You have no password: your passkeys alone sign you in.
password-removal-not-ready = You can remove your password when your e‑mail address is confirmed and you have signed in with a passkey. To do that, sign out, and sign in with the passkey.
passkey-not-added = No passkey was added. Try again.
passkey-failed = No passkey was used. Try again, or use your password.
passkey-too-many-sign-ins = There were too many sign‑ins to the account of this passkey. Try again in { $wait }.
passkey-refused = You cannot sign in with this passkey. If it was removed from the account, use your password or another passkey. If the account is disabled, contact the administrator.
passkey-answer-refused = The passkey could not be checked, so it was not added. If your device still offers it, delete it there. Then try again.
passkey-not-added-in-time = This page was open for too long, so the passkey was not added. If your device still offers it, delete it there. Then try again.
passkey-stale = This page can no longer be used: it was open for too long, or you have signed in with this passkey since it was opened. Use the passkey again.

## Devices

device = Connect a device
device-explanation = Enter the code that your device displays.
device-code = Code
device-continue = Continue
device-confirm = Connect a device with { $client }?
device-own = This app belongs to this service.
device-foreign = This app belongs to a third party.
device-compare = Compare the code with the one on the display of your device:
device-origin = The request came from the IP address { $address }, { $age } ago.
device-origin-server = The request came from the IP address { $address }, a server of the app, { $age } ago.
device-warning = Allow access only if you began this yourself, on a device in front of you. Somebody who sent you the code or a link to this page would get access to your account.
address-unknown = unknown
device-allowed = Your device is connected
    .text = Go back to the device: the app gets access within a few seconds. You can disconnect the app in your account at any time.
    .link = Go to your account
device-denied = You denied the request
    .text = The app gets no access.
    .link = Go to your account
device-decided = This code no longer works
    .text = The request was already answered, took too long, or was shown in another session. Begin again on the device.
    .link = Enter another code
device-code-invalid = A code has eight letters, such as BCDF-GHJK.
device-code-unknown = No device is waiting for this code. Compare it with the display of the device, which may show a new one by now.
device-code-too-many = No code was checked: too many wrong codes were entered. Try again in { $wait }.
device-code-unavailable = No code can be checked right now. Try again in a moment.

## Sign-out

sign-out = Sign out?
sign-out-explanation = An app asks you to sign out. This ends your session in this browser.
sign-out-own = This ends your session in this browser.
sign-out-stay = Stay signed in
sign-out-submit = Sign out
signed-out = You are signed out
    .text = Your session in this browser has ended.
    .link = Sign in

## Front page

home = Welcome to { $service }
home-explanation = Sign in to all your apps with one account. You decide which of them may use your posts, comments and payments.
home-sign-in = Sign in
home-account = Go to your account
home-sign-up = Create an account
home-documentation = Documentation
home-reference = Introduction and API reference
home-first-steps = First steps for the administrator
home-password-in-terminal = The first password of { $administrator } is in the terminal in which Latchkey runs.
home-password-in-file = The first password of { $administrator } is in the file { $path }.
home-own-password = Sign in with it, and choose a password of your own.
home-first-app = Create the first app.
home-keys = Look at the signing keys.
home-for-apps = This is an OAuth 2.0 and OpenID Connect issuer, and a resource API on the same origin.
home-documents = Documents for programs
home-issuer-metadata = Issuer metadata
home-key-set = Issuer key set (JWKS)
home-api-metadata = API metadata
home-readiness = Readiness
home-in-source = More is in the source code and the Debian package:
home-readme = from sign‑up to a payment in five commands
home-docs-apps = for authors of apps
home-docs-operate = for operators

## Demo client

demo = The demo client
demo-failed = The request failed: { $error }
demo-code = Authorization code received
demo-next = Read the API reference
demo-exchange = Exchange it within a minute, together with your { $verifier }. The commands are in { $file }.
demo-explanation = This page receives the authorization response of the demo client. Start at { $endpoint }, as { $file } shows.
demo-app = Demo app
demo-app-explanation = A single-page app with latchkey-auth, for authors of apps. The page shows each of its calls.
demo-app-scripts = The demo app needs JavaScript.

## Errors

technical-detail = Technical reason
go-back = Go back
page-not-found = There is no such page
    .text = The address may be mistyped, or the page may have moved. Nothing was changed.
    .link = Go to your account
page-after-form = This page cannot be opened by its address
    .text = It appears after you send a form on another page. Nothing was changed. Open the page with the form, and send it again.
    .link = Go to your account
page-too-many-requests = Too many requests
    .text = Too many requests came from your network within a minute. Try again in { $wait }.
    .link = Go to your account
page-not-accepted = The form was not accepted
    .text = It was too large, took too long to arrive, or was not sent by this page. Nothing was changed. Go back, and try again.
    .link = Go to your account
page-unavailable = A part of the service does not answer
    .text = Wait a moment, go back, and try again.
    .link = Go to your account
page-failed = The service failed
    .text = This is not your fault. Try again later. If it happens again, give the operator the correlation id.
    .link = Go to your account
page-refused = The request was refused
    .text = Nothing was changed. Go back, reload the page, and try again. If it happens again, give the operator the correlation id.
    .link = Go to your account
correlation-id = Correlation id:
invalid-authorization = The app sent an invalid request
    .text = Go back to the app and start again. If this happens again, tell its developer the technical reason.
    .link = Go to your account
nobody-signed-in = Nobody is signed in
    .text = The app tried to sign you in without showing a page, but you are not signed in here. Sign in here, and then go back to the app.
    .link = Sign in here
invalid-sign-out = This request to sign out is invalid
    .text = The app that sent you here made a mistake. You are still signed in here, if you were before.
    .link = Go to your account
flow-not-found = This sign‑in has expired
    .text = It was completed already, took too long, or began in another browser. Go back to the app and start again.
    .link = Go to your account
too-many-documents = Too many apps
    .text = You opened too many apps that are not registered here. Try again in { $wait }.
    .link = Go to your account
too-many-long-requests = Too many requests
    .text = Too many long requests came from your network. Try again in { $wait }.
    .link = Go to your account
flow-unavailable = Sign‑in is temporarily unavailable
    .text = A part of the service does not answer. Wait a moment and try again. Nothing was lost.
    .link = Try again
cookie-dropped = Your browser did not keep the session cookie
    .text = The sign‑in succeeded, but the browser did not send the cookie of the new session. Allow cookies for this site. Some browsers drop secure cookies on plain http, even on localhost: use Chrome or Firefox there.
    .link = Sign in again
two-cookies = Your browser sent two session cookies
    .text = It does not say which one is yours, so neither counts. Delete the cookies of this site and sign in again.
    .link = Sign in again
form-unreadable = This form cannot be read
    .text = Nothing was changed. Go back, reload the page and try again.
    .link = Go to your account
form-forged = This form could not be verified
    .text = Your browser did not send the cookie that belongs to this form, or the form was sent by another site. Allow cookies, go back, reload the page and try again.
    .link = Go to your account

## Deletion of the account

deletion = Delete your account
deletion-ends = This will end
deletion-sessions = { $n ->
    [one] This session
   *[other] { $n } sessions, in all browsers and on all devices
 }
deletion-apps = { $n ->
    [one] The access of { $n } app
   *[other] The access of { $n } apps
 }
deletion-drafts = { $n ->
    [one] { $n } draft, which is erased
   *[other] { $n } drafts, which are erased
 }
deletion-address = Your address, and all your ways to sign in. Somebody else can then use the address for a new account.
more-than = more than { $n }
at-least = at least { $n }
deletion-stays = This stays, without your name
deletion-posts = { $n ->
    [one] { $n } post that is or was published
   *[other] { $n } posts that are or were published
 }
deletion-comments = { $n ->
    [one] { $n } comment
   *[other] { $n } comments
 }
deletion-payments = { $n ->
    [one] { $n } payment
   *[other] { $n } payments
 }
deletion-final = This cannot be undone. Delete posts and comments first if they must not stay, and keep a copy of your data.
deletion-submit = Delete account permanently
deletion-last-administrator = Your account is the only one of an administrator. Make another user an administrator first: Administration, Users.
account-deleted = Your account is deleted
    .text = You are signed out everywhere, and no app has access any more.
    .link = Sign in with another account

## Administration

admin = Administration
admin-only = Only administrators can see this page
    .text = Sign out and sign in as an administrator, or go back to your account.
    .link = Go to your account
action = Action
in-terminal = The same in a terminal
from-now = in { $time }
sign-in-again = Sign in again
list-previous = Previous page
list-next = Next page
list-none-yet = No match has been found so far. The search continues on further pages.
list-end = Nothing else fits these conditions.
list-part = Shown here: { $first } to { $last } of { $all }.
order = Order
order-oldest-first = oldest first
order-newest-first = newest first
order-by-id = by id, ascending
order-by-id-descending = by id, descending
order-by-name = A to Z
order-by-name-descending = Z to A

## The page of all components

design = Components of the pages
design-messages = Messages
design-form = A form
design-passkey = A form for a passkey
design-query = A form that changes nothing
design-filter = A filter
design-decision = A decision
design-dialog = A dialog
design-list = A list
design-tags = Tags
design-empty = An empty list
design-table = A table
design-time-line = A time line
design-plot = A plot
design-links = Links

## Figures, for administrators

dashboard = Overview
windows = Time shown
window-hour = Last hour
window-day = Last day
window-week = Last week
figures-step = Each point of a line stands for { $step }. All processes are counted together.
figures-none = Nothing was counted in this time. The figures of a minute appear here when it has ended.
figures-scale = From 0 to { $top }
figures-counted = { $name }: { $last } most recently, { $all } in all
figures-took = { $name }: { $last } most recently, { $all } over the whole time
figures-not-measured = { $name }: not measured in this time
milliseconds = { $n } ms
figures-sign-ins = Sign‑ins
figures-succeeded = Successful
figures-failed = Failed
figures-grants = Tokens by grant type
grant-code = Authorization code
grant-refresh = Refresh token
grant-service = Client credentials
grant-device = Device code
figures-requests = Requests and errors
figures-responses = All responses
figures-client-errors = Errors of callers (4xx)
figures-server-errors = Errors of the service (5xx)
figures-reuse = Codes and refresh tokens used twice
figures-alerts = Alerts
figures-lag = Time until a revocation takes effect
figures-half = Half of them within
figures-nearly-all = 99 of 100 within
figures-keys = Age of the signing key
figures-key = The key has signed for { $age }
figures-no-key = No key signs
figures-hashing = Wait until a password is hashed
figures-refusals = Passwords refused under load
figures-refused = Refused

## Security events

events = Security events
events-views = View
events-list = All events
events-refusals = Refusals by kind and cause
events-refusals-rows = Refusals of one kind and cause share a row, which shows their number and the newest of them. Unless you choose a beginning, the list covers one day.
events-refusals-older = Only the newest { $n } entries are grouped, and there are older ones. Choose a shorter time to see those.
events-refusals-unsearched = Events from more than { $time } ago were not searched. To see refusals among them, enter an earlier time in “Before (UTC)”.
events-refusals-further = Smaller groups that are not shown: { $n }. Choose an event to see more.
events-of-cause = All refusals of this kind and cause
events-of-kind = All refusals of this kind
events-any = any
events-select = Show these events
events-refused = “{ $value }” is not valid, and was ignored.
events-none = No event fits these conditions.
events-none-searched = None of the events that were searched fits these conditions.
events-none-of-trace = No event has this correlation id. Of refusals that repeat within a minute, events name the first and the last, and many requests cause no event. The log of the server has them all.
events-all = Show all events
events-since = Since (UTC)
events-until = Before (UTC)
events-further-conditions = Further conditions
events-live = Show new events as they happen
events-live-in-terminal = New events in a terminal
events-live-waiting = Waiting for the next event …
events-live-count = New events: { $n }
events-live-stopped = Stopped after half an hour. Press the button to go on.
events-live-interrupted = The connection was interrupted. Connecting again …
events-live-failed = The connection failed. Reload the page, and sign in again if you are asked to.
event-name = Event
event-outcome = Outcome
event-time = Time
events-user = User (id or e‑mail)
events-client = App (client id)
events-detail = Detail (as the API has it)
events-administrator = Administrator (id or e‑mail)
event-user = User
event-by = by
event-by-command = by a command on the server
event-by-user = by the user
event-by-app = by the app
event-person = user { $id }
event-client = App
event-address = IP address
event-trace = Correlation id
event-open-user = Open the user
event-open-client = Open the app
event-open-sessions = Open the sessions
event-open-consents = Open the connected apps
event-open-keys = Open the keys
event-success = success
event-failure = failure
event-count = { $n ->
    [one] { $n } time
   *[other] { $n } times
 }

## Signing keys

keys = Signing keys
keys-all = All keys
keys-select = Show these keys
keys-sign-in = To change the keys here, you must have signed in within the last ten minutes.
keys-settings = A key signs for { $lifetime }. Verifiers may cache the key set for { $cached }.
keys-published = The key set:
key = Key
key-created = Created
key-next = Next change
key-planned = planned
key-present = now
key-staged = staged
key-active = active
key-retired = retired
key-deleted = deleted
key-compromised = compromised
key-next-waits = It may sign in { $time }, when the last cached key set without it has expired.
key-next-signs = It may sign. It is planned to replace the active key in { $time }.
key-next-may-sign = It may sign.
key-next-known = It signs. Verifiers with a cached key set without it may refuse its tokens for { $time }.
key-next-retires = It signs. Its successor is planned to replace it in { $time }.
key-next-none = It signs.
key-next-deleted = It no longer signs. It is deleted in { $time }, when its last token has expired.
key-deletion-planned = It is planned to be deleted in { $time }.
key-signed = It no longer signs.
key-deleted-at = It was deleted { $time } ago.
key-tokens = Live tokens
key-tokens-about = about { $n }
key-tokens-revoked = about { $n }, all revoked
key-tokens-none = none counted
keys-tokens = Live tokens are the access tokens that a key has signed and that have not expired, counted at the end of the last minute. Revoked ones are included.
keys-rotate = Rotate the keys
keys-rotation-later = The keys can be rotated in { $time }: until then caches may hold a key set without the staged key.
keys-none-staged = The keys can be rotated when the next key is staged, which the issuer does soon.
keys-clock-differs = The clocks of the issuer and of the database differ. Until they agree, keys can only be retired as compromised.
changes-clock-differs = The clocks of the issuer and of the database differ. Until they agree, you can only end access here.
keys-contended = The keys have changed since the page was shown, so that the form had no effect. Look at the keys below, and try again.
keys-retired-before = The key has already been retired as compromised.
keys-unknown = There is no such key.
keys-retire = Retire as compromised
keys-effect-rotation = { $staged } signs from now on, and another key is staged. { $active } no longer signs, but stays published until its last token has expired. Verifiers that fetch the key set again when their cache has expired refuse no token, and nobody has to sign in again.
keys-effect-first-rotation = { $staged } signs from now on, and another key is staged.
keys-effect-staged = { $kid } is deleted at once. The issuer has signed nothing with it. If somebody else has, such tokens are refused: by the API within a second, by other verifiers when they fetch the key set again, normally within { $wait }. Another key is staged, which may sign a little later than that. An alert is raised. This cannot be undone.
keys-effect-active = { $kid } is deleted at once, and the staged key signs. Every token that { $kid } signed is refused: by the API within a second, by other verifiers when they fetch the key set again, normally within { $wait }. ID tokens that it signed no longer serve as a hint. Apps get new tokens with their refresh tokens, and nobody has to sign in again. An alert is raised. This cannot be undone.
keys-effect-active-early = { $kid } is deleted at once, and the next key signs, although some verifiers may not know it yet: these refuse its tokens for a while. Every token that { $kid } signed is refused: by the API within a second, by other verifiers when they fetch the key set again, normally within { $wait }. ID tokens that it signed no longer serve as a hint. Apps get new tokens with their refresh tokens, and nobody has to sign in again. An alert is raised. This cannot be undone.
keys-effect-retired = { $kid } is deleted at once, and every token that it signed is refused: by the API within a second, by other verifiers when they fetch the key set again, normally within { $wait }. ID tokens that it signed no longer serve as a hint. Apps get new tokens with their refresh tokens, and nobody has to sign in again. An alert is raised. This cannot be undone.
keys-effect-deleted = The access tokens of { $kid } have expired. ID tokens that it signed no longer serve as a hint. An alert is raised. This cannot be undone.
keys-touched = Live tokens of it: { $tokens }. Replicas of the API that have it: { $api }. Other verifiers that fetched it within the last day, and may accept its tokens until they fetch the key set again: { $clients }.
keys-news-active = { $kid } began to sign { $time } ago.
keys-news-compromised = { $kid } was retired as compromised { $time } ago.
key-refusal-within = { $name } stopped accepting the tokens of the key within { $time } of the retirement.
key-refusal-unconfirmed = { $name } has not confirmed yet that it refuses the tokens of the key.
key-refusal-without-key = { $name } refuses the tokens of the key, because it does not have it.
keys-effects = Which tokens are accepted after an action
keys-of-staged = Of the staged key
keys-of-active = Of the active key
keys-of-retired = Of a retired key
keys-retire-staged = Retire the staged key as compromised
keys-retire-active = Retire the active key as compromised
keys-retire-retired = Retire a retired key as compromised
keys-signs = accepted where it is known: it signs now
keys-keeps-signing = accepted: it keeps signing
keys-not-yet = accepted, once it signs
keys-until-expiry = accepted until they expire
keys-refused = refused

## Verifiers of tokens

verifiers = Who has the next key
verifiers-api = Replicas of the API that have the staged key: { $ready } of { $all }.
verifiers-clients = { $all ->
    [0] No other verifier has fetched the key set within the last day.
   *[other] Other verifiers that have it, among those that fetched the key set within the last day: { $ready } of { $all }.
 }
verifiers-further = { $n ->
    [one] One further verifier is not shown.
   *[other] { $n } further verifiers are not shown.
 }
verifiers-forgotten = So many clients fetched the key set within the last day that the issuer does not remember all of them. A verifier without the staged key may be missing from this list.
verifiers-hidden = A verifier that fetches the key set through a shared cache is not seen here.
verifier = Verifier
verifier-api = API
verifier-client = { $agent }
verifier-without-user-agent = no user agent
verifier-staged-key = Staged key
verifier-has-it = has it
verifier-lacks-it = does not have it
verifier-seen = Last seen
verifier-silent = silent for { $time }
keys-effect-unready = These verifiers do not have the staged key. They refuse the tokens that it signs until they fetch the key set again:
keys-despite-unready = Rotate the keys even if verifiers lack the staged key
keys-unready = The keys were not rotated: a verifier lacks the staged key, or may lack it. The verifiers are listed below. To rotate the keys anyway, confirm it in the form.

## Users, for administrators

users = Users
users-select = Show these users
users-search = Beginning of the e‑mail address
users-none = No user fits these conditions.
users-all = Show all users
history-none = No event is recorded.
user-email = E‑mail address
user-create-in-terminal = Create a user in a terminal:
user-id = id { $id }
user-role = Role
user-state = State
user-enabled = enabled
user-disabled = disabled
user-two-step = two-step sign‑in
user-passkeys = { $n ->
    [one] { $n } passkey
   *[other] { $n } passkeys
 }
user-must-change-password = must change the password
user-without-password = no password
role-user = User
role-editor = Editor
role-admin = Administrator
user-sign-in = To change this account, you must have signed in within the last ten minutes.
user-changes = Change this account
user-sessions = Where the user is signed in
user-no-sessions = The user is not signed in anywhere.
user-end-sessions = End one of these sessions
user-disconnect-apps = Disconnect one of these apps
user-no-apps = No app has access to this account.
user-apps-at-most = At most { $n } apps are shown here.
user-all-apps = All connected apps of this user
changes-so-far = Changes so far
changes-newest = Newest changes
changes-older = Older changes
user-history = Newest events
user-all-events = All events of this user
user-own-account = This is your own account. You can change it only on the page of your account.
user-last-administrator = This is the last administrator. Make another user an administrator first.
user-no-second-factor = Nothing was changed: the user has neither two-step sign‑in nor a passkey.
user-changed-meanwhile = The account has changed since the page was shown, so that the form had no effect. Look at it below, and try again.
user-ended-sessions = { $n ->
    [one] { $n } session
   *[other] { $n } sessions
 }
user-ended-apps = { $n ->
    [one] { $shown } connected app
   *[other] { $shown } connected apps
 }
user-ended-families = { $n ->
    [one] { $shown } refresh token
   *[other] { $shown } refresh tokens
 }
user-disable = Disable the account
user-disable-effect = This ends { $sessions } and { $families }, and the access of { $apps } and of the apps of this service. The user cannot sign in until you enable the account again.
user-enable = Enable the account
user-enable-effect = The account is disabled. Once it is enabled, the user can sign in again.
user-sign-out = Sign out everywhere
user-sign-out-effect = This ends { $sessions }, and the tokens of { $apps } and of the apps of this service, among them { $families }. The user can sign in again.
user-last-blocked = Sign‑in last blocked { $time } ago
user-unlock = Unblock sign‑in
user-unlock-effect = { $state ->
    [disabled] If sign‑in is blocked after failed attempts, the user can sign in as soon as you enable the account.
   *[enabled] If sign‑in is blocked after failed attempts, the user can try again at once.
 }
user-set-password = Set an initial password
user-set-password-effect = { $state ->
    [disabled] An initial password is generated and shown to you once. When you have enabled the account, the user signs in with it and must choose another. All passkeys are removed.
   *[enabled] An initial password is generated and shown to you once. The user signs in with it and must choose another. This ends { $sessions }, all passkeys, and the tokens of { $apps } and of the apps of this service, among them { $families }.
 }
user-reset-second-factor = Remove two-step sign‑in and passkeys
user-reset-second-factor-effect = { $state ->
    [disabled] Two-step sign‑in is turned off, and all passkeys are removed. When you have enabled the account, a user without a password must choose one with a mailed link.
   *[enabled] Two-step sign‑in is turned off, and all passkeys are removed. This ends { $sessions }, and the tokens of { $apps } and of the apps of this service, among them { $families }. A user without a password must then choose one with a mailed link.
 }
user-make-user = Change the role to user
user-make-editor = Change the role to editor
user-make-admin = Change the role to administrator
user-role-effect = { $state ->
    [disabled] The account stays disabled. The new role holds from the first sign‑in after you enable it.
   *[enabled] This ends { $sessions }, and the tokens of { $apps } and of the apps of this service, among them { $families }. The new role holds from the next sign‑in.
 }
initial-password = Initial password of { $email }
initial-password-explanation = The password of the account is replaced, and the user is signed out everywhere. The new password is shown only now. Give it to the user in a safe way. The user must choose another one at the next sign‑in.
initial-password-kept = Go to the page of the user

## Sessions and connected apps, for administrators

sessions = Sessions
sessions-select = Show these sessions
session-ends = ends in { $time } at the latest
session-by-password = by password
session-by-password-and-code = by password and code
session-by-passkey = by passkey
sessions-own = End it in your account
sessions-none = No session fits these conditions.
sessions-all = Show all sessions
session-end-effect = { $families ->
    [0] This session of { $email } ends. No app of this service got a refresh token in it.
    [one] This session of { $email } ends, and { $families } refresh token that an app of this service got in it.
   *[other] This session of { $email } ends, and { $families } refresh tokens that apps of this service got in it.
 }
consents-select = Show these connected apps
consents-none = No connected app fits these conditions.
consents-none-yet = No user has given an app access yet.
consents-all = Show all connected apps
consent-given = Access given { $time } ago
consent-revoke-effect = { $families ->
    [0] The app { $app } loses its access to the account of { $email }. The app must ask the user again.
    [one] The app { $app } loses its access to the account of { $email }, and { $families } refresh token ends. The app must ask the user again.
   *[other] The app { $app } loses its access to the account of { $email }, and { $families } refresh tokens end. The app must ask the user again.
 }
access-sign-in = To end access here, you must have signed in within the last ten minutes.

## Apps, for administrators

clients = Apps
clients-select = Show these apps
clients-search = Start of the name, or client id
clients-none = No app fits these conditions.
clients-all = Show all apps
client-id = Client id
client-type = Type
client-owner = Belongs to
client-first-party = this service
client-third-party = a third party
client-own = app of this service
client-disable = Disable the app
client-enable = Enable the app
client-former-secret = The former secret stays valid for a day.
client-other-changes = Change the name, the redirect URIs and the scope in a terminal:
client-registered-itself = registered itself
client-describes-itself = describes itself
client-spa = Single-page app
client-native = Installed app
client-web = Web app with a server
client-service = Service
client-spa-explanation = The app runs in a browser and has no secret. It uses PKCE, and holds its access token in memory.
client-native-explanation = The app runs on a phone, on a computer or in a terminal, and has no secret. It uses PKCE.
client-web-explanation = The server of the app acts for the users who sign in. It authenticates by keys of its own (recommended) or by a secret.
client-service-explanation = The program acts for itself and not for a user. It authenticates by keys of its own (recommended) or by a secret.
client-users = Users who gave this app access: { $users }.
client-all-users = Show these users
client-scopes = Access that the app may ask for
client-redirect-uris = Redirect URIs
client-settings = Settings
client-keys-at = The app authenticates by its own keys, which the issuer gets from { $uri }.
client-keys = { $n ->
    [one] The app authenticates by { $n } key of its own.
   *[other] The app authenticates by { $n } keys of its own.
 }
client-has-secret = The app authenticates by a secret.
client-is-public = The app is public: it has neither a secret nor keys.
client-registered-method = The app registered the authentication method { $method }.
client-default-scope = Scope of a request that names none: { $scope }
client-after-logout = After a sign‑out the browser may return to: { $uris }
client-logout-tokens = Logout tokens are sent to { $uri }.
client-pushes-requests = The app must push its authorization requests.
client-binds-tokens = The app gets only access tokens that are bound to a key.
client-connects-devices = The app may connect devices by a code.
client-refresh-cookie = A cookie that scripts cannot read keeps the refresh tokens of the app.
client-retry-window = A refresh token can be sent again for { $length } after its use.
client-signed-user-info = The app gets the claims about a user as a signed token.
client-changed-itself = The app changed its name, redirect URIs or keys { $time } ago. Users who consented before are asked again.
client-unused-until = The app was never used. It is deleted in { $time } unless it gets a code or a token before.
disabled-since = Disabled { $time } ago
client-secrets = Secrets
client-secret-unused = not used yet
client-secret-ends = expires in { $time }
client-sign-in = To change this app, you must have signed in within the last ten minutes.
client-changes = Change this app
client-all-events = All events of this app
client-invalid = The app cannot be created like this. The reason:
client-changed-meanwhile = The app has changed since the page was shown, so that the form had no effect. Look at it below, and try again.
client-rotate-secret = Create a new secret
client-rotate-secret-effect = A new secret is shown to you once. The present one stays valid for a day, so that the app can change to the new one without a failure.
client-rotate-secret-effect-of-two = A new secret is shown to you once. The present one stays valid for a day, so that the app can change to the new one without a failure. The one that was replaced before ends at once.
client-disable-effect-users = All codes and tokens of the app end. Users who gave it access: { $users }. Refresh tokens that end: { $families }. The app can neither begin a sign‑in nor authenticate until you enable it again.
client-disable-effect = All codes and tokens of the app end. Refresh tokens that end: { $families }. The app can neither begin a sign‑in nor authenticate until you enable it again.
client-disable-effect-service = All access tokens of the service end; it has no users and no refresh tokens. It cannot authenticate until you enable it again.
client-enable-effect = The app is disabled. Once it is enabled, it can sign users in again. Tokens that ended stay invalid.
client-new-secret = The new secret
client-secret = Client secret
client-secret-once = The secret is shown only now. Store it where the app reads it, and nowhere else.
client-secret-kept = Go to the page of the app
new-app = Create an app
new-app-kind = Type of the app
new-app-type-missing = Choose the type of the app.
new-app-name = Name
new-app-name-hint = Users see it when the app asks for access.
new-app-redirect-uris-hint = One per line, exactly as the app sends it, such as https://app.example.org/callback. A service has none.
new-app-scope-hint = Separate the names with spaces. Choose only what the app needs.
new-app-all-scopes = All scopes
new-app-first-party = This app belongs to this service, so that users are not asked for their consent.
new-app-to-review = Review
new-app-review = Create this app?
new-app-secret-follows = The app gets a secret, which is shown on the next page and never again.
new-app-keys = Public keys
new-app-keys-hint = Recommended for a web app or a service, because no secret can leak: the URL of its JWK set, or the JWK set. Without keys it gets a secret. Other apps have neither.
new-app-has-keys = The app authenticates by its own keys, and gets no secret.
new-app-no-secret = The app has no secret. It uses PKCE.
new-app-create = Create the app
new-app-scope = Scopes
new-app-edit = Back to the form
clients-none-yet = There is no app yet.
new-app-created = The app is created
token-preview = Preview the tokens of an app
token-preview-explanation = See the claims that an app would get for a user who signs in now and gives it access. Nothing is issued.
token-preview-email-hint = Leave it empty for a service, which acts for itself.
token-preview-scope-hint = Separate the names with spaces. Without any, the app's default counts.
token-preview-show = Show the claims
token-preview-access-token = Access token
token-preview-id-token = ID token
token-preview-user-info = Response of /userinfo
token-preview-no-openid = Without the scope openid there is no ID token and no response of /userinfo.
token-preview-examples = The times are those of now. The values of jti, grant_id, sid, user_epoch, cnf and at_hash are examples, and acr and amr those of a sign‑in with all that the account needs.
token-preview-no-client = No app has this client id.
token-preview-no-user = No user has this address.
token-preview-disabled = The app or the account is disabled, so that the app gets no tokens.
token-preview-scope = The app may ask only for these scopes: { $scope }.
client-preview = Preview the tokens of this app
token-preview-outdated = The issuer does not accept the document of this app, or could not read it for a week, so that the app gets no tokens.
