# The texts of the pages in German.

## Frame

help = Hilfe
terms = Nutzungsbedingungen
privacy = Datenschutz

## Durations and days

duration-seconds = { $n ->
    [one] { $n } Sekunde
   *[other] { $n } Sekunden
 }
duration-minutes = { $n ->
    [one] { $n } Minute
   *[other] { $n } Minuten
 }
duration-hours = { $n ->
    [one] { $n } Stunde
   *[other] { $n } Stunden
 }
duration-days = { $n ->
    [one] { $n } Tag
   *[other] { $n } Tagen
 }
date = { $day }. { $month ->
    [1] Januar
    [2] Februar
    [3] März
    [4] April
    [5] Mai
    [6] Juni
    [7] Juli
    [8] August
    [9] September
    [10] Oktober
    [11] November
   *[12] Dezember
 } { $year }

## Fields

email = E‑Mail‑Adresse
password = Passwort
one-time-code = Einmalcode
recovery-code = Wiederherstellungscode
new-password = Neues Passwort
password-show = Anzeigen
    .label = Passwort anzeigen
password-hide = Verbergen
    .label = Passwort verbergen
password-enough = Lang genug.
password-good = Sie können dieses Passwort benutzen.
password-sequence = Eine bloße Zeichenfolge. Wählen Sie ein anderes.
password-like-address = Ihrer E‑Mail‑Adresse zu ähnlich. Wählen Sie ein anderes.
password-count = { $n } von mind. { $min } Zeichen
copy = Kopieren
copied = Kopiert
cancel = Abbrechen

## Sign-in

sign-in = Anmelden
sign-in-forgot = Passwort vergessen?
sign-in-passkey = Mit Passkey anmelden
leads-to-app = Danach geht es weiter zu { $client }.
sign-in-too-old = Ihre letzte Anmeldung ist über zehn Minuten her. Melden Sie sich noch einmal an, um fortzufahren.
sign-in-without-password = Ihr Konto hat kein Passwort. Melden Sie sich mit einem Passkey an. Wenn Sie keinen zur Hand haben, legen Sie über einen Link, den wir Ihnen schicken, ein Passwort fest.
sign-in-passkeys-unsupported = Dieser Browser kann keinen Passkey verwenden: Er ist zu alt, oder Skripte sind für diese Seite ausgeschaltet.
sign-in-sign-up = Konto anlegen
signed-in-as = Sie sind als { $email } angemeldet.
use-other-account = Ein anderes Konto verwenden
keep-account = Mit diesem Konto fortfahren
user-changed = Es wurde nichts geändert
    .text = In diesem Browser ist jetzt ein anderes Konto angemeldet.
    .link = Zu diesem Konto
wrong-credentials = Die E‑Mail‑Adresse oder das Passwort ist falsch. Prüfen Sie beides, oder setzen Sie das Passwort zurück.
second-step = Code eingeben
second-step-explanation = Sie melden sich als { $email } an. Ein Schritt fehlt noch.
second-step-user-changed = Inzwischen wurde in diesem Browser das Passwort eines anderen Kontos eingegeben. Nichts wurde geprüft. Geben Sie den Code des Kontos ein, das oben genannt ist.
second-step-ended = Der Code wurde nicht innerhalb von fünf Minuten eingegeben, das Passwort wurde inzwischen geändert, oder Ihr Browser behält keine Cookies. Geben Sie Ihr Passwort noch einmal ein.
use-recovery-code = Wiederherstellungscode verwenden
back-to-sign-in = Zurück zur Anmeldung
wrong-code = Dieser Code ist falsch oder wurde schon benutzt. Warten Sie auf den nächsten, und geben Sie ihn ein.
wrong-recovery-code = Dieser Wiederherstellungscode ist falsch oder wurde schon benutzt. Jeder Code gilt nur einmal: Geben Sie einen anderen ein.
session-ended = Sie wurden abgemeldet. Melden Sie sich wieder an.
captcha-needs-script = Das Captcha braucht JavaScript. Erlauben Sie es auf dieser Seite, um sich anzumelden.
captcha-not-loaded = Das Captcha konnte nicht geladen werden. Falls Ihr Browser Skripte anderer Websites blockiert, erlauben Sie sie auf dieser Seite. Andernfalls versuchen Sie es in ein paar Minuten noch einmal.
captcha-required = Geben Sie Ihr Passwort noch einmal ein, und lösen Sie das Captcha.
ended-password-changed = Sie wurden vor { $time } abgemeldet, weil das Passwort Ihres Kontos auf einem anderen Gerät geändert wurde.
ended-password-reset = Sie wurden vor { $time } abgemeldet, weil das Passwort Ihres Kontos zurückgesetzt wurde.
ended-password-removed = Sie wurden vor { $time } abgemeldet, weil das Passwort Ihres Kontos auf einem anderen Gerät entfernt wurde.
ended-password-replaced = Sie wurden vor { $time } abgemeldet, weil ein Administrator ein neues Passwort für Ihr Konto gewählt hat. Fragen Sie ihn nach dem Passwort.
ended-changed-here = Sie wurden vor { $time } abgemeldet, weil das Passwort, die Anmeldung in zwei Schritten oder ein Passkey Ihres Kontos in diesem Browser geändert wurde.
ended-email-changed = Sie wurden vor { $time } abgemeldet, weil die E‑Mail‑Adresse Ihres Kontos geändert wurde. Wenn Sie das waren, melden Sie sich mit der neuen Adresse an. Wenn nicht, wenden Sie sich an den Administrator.
ended-two-step-on = Sie wurden vor { $time } abgemeldet, weil die Anmeldung in zwei Schritten auf einem anderen Gerät eingeschaltet wurde. Wenn Sie das nicht waren, wenden Sie sich an den Administrator.
ended-two-step-off = Sie wurden vor { $time } abgemeldet, weil die Anmeldung in zwei Schritten auf einem anderen Gerät ausgeschaltet wurde.
ended-two-step-reset = Sie wurden vor { $time } abgemeldet, weil ein Administrator die Anmeldung in zwei Schritten ausgeschaltet oder Ihre Passkeys entfernt hat.
ended-passkey-removed = Sie wurden vor { $time } abgemeldet, weil ein Passkey Ihres Kontos auf einem anderen Gerät entfernt wurde.
ended-role-changed = Sie wurden vor { $time } abgemeldet, weil ein Administrator Ihre Rolle geändert hat. Melden Sie sich wieder an, um sie zu nutzen.
ended-account-disabled = Sie wurden vor { $time } abgemeldet, weil ein Administrator Ihr Konto deaktiviert hat. Wenden Sie sich an den Administrator.
ended-account-deleted = Sie wurden vor { $time } abgemeldet, weil Ihr Konto gelöscht wurde.
ended-by-administrator = Ein Administrator hat Sie vor { $time } abgemeldet.
ended-elsewhere = Sie wurden vor { $time } von einem anderen Gerät aus abgemeldet.
ended-newer-sign-ins = Sie wurden vor { $time } abgemeldet, weil ein Konto höchstens 100-mal zugleich angemeldet sein kann und neuere Anmeldungen an die Stelle dieser getreten sind.
ended-unused = Sie wurden abgemeldet, weil Sie zuletzt vor { $time } hier waren.
ended-lifetime = Sie wurden vor { $time } abgemeldet, weil eine Sitzung einige Zeit nach der Anmeldung endet, auch wenn sie benutzt wird.
ended-restored = Sie wurden vor { $time } abgemeldet, weil dieser Dienst aus einer Sicherung wiederhergestellt wurde.
ended-otherwise = Sie wurden vor { $time } abgemeldet.
ended-reset = Waren Sie das nicht? Wählen Sie ein neues Passwort.
sign-in-locked = Die Anmeldung ist gesperrt: Es gab zu viele Fehlversuche. Versuchen Sie es in { $wait } noch einmal, oder setzen Sie Ihr Passwort zurück: Das kann die Sperre früher beenden.
sign-in-unavailable = Die Anmeldung ist gerade nicht möglich. Versuchen Sie es gleich noch einmal.
overloaded = Gerade melden sich viele Menschen an. Versuchen Sie es gleich noch einmal.

## Sign-up

sign-up = Konto anlegen
password-hint = Mindestens { $min } Zeichen. Einige zufällige Wörter sind leicht zu merken und schwer zu erraten.
sign-up-accept = Mit dem Anlegen des Kontos akzeptieren Sie die Nutzungsbedingungen.
sign-up-sign-in = Schon ein Konto? Anmelden.
sign-up-email-taken = Es gibt schon ein Konto mit dieser Adresse. Melden Sie sich an, oder setzen Sie das Passwort zurück.
sign-up-too-many = Aus Ihrem Netz wurden zu viele Konten angelegt. Versuchen Sie es in { $wait } noch einmal.
email-invalid = Das ist keine gültige E‑Mail‑Adresse. Geben Sie eine wie anna@example.org ein.
password-too-short = Verwenden Sie mindestens { $min } Zeichen.
password-too-long = Verwenden Sie höchstens 128 Zeichen.
password-too-common = Zu häufig benutzt. Wählen Sie ein anderes.

## Password

change-password = Passwort ändern
set-password = Passwort festlegen
choose-password = Passwort wählen
choose-password-required = Ihr Passwort hat jemand anders festgelegt. Wählen Sie ein eigenes, um fortzufahren.
choose-password-effect = Mit dem neuen Passwort werden Sie auf allen Geräten und in allen Apps abgemeldet. Danach melden Sie sich damit an.
forgot = Passwort zurücksetzen
forgot-explanation = Geben Sie die E‑Mail‑Adresse Ihres Kontos ein. Wir schicken Ihnen einen Link, über den Sie ein neues Passwort wählen.
forgot-submit = Link schicken
forgot-sent = Prüfen Sie Ihr Postfach
    .text = Wenn es ein Konto mit der Adresse { $email } gibt, ist ein Link für ein neues Passwort unterwegs. Kommt in einigen Minuten nichts an, sehen Sie im Spam-Ordner nach und prüfen Sie die Adresse, oder schicken Sie den Link noch einmal.
    .again = Link noch einmal schicken
forgot-other = Andere Adresse verwenden
mail-too-many = Es wurde keine E‑Mail geschickt, weil zu viele angefordert wurden. Versuchen Sie es in { $wait } noch einmal.
mail-unavailable = Gerade kann keine E‑Mail geschickt werden. Versuchen Sie es gleich noch einmal.
reset = Neues Passwort wählen
reset-account = Dieser Link gehört zum Konto { $email }.
reset-effect = Mit dem neuen Passwort werden Sie auf allen Geräten und in allen Apps abgemeldet, und die Passkeys des Kontos werden entfernt.
reset-submit = Passwort festlegen
reset-done = Ihr Passwort wurde geändert
    .text = Sie wurden auf allen Geräten und in allen Apps abgemeldet, und die Passkeys des Kontos wurden entfernt. Melden Sie sich mit dem neuen Passwort an.
    .link = Anmelden

## E-mail address

verify = E‑Mail‑Adresse bestätigen
verify-account = Vor { $time } wurde ein Konto mit der Adresse { $email } angelegt. Wenn es Ihres ist, bestätigen Sie die Adresse mit seinem Passwort.
verify-change = Jemand möchte { $email } zur Adresse eines Kontos machen, das vor { $time } angelegt wurde. Wenn das Konto Ihres ist, bestätigen Sie die Änderung mit seinem Passwort: Sie werden dann auf allen Geräten und in allen Apps abgemeldet. Wenn nicht, schließen Sie diese Seite; dann ändert sich nichts.
verify-own = Bestätigen Sie { $email } als Adresse Ihres Kontos.
verify-own-change = Bestätigen Sie { $email } als neue Adresse Ihres Kontos: Sie werden dann auf allen Geräten und in allen Apps abgemeldet.
verify-password = Passwort des Kontos
verify-password-missing = Geben Sie das Passwort des Kontos ein.
verify-password-wrong = Das Passwort ist falsch.
verify-sign-in = Sie können sich auch zuerst anmelden, zum Beispiel mit einem Passkey, und den Link dann noch einmal öffnen.
verify-submit = Adresse bestätigen
verify-no-password = Wenn Sie das Passwort nicht kennen
verify-reset = Vielleicht haben Sie es vergessen, oder jemand anders hat das Konto mit Ihrer Adresse angelegt. Wählen Sie ein neues Passwort über einen Link, den wir Ihnen schicken. Damit ist die Adresse bestätigt, und das Konto gehört Ihnen allein: Alle Sitzungen enden, alle Apps werden getrennt, die Anmeldung in zwei Schritten wird ausgeschaltet, und Passkeys werden entfernt.
verify-done = Ihre Adresse ist bestätigt
    .text = Sie ist jetzt die Adresse Ihres Kontos.
    .link = Zu Ihrem Konto
verify-done-in-flow = Ihre Adresse ist bestätigt
    .text = Sie ist jetzt die Adresse Ihres Kontos.
    .link = Weiter
verify-taken = Ein anderes Konto hat diese Adresse
    .text = Melden Sie sich bei dem anderen Konto an, oder wählen Sie für dieses eine andere Adresse. Es wurde nichts geändert.
    .link = Zu Ihrem Konto
invalid-link = Dieser Link funktioniert nicht
    .text = Der Link wurde schon benutzt, ist abgelaufen, wurde durch einen neueren ersetzt oder nicht vollständig kopiert. Es wurde nichts geändert. In Ihrem Konto können Sie sich einen neuen Link schicken lassen.
    .link = Zu Ihrem Konto
invalid-reset-link = Dieser Link funktioniert nicht
    .text = Der Link wurde schon benutzt, ist abgelaufen, wurde durch einen neueren ersetzt oder nicht vollständig kopiert. Es wurde nichts geändert.
    .link = Neuen Link anfordern

## Consent

consent = Der App { $client } Zugriff auf Ihr Konto geben?
consent-registered-itself = Diese App hat sich selbst registriert. { $service } hat sie nicht geprüft.
consent-describes-itself = Diese App ist unter { $host } beschrieben. { $service } hat sie nicht geprüft.
consent-asks = Die App darf dann:
consent-asks-more = Die App darf dann zusätzlich:
consent-granted = Das haben Sie ihr schon erlaubt:
consent-destination = Danach kehren Sie zu { $destination } zurück.
allow = Zugriff erlauben
deny = Ablehnen
consent-user-changed = Jetzt ist ein anderes Konto angemeldet. Es wurde nichts entschieden. Prüfen Sie das Konto und entscheiden Sie noch einmal.
no-decision = Sie haben nichts entschieden
    .text = Gehen Sie zurück und wählen Sie, ob die App Zugriff bekommt.
    .link = Zu Ihrem Konto
client-changed = Die App hat sich geändert
    .text = Die App hat ihre Beschreibung geändert, während Sie sich entschieden haben. Es wurde nichts entschieden. Sehen Sie sich an, wie sie sich jetzt beschreibt, und entscheiden Sie dann.
    .link = App noch einmal ansehen

## Changes that succeeded

done-account-changed = Das Konto ist geändert. Die Änderung gilt überall binnen einer Sekunde.
done-app-changed = Die App ist geändert. Die Änderung gilt überall binnen einer Sekunde.
done-session-ended = Der andere Browser oder das andere Gerät ist abgemeldet.
done-other-sessions-ended = Sie sind in allen anderen Browsern und auf allen anderen Geräten abgemeldet.
done-app-disconnected = Die App ist getrennt. Sie hat keinen Zugriff mehr auf Ihr Konto.
done-passkey-added = Der Passkey ist hinzugefügt. Sie können sich ab jetzt mit ihm anmelden.
done-passkey-renamed = Der Passkey hat seinen neuen Namen.
done-passkey-removed = Der Passkey ist entfernt. Sie sind auf allen anderen Geräten und in allen Apps abgemeldet.
done-password-changed = Ihr neues Passwort ist gespeichert, und Sie sind überall abgemeldet. Melden Sie sich damit an.
done-password-removed = Ihr Passwort ist entfernt. Ab jetzt melden Sie sich mit einem Passkey an.

## Account

account = Ihr Konto
account-profile = Profil
account-created = Vor { $time } angelegt
account-email-confirmed = bestätigt
account-email-not-confirmed = nicht bestätigt
account-email-requested = Sie möchten diese Adresse in { $email } ändern. Öffnen Sie den Link, den wir dorthin geschickt haben, um die Änderung zu bestätigen. Eine spätere Änderung ersetzt diese.
account-is-administrator = Sie verwalten diesen Dienst.
account-signing-in = Anmeldung
account-has-password = Sie können sich mit einem Passwort anmelden.
account-session-began = Vor { $time } angemeldet
account-event-at = Vor { $time }
account-two-step-turn-on = Anmeldung in zwei Schritten einschalten
account-two-step-turn-off = Anmeldung in zwei Schritten ausschalten
account-email-unconfirmed = Ihre E‑Mail‑Adresse ist nicht bestätigt. Öffnen Sie den Link, den wir Ihnen geschickt haben.
account-send-link = Link noch einmal schicken
account-link-sent = Prüfen Sie Ihr Postfach
    .text = Ein Link, der die Adresse { $email } bestätigt, ist unterwegs, außer wenn wir Ihnen in der letzten Stunde schon mehrere geschickt haben. Kommt in einigen Minuten nichts an, sehen Sie im Spam-Ordner nach.
    .link = Zurück zu Ihrem Konto
account-two-step-on = An: Mit einem Passwort geben Sie auch einen Code aus Ihrer Authenticator‑App ein.
account-two-step-off = Aus: Ihr Passwort allein gibt Zugang zu Ihrem Konto.
account-recovery-codes = Wiederherstellungscodes
account-few-recovery-codes = { $n ->
    [0] Sie haben keine Wiederherstellungscodes mehr. Wenn Sie Ihr Telefon verlieren, können Sie sich nicht mehr mit Ihrem Passwort anmelden.
   *[other] Sie haben fast keine Wiederherstellungscodes mehr. Wenn Sie Ihr Telefon verlieren, brauchen Sie einen, um sich mit Ihrem Passwort anzumelden.
 }
account-no-password = Keines: Sie melden sich nur mit Passkeys an, die keinen Code brauchen.
account-passkeys = { $n ->
    [one] Ihr Konto hat { $n } Passkey.
   *[other] Ihr Konto hat { $n } Passkeys.
 }
account-passkeys-manage = Passkeys verwalten
account-no-passkeys = Melden Sie sich mit Fingerabdruck, Gesicht oder der Bildschirmsperre an, statt mit dem Passwort.
account-sessions = Wo Sie angemeldet sind
account-session-current = dieser Browser
account-session-used = zuletzt vor { $time } benutzt
ip-address = IP‑Adresse { $address }
account-session-end = Dort abmelden
account-sessions-end-others = Überall sonst abmelden
account-sessions-end-others-effect = Sie werden in allen anderen Browsern, auf allen anderen Geräten und in den Apps dieses Dienstes abgemeldet, die dort benutzt wurden.
account-apps = Verbundene Apps
account-no-apps = Keine App hat Zugriff auf Ihr Konto. Eine App steht hier, sobald Sie sich bei ihr mit diesem Konto angemeldet haben.
account-app-used = vor { $time } benutzt
account-apps-at-most = Höchstens { $n } Apps werden angezeigt. Wenn Sie mehr haben, trennen Sie einige, um die anderen zu sehen.
account-app-disconnect = Trennen
account-activity = Sicherheitsereignisse
account-activity-all = Alle Ereignisse stehen in der Datei mit Ihren Daten.
account-data = Ihre Daten
account-export = Ihre Daten herunterladen
ago = vor { $time }
browser-on-system = { $browser } unter { $system }
browser-unknown = Ein unbekanntes Programm
event-of-app = { $what }: { $app }
event-repeated = { $what } ({ $n }-mal)
event-signed-in = Angemeldet
event-sign-in-failed = Eine Anmeldung ist gescheitert
event-locked = Die Anmeldung wurde nach Fehlversuchen gesperrt
event-codes-locked = Die Anmeldung wurde nach falschen Codes gesperrt
event-signed-out = Abgemeldet
event-session-ended = Ein Browser oder Gerät wurde abgemeldet
event-password-changed = Das Passwort wurde geändert
event-password-removed = Das Passwort wurde entfernt
event-reset-requested = Ein Link zum Zurücksetzen des Passworts wurde angefordert
event-password-reset = Das Passwort wurde zurückgesetzt
event-two-step-on = Die Anmeldung in zwei Schritten wurde eingeschaltet
event-two-step-off = Die Anmeldung in zwei Schritten wurde ausgeschaltet
event-recovery-code = Ein Wiederherstellungscode wurde benutzt
event-recovery-codes-renewed = Die Wiederherstellungscodes wurden ersetzt
event-signed-in-passkey = Mit einem Passkey angemeldet
event-passkey-added = Ein Passkey wurde hinzugefügt
event-passkey-removed = Ein Passkey wurde entfernt
event-unlocked = Ein Administrator hat die Anmeldung entsperrt
event-role-changed = Ein Administrator hat die Rolle geändert
event-confirmation-requested = Ein Link zum Bestätigen der E‑Mail‑Adresse wurde angefordert
event-email-confirmed = Die E‑Mail‑Adresse wurde bestätigt
event-email-change-requested = Eine Änderung der E‑Mail‑Adresse wurde angefordert
event-email-changed = Die E‑Mail‑Adresse wurde geändert
event-account-created = Das Konto wurde angelegt
event-account-disabled = Ein Administrator hat das Konto deaktiviert
event-account-enabled = Ein Administrator hat das Konto aktiviert
event-account-deleted = Das Konto wurde gelöscht
event-app-created = Eine App wurde angelegt
event-app-changed = Eine App wurde geändert
event-app-secret = Eine App hat ein neues Secret erhalten
event-app-disabled = Eine App wurde deaktiviert
event-app-enabled = Eine App wurde aktiviert
event-app-deleted = Eine App hat ihre Registrierung gelöscht
event-app-consent = Zustimmung zum Zugriff einer App
event-app-allowed = Eine App hat Zugriff erhalten
event-app-access-renewed = Eine App hat ihren Zugriff erneuert
event-app-denied = Einer App wurde der Zugriff verweigert
event-app-disconnected = Eine App wurde getrennt
event-code-reuse = Ein benutzter Code wurde noch einmal vorgelegt: Jemand könnte ihn kopiert haben
event-token-reuse = Ein benutztes Refresh‑Token wurde noch einmal vorgelegt: Jemand könnte es kopiert haben
event-tokens-revoked = Der Zugriff von Apps wurde widerrufen
event-apps-signed-out = Apps wurden abgemeldet
event-registration-token = Ein Token zum Registrieren von Apps wurde angelegt
event-key-staged = Ein Signaturschlüssel wurde erzeugt
event-key-activated = Ein Signaturschlüssel signiert jetzt
event-key-retired = Ein Signaturschlüssel wurde abgelöst
event-key-deleted = Ein Signaturschlüssel wurde gelöscht
event-key-compromised = Ein Signaturschlüssel wurde als kompromittiert zurückgezogen
event-keys-resealed = Die Schlüssel wurden mit einem anderen Hauptschlüssel versiegelt
event-forbidden = Eine Berechtigung fehlte
event-forged = Eine Anfrage ohne gültiges Token gegen Fälschung wurde abgewiesen
event-idempotency-conflict = Ein Idempotenzschlüssel wurde für eine andere Anfrage benutzt
event-detail-passkey = Passkey
event-detail-all-passkeys = alle Passkeys
event-detail-passkey-id = Passkey { $id }
event-detail-passkey-counter = Passkey: Der Zähler ist nicht gestiegen
event-detail-passkey-stale = Passkey: Er hat diese oder eine spätere Anfrage schon beantwortet, oder sie ist abgelaufen
event-detail-codes-left = noch { $n }
event-detail-before-mailbox = älter als der erste Nachweis des Postfachs
event-detail-by-administrator = durch einen Administrator
event-detail-all-sessions = alle Sitzungen
event-detail-session-by-administrator = Sitzung { $id }: Ein Administrator hat den Benutzer abgemeldet
event-detail-session-elsewhere = Sitzung { $id }: Der Benutzer hat sie auf einem anderen Gerät beendet
event-detail-session-signed-out = Sitzung { $id }: Der Benutzer hat sich abgemeldet
event-detail-session-newer = Sitzung { $id }: Der Benutzer hat zu viele neuere Anmeldungen
event-detail-all-grants = der ganze Zugriff
event-detail-grants-of-uri = { $n } Zugriffe, die mit der Redirect-URI { $uri } begannen
event-detail-grants = Zugriffe { $ids }
event-detail-access-token = Zugriffstoken { $id }
event-detail-initial-token-for = Registrierungstoken { $id } für { $n } Apps
event-detail-initial-token = Registrierungstoken { $id }
event-detail-with-initial-token = mit dem Registrierungstoken { $id }
event-detail-without-token = ohne Token
event-detail-document = aus ihrem Dokument
event-detail-document-changed = Das Dokument der App hat sich geändert: { $members }
event-detail-role = Rolle: { $role }
event-detail-former-secret = das vorige Secret gilt noch { $seconds }
event-detail-former-secret-ended = das vorige Secret endete sofort
event-detail-device-code = Gerätecode
event-detail-rows = { $n } Zeilen
event-detail-csrf = Das Token gegen Fälschung fehlt oder ist falsch, oder der Origin ist nicht erlaubt. Ein Token gibt es bei /csrf; es gehört in den Header x-csrf-token, zusammen mit dem Cookie csrf.
event-detail-scope = Dieser Aufruf braucht den Scope { $scope }, den das Zugriffstoken oder der Benutzer nicht hat.
event-detail-needs-user = Dieser Aufruf braucht einen Benutzer, und die App hat das Zugriffstoken für sich selbst erhalten.
event-detail-needs-session = Dieser Aufruf braucht eine Sitzung, also eine Anmeldung bei /login. Ein Zugriffstoken genügt nicht.
event-detail-administrators-call = Nur Administratoren dürfen das aufrufen.
event-detail-administrators-see = Nur Administratoren dürfen diese Seite sehen.
event-detail-last-administrator = Das ist der letzte Administrator. Machen Sie zuerst einen anderen Benutzer zum Administrator.
event-detail-post-author = Nur der Autor des Beitrags, ein Redakteur oder ein Administrator darf ihn ändern.
event-detail-comment-author = Nur der Autor des Kommentars, ein Redakteur oder ein Administrator darf ihn löschen.
event-detail-idempotency-key = Dieser Idempotenzschlüssel wurde mit einem anderen Body benutzt. Ein Aufruf mit einem neuen Body braucht einen neuen Schlüssel.
event-detail-sign-up-off = Kein Konto wurde angelegt: Die Registrierung ist ausgeschaltet. Administratoren legen Konten an.
event-detail-client-disabled = Ein Administrator hat diese App deaktiviert. Ihre Registrierung kann weder gelesen noch geändert werden.
event-detail-change = { $former } → { $present }

## E-mail address and two-step sign-in of the account

change-email = E‑Mail‑Adresse ändern
change-email-explanation = Die Adresse Ihres Kontos ist { $email }. Wir schicken einen Link an die neue Adresse. Die Änderung gilt, sobald Sie den Link öffnen und sie dort bestätigen. Dann werden Sie auf allen Geräten und in allen Apps abgemeldet.
new-email = Neue E‑Mail‑Adresse
change-email-submit = Link schicken
email-link-sent = Prüfen Sie Ihr Postfach
    .text = Wir haben einen Link an { $email } geschickt. Bis Sie diese Adresse bestätigen, behält Ihr Konto die jetzige. Kommt in einigen Minuten nichts an, sehen Sie im Spam‑Ordner nach und prüfen Sie die Adresse.
    .link = Zurück zu Ihrem Konto
back-to-account = Zurück zu Ihrem Konto
two-step = Anmeldung in zwei Schritten
two-step-explanation = Bei der Anmeldung in zwei Schritten gibt Ihr Passwort allein keinen Zugang zu Ihrem Konto: Sie geben auch einen Code aus einer Authenticator‑App auf Ihrem Telefon ein.
two-step-effect = Beim Einschalten werden Sie auf allen anderen Geräten und in allen Apps abgemeldet.
two-step-begin = Weiter
two-step-enroll = Authenticator‑App einrichten
two-step-scan = Scannen Sie diesen Code mit einer Authenticator‑App.
two-step-qr-code = QR-Code für eine Authenticator‑App
two-step-type = Oder tippen Sie diesen Schlüssel in die App:
two-step-open = Eine Authenticator‑App auf diesem Gerät öffnen
two-step-first-code = Der Code, den die App anzeigt
two-step-turn-off = Ausschalten
two-step-is-on = Die Anmeldung in zwei Schritten ist an
    .text = Sie wurden auf allen anderen Geräten und in allen Apps abgemeldet.
two-step-off-effect = Ohne sie wird bei der Anmeldung mit einem Passwort kein Code verlangt. Beim Ausschalten werden Sie auf allen anderen Geräten und in allen Apps abgemeldet.
two-step-is-off = Die Anmeldung in zwei Schritten ist aus
    .text = Bei der Anmeldung mit einem Passwort wird jetzt kein Code verlangt. Sie wurden auf allen anderen Geräten und in allen Apps abgemeldet.
    .link = Zurück zu Ihrem Konto
one-time-code-hint = Aus Ihrer Authenticator‑App.
recovery-codes = Ihre Wiederherstellungscodes
recovery-codes-explanation = Wenn Sie Ihr Telefon verlieren, geben Sie statt des Codes aus der App einen dieser Codes ein. Jeder gilt einmal. Bewahren Sie die Codes sicher auf, denn sie werden nur dieses eine Mal angezeigt.
recovery-codes-account = Die Codes gehören zum Konto { $email } und wurden am { $date } erzeugt.
recovery-codes-print = Codes drucken
recovery-codes-kept = Ich habe die Codes gesichert
recovery-codes-renewed = Ihre Codes wurden ersetzt
    .text = Die bisherigen Wiederherstellungscodes gelten nicht mehr.
recovery-codes-renew = Wiederherstellungscodes ersetzen
recovery-codes-renew-effect = Beim Ersetzen erhalten Sie zehn neue Codes. Die bisherigen gelten dann nicht mehr.
recovery-codes-left = { $n ->
    [0] Es ist kein Wiederherstellungscode übrig.
    [one] Es ist noch { $n } Wiederherstellungscode übrig.
   *[other] Es sind noch { $n } Wiederherstellungscodes übrig.
 }

## Passkeys

passkeys = Passkeys
passkeys-explanation = Mit einem Passkey melden Sie sich mit Fingerabdruck, Gesicht oder der Bildschirmsperre an, statt mit Passwort und Einmalcode. Eine gefälschte Website kann ihn nicht stehlen.
passkeys-unsupported = Dieser Browser kann keinen Passkey hinzufügen: Er ist zu alt, oder Skripte sind für diese Seite ausgeschaltet.
passkey-offer = Melden Sie sich das nächste Mal schneller an, ohne Passwort.
passkey-add = Passkey hinzufügen
passkey-later = Ohne Passkey weiter
passkey-name = Name
passkey-name-hint = Damit Sie ihn später erkennen.
passkey-synced = auf mehreren Geräten
passkey-added = Vor { $time } hinzugefügt
passkey-used = vor { $time } benutzt
passkey-change = Umbenennen oder entfernen
passkey-save-name = Namen speichern
passkey-remove = Passkey entfernen
passkey-removal-effect = Beim Entfernen werden Sie auf allen anderen Geräten und in allen Apps abgemeldet, und Sie können sich mit ihm nicht mehr anmelden. Bietet Ihr Gerät ihn danach noch an, löschen Sie ihn dort.
passkey-name-invalid = Geben Sie einen Namen mit 1 bis 64 Zeichen und ohne Zeilenumbruch ein.
passkey-exists = Dieses Gerät hat schon einen Passkey für Ihr Konto. Sie können sich mit ihm anmelden.
passkey-too-many = Ein Konto kann höchstens 20 Passkeys haben. Entfernen Sie einen, den Sie nicht mehr benutzen.
passkey-only-one = Der Passkey wurde nicht entfernt. Sie haben sich noch mit keinem anderen Passkey angemeldet, und Ihr Konto hat kein Passwort. Legen Sie ein Passwort fest, oder melden Sie sich zuerst mit einem anderen Passkey an. Wenn Sie keinen anderen haben, fügen Sie einen hinzu.
without-password = Ohne Passwort anmelden
without-password-explanation = Sie können Ihr Passwort entfernen und sich nur mit Passkeys anmelden. Ein Passwort, das es nicht gibt, kann niemand erraten oder stehlen.
without-password-effect = Beim Entfernen werden Sie auf allen anderen Geräten und in allen Apps abgemeldet. Wenn Sie Ihre Passkeys verlieren, wählen Sie über einen Link, den wir Ihnen schicken, ein neues Passwort.
without-password-submit = Passwort entfernen
without-password-on = Sie haben kein Passwort und melden sich nur mit Passkeys an.
password-removal-not-ready = Sie können Ihr Passwort entfernen, wenn Ihre E‑Mail‑Adresse bestätigt ist und Sie sich mit einem Passkey angemeldet haben. Melden Sie sich dazu ab und mit dem Passkey wieder an.
passkey-not-added = Es wurde kein Passkey hinzugefügt. Versuchen Sie es noch einmal.
passkey-failed = Es wurde kein Passkey benutzt. Versuchen Sie es noch einmal, oder verwenden Sie Ihr Passwort.
passkey-too-many-sign-ins = Es gab zu viele Anmeldungen beim Konto dieses Passkeys. Versuchen Sie es in { $wait } noch einmal.
passkey-refused = Mit diesem Passkey können Sie sich nicht anmelden. Wenn er aus dem Konto entfernt wurde, melden Sie sich mit Ihrem Passwort oder einem anderen Passkey an. Wenn das Konto deaktiviert ist, wenden Sie sich an den Administrator.
passkey-answer-refused = Der Passkey konnte nicht geprüft werden und wurde nicht hinzugefügt. Bietet Ihr Gerät ihn noch an, löschen Sie ihn dort. Versuchen Sie es dann noch einmal.
passkey-not-added-in-time = Diese Seite war zu lange offen, darum wurde der Passkey nicht hinzugefügt. Bietet Ihr Gerät ihn noch an, löschen Sie ihn dort. Versuchen Sie es dann noch einmal.
passkey-stale = Diese Seite gilt nicht mehr: Sie war zu lange offen, oder Sie haben sich seitdem mit diesem Passkey angemeldet. Benutzen Sie den Passkey noch einmal.

## Devices

device = Gerät verbinden
device-explanation = Geben Sie den Code ein, den Ihr Gerät anzeigt.
device-code = Code
device-continue = Weiter
device-confirm = Gerät mit { $client } verbinden?
device-own = Diese App gehört zu diesem Dienst.
device-foreign = Diese App gehört einem Dritten.
device-compare = Vergleichen Sie den Code mit dem auf dem Display Ihres Geräts:
device-origin = Die Anfrage kam vor { $age } von der IP‑Adresse { $address }.
device-origin-server = Die Anfrage kam vor { $age } von der IP‑Adresse { $address }, einem Server der App.
device-warning = Erlauben Sie den Zugriff nur, wenn Sie selbst damit begonnen haben, auf einem Gerät, das vor Ihnen steht. Wer Ihnen den Code oder einen Link zu dieser Seite geschickt hat, bekäme sonst Zugriff auf Ihr Konto.
address-unknown = unbekannt
device-allowed = Ihr Gerät ist verbunden
    .text = Gehen Sie zum Gerät zurück: Die App bekommt in wenigen Sekunden Zugriff. In Ihrem Konto können Sie die App jederzeit trennen.
    .link = Zu Ihrem Konto
device-denied = Sie haben die Anfrage abgelehnt
    .text = Die App bekommt keinen Zugriff.
    .link = Zu Ihrem Konto
device-decided = Dieser Code gilt nicht mehr
    .text = Die Anfrage wurde schon beantwortet, hat zu lange gedauert oder wurde in einer anderen Sitzung gezeigt. Beginnen Sie auf dem Gerät neu.
    .link = Einen anderen Code eingeben
device-code-invalid = Ein Code hat acht Buchstaben, zum Beispiel BCDF-GHJK.
device-code-unknown = Auf diesen Code wartet kein Gerät. Vergleichen Sie ihn mit der Anzeige des Geräts. Vielleicht zeigt es inzwischen einen neuen.
device-code-too-many = Es wurde kein Code geprüft, weil zu viele falsche eingegeben wurden. Versuchen Sie es in { $wait } noch einmal.
device-code-unavailable = Gerade kann kein Code geprüft werden. Versuchen Sie es gleich noch einmal.

## Sign-out

sign-out = Abmelden?
sign-out-own = Damit endet Ihre Sitzung in diesem Browser.
sign-out-explanation = Eine App bittet Sie, sich abzumelden. Damit endet Ihre Sitzung in diesem Browser.
sign-out-stay = Angemeldet bleiben
sign-out-submit = Abmelden
signed-out = Sie sind abgemeldet
    .text = Ihre Sitzung in diesem Browser ist beendet.
    .link = Anmelden

## Front page

home = Willkommen bei { $service }
home-explanation = Melden Sie sich mit einem Konto bei allen Ihren Apps an. Sie entscheiden, welche davon Ihre Beiträge, Kommentare und Zahlungen benutzen dürfen.
home-sign-in = Anmelden
home-account = Zu Ihrem Konto
home-sign-up = Konto anlegen
home-documentation = Dokumentation
home-reference = Einführung und API-Referenz
home-first-steps = Erste Schritte für Administratoren
home-password-in-terminal = Das erste Passwort von { $administrator } steht im Terminal, in dem Latchkey läuft.
home-password-in-file = Das erste Passwort von { $administrator } steht in der Datei { $path }.
home-own-password = Melden Sie sich damit an, und wählen Sie ein eigenes Passwort.
home-first-app = Legen Sie die erste App an.
home-keys = Sehen Sie sich die Signaturschlüssel an.
home-for-apps = Dies ist ein Issuer für OAuth 2.0 und OpenID Connect und eine API unter derselben Adresse.
home-documents = Dokumente für Programme
home-issuer-metadata = Metadaten des Issuers
home-key-set = Schlüssel des Issuers (JWKS)
home-api-metadata = Metadaten der API
home-readiness = Bereitschaft
home-in-source = Mehr steht im Quelltext und im Debian‑Paket:
home-readme = vom neuen Konto zur Zahlung in fünf Befehlen
home-docs-apps = für Autoren von Apps
home-docs-operate = für Betreiber

## Demo client

demo = Der Demo-Client
demo-failed = Die Anfrage ist gescheitert: { $error }
demo-code = Autorisierungscode erhalten
demo-next = API-Referenz lesen
demo-exchange = Tauschen Sie ihn binnen einer Minute ein, zusammen mit Ihrem { $verifier }. Die Befehle stehen in { $file }.
demo-explanation = Diese Seite empfängt die Autorisierungsantwort des Demo-Clients. Beginnen Sie bei { $endpoint }, wie { $file } zeigt.
demo-app = Demo-App
demo-app-explanation = Eine Single-Page-App mit latchkey-auth, für Autoren von Apps. Die Seite zeigt jeden ihrer Aufrufe. Ihre übrigen Texte sind englisch.
demo-app-scripts = Die Demo-App braucht JavaScript.

## Errors

technical-detail = Technischer Grund
go-back = Zurück
page-not-found = Diese Seite gibt es nicht
    .text = Vielleicht ist die Adresse falsch geschrieben, oder die Seite ist umgezogen. Es wurde nichts geändert.
    .link = Zu Ihrem Konto
page-after-form = Diese Seite lässt sich nicht über ihre Adresse öffnen
    .text = Sie folgt auf ein Formular, das auf einer anderen Seite steht. Es wurde nichts geändert. Öffnen Sie die Seite mit dem Formular, und schicken Sie es noch einmal ab.
    .link = Zu Ihrem Konto
page-too-many-requests = Zu viele Anfragen
    .text = Aus Ihrem Netz kamen in einer Minute zu viele Anfragen. Versuchen Sie es in { $wait } noch einmal.
    .link = Zu Ihrem Konto
page-not-accepted = Das Formular wurde nicht angenommen
    .text = Es war zu groß, kam zu langsam an oder wurde nicht von dieser Seite geschickt. Es wurde nichts geändert. Gehen Sie zurück und versuchen Sie es noch einmal.
    .link = Zu Ihrem Konto
page-unavailable = Ein Teil des Dienstes antwortet nicht
    .text = Warten Sie einen Moment, gehen Sie zurück und versuchen Sie es noch einmal.
    .link = Zu Ihrem Konto
page-failed = Im Dienst ist ein Fehler aufgetreten
    .text = Das liegt nicht an Ihnen. Versuchen Sie es später noch einmal. Tritt der Fehler wieder auf, nennen Sie dem Betreiber die Korrelations-ID.
    .link = Zu Ihrem Konto
page-refused = Die Anfrage wurde abgelehnt
    .text = Es wurde nichts geändert. Gehen Sie zurück, laden Sie die Seite neu und versuchen Sie es noch einmal. Geschieht es wieder, nennen Sie dem Betreiber die Korrelations-ID.
    .link = Zu Ihrem Konto
correlation-id = Korrelations-ID:
invalid-authorization = Die App hat eine ungültige Anfrage geschickt
    .text = Gehen Sie zur App zurück und beginnen Sie neu. Geschieht es wieder, nennen Sie dem Entwickler der App den technischen Grund.
    .link = Zu Ihrem Konto
nobody-signed-in = Niemand ist angemeldet
    .text = Die App wollte Sie im Hintergrund anmelden, aber Sie sind hier nicht angemeldet. Melden Sie sich hier an, und gehen Sie dann zur App zurück.
    .link = Hier anmelden
invalid-sign-out = Diese Abmeldeanfrage ist ungültig
    .text = Die App, die Sie hierher geschickt hat, hat einen Fehler gemacht. Sie sind hier noch angemeldet, wenn Sie es vorher waren.
    .link = Zu Ihrem Konto
flow-not-found = Diese Anmeldung ist abgelaufen
    .text = Sie wurde schon abgeschlossen, hat zu lange gedauert oder in einem anderen Browser begonnen. Gehen Sie zur App zurück und beginnen Sie neu.
    .link = Zu Ihrem Konto
too-many-documents = Zu viele Apps
    .text = Sie haben zu viele Apps geöffnet, die hier nicht registriert sind. Versuchen Sie es in { $wait } noch einmal.
    .link = Zu Ihrem Konto
too-many-long-requests = Zu viele Anfragen
    .text = Aus Ihrem Netz kamen zu viele lange Anfragen. Versuchen Sie es in { $wait } noch einmal.
    .link = Zu Ihrem Konto
flow-unavailable = Die Anmeldung ist gerade nicht möglich
    .text = Ein Teil des Dienstes antwortet nicht. Warten Sie einen Moment und versuchen Sie es noch einmal. Es ist nichts verloren.
    .link = Noch einmal versuchen
cookie-dropped = Ihr Browser hat das Sitzungscookie nicht behalten
    .text = Die Anmeldung ist gelungen, aber der Browser hat das Cookie der neuen Sitzung nicht geschickt. Erlauben Sie Cookies für diese Website. Manche Browser verwerfen sichere Cookies bei http, auch auf localhost: Verwenden Sie dort Chrome oder Firefox.
    .link = Wieder anmelden
two-cookies = Ihr Browser hat zwei Sitzungscookies geschickt
    .text = Es ist nicht zu erkennen, welches Ihres ist, deshalb gilt keines. Löschen Sie die Cookies dieser Website und melden Sie sich wieder an.
    .link = Wieder anmelden
form-unreadable = Dieses Formular ist nicht lesbar
    .text = Es wurde nichts geändert. Gehen Sie zurück, laden Sie die Seite neu und versuchen Sie es noch einmal.
    .link = Zu Ihrem Konto
form-forged = Dieses Formular konnte nicht geprüft werden
    .text = Ihr Browser hat das Cookie nicht geschickt, das zu diesem Formular gehört, oder das Formular kam von einer anderen Seite. Erlauben Sie Cookies, gehen Sie zurück, laden Sie die Seite neu und versuchen Sie es noch einmal.
    .link = Zu Ihrem Konto

## Scopes. In English they are those of the OpenAPI document.

scope-posts-read = Beiträge lesen, auch Ihre Entwürfe
scope-posts-write = Ihre Beiträge schreiben, ändern und löschen
scope-comments-write = Ihre Kommentare schreiben und löschen
scope-payments-read = Ihre Zahlungen sehen
scope-payments-write = In Ihrem Namen zahlen
scope-profile-read = Ihre E‑Mail‑Adresse und die Rolle Ihres Kontos sehen
scope-admin = Diesen Dienst verwalten
scope-openid = Sie bei der Anmeldung wiedererkennen
scope-profile = Sehen, wann Ihr Konto zuletzt geändert wurde
scope-email = Sehen, wie Ihre E‑Mail‑Adresse lautet und ob sie bestätigt ist

## Deletion of the account

deletion = Ihr Konto löschen
deletion-ends = Das endet mit dem Konto
deletion-sessions = { $n ->
    [one] Diese Sitzung
   *[other] { $n } Sitzungen, in allen Browsern und auf allen Geräten
 }
deletion-apps = { $n ->
    [one] Der Zugriff von { $n } App
   *[other] Der Zugriff von { $n } Apps
 }
deletion-drafts = { $n ->
    [one] { $n } Entwurf, der gelöscht wird
   *[other] { $n } Entwürfe, die gelöscht werden
 }
deletion-address = Ihre Adresse und alles, womit Sie sich anmelden. Danach kann jemand anders die Adresse für ein neues Konto benutzen.
more-than = mehr als { $n }
at-least = mindestens { $n }
deletion-stays = Das bleibt, ohne Ihren Namen
deletion-posts = { $n ->
    [one] { $n } Beitrag, der veröffentlicht ist oder war
   *[other] { $n } Beiträge, die veröffentlicht sind oder waren
 }
deletion-comments = { $n ->
    [one] { $n } Kommentar
   *[other] { $n } Kommentare
 }
deletion-payments = { $n ->
    [one] { $n } Zahlung
   *[other] { $n } Zahlungen
 }
deletion-final = Das lässt sich nicht rückgängig machen. Löschen Sie vorher Beiträge und Kommentare, die nicht bleiben sollen, und sichern Sie sich eine Kopie Ihrer Daten.
deletion-submit = Konto endgültig löschen
deletion-last-administrator = Ihr Konto ist das einzige mit Administratorrechten. Machen Sie zuerst unter Verwaltung, Benutzer einen anderen Benutzer zum Administrator.
account-deleted = Ihr Konto ist gelöscht
    .text = Sie sind überall abgemeldet, und keine App hat mehr Zugriff.
    .link = Mit anderem Konto anmelden

## Administration

admin = Verwaltung
admin-only = Nur Administratoren sehen diese Seite
    .text = Melden Sie sich ab und als Administrator an, oder gehen Sie zurück zu Ihrem Konto.
    .link = Zu Ihrem Konto
action = Aktion
in-terminal = Dasselbe im Terminal
from-now = in { $time }
sign-in-again = Neu anmelden
list-previous = Vorige Seite
list-next = Nächste Seite
list-none-yet = Bisher wurde nichts gefunden, was diese Bedingungen erfüllt. Auf den anderen Seiten geht die Suche weiter.
list-end = Sonst erfüllt nichts diese Bedingungen.
list-part = Hier stehen { $first } bis { $last } von { $all }.
order = Reihenfolge
order-oldest-first = älteste zuerst
order-newest-first = neueste zuerst
order-by-id = nach ID, aufsteigend
order-by-id-descending = nach ID, absteigend
order-by-name = A bis Z
order-by-name-descending = Z bis A

## The page of all components

design = Bausteine der Seiten
design-messages = Meldungen
design-form = Ein Formular
design-passkey = Ein Formular für einen Passkey
design-query = Ein Formular, das nichts ändert
design-filter = Ein Filter
design-decision = Eine Entscheidung
design-dialog = Ein Dialog
design-list = Eine Liste
design-tags = Etiketten
design-empty = Eine leere Liste
design-table = Eine Tabelle
design-time-line = Ein Zeitstrahl
design-plot = Eine Kurve
design-links = Links

## Figures, for administrators

dashboard = Überblick
windows = Gezeigter Zeitraum
window-hour = Letzte Stunde
window-day = Letzter Tag
window-week = Letzte Woche
figures-step = Jeder Punkt einer Linie steht für { $step }. Alle Prozesse sind zusammen gezählt.
figures-none = In diesem Zeitraum wurde nichts gezählt. Die Zahlen einer Minute erscheinen hier, wenn sie vorüber ist.
figures-scale = Von 0 bis { $top }
figures-counted = { $name }: zuletzt { $last }, insgesamt { $all }
figures-took = { $name }: zuletzt { $last }, im ganzen Zeitraum { $all }
figures-not-measured = { $name }: in diesem Zeitraum nicht gemessen
milliseconds = { $n } ms
figures-sign-ins = Anmeldungen
figures-succeeded = Erfolgreich
figures-failed = Fehlgeschlagen
figures-grants = Token nach Grant-Typ
grant-code = Autorisierungscode
grant-refresh = Refresh‑Token
grant-service = Zugangsdaten einer App
grant-device = Gerätecode
figures-requests = Anfragen und Fehler
figures-responses = Alle Antworten
figures-client-errors = Fehler von Aufrufern (4xx)
figures-server-errors = Fehler des Dienstes (5xx)
figures-reuse = Doppelt benutzte Codes und Refresh‑Token
figures-alerts = Alarme
figures-lag = Zeit, bis ein Widerruf wirkt
figures-half = Die Hälfte in höchstens
figures-nearly-all = 99 von 100 in höchstens
figures-keys = Alter des Signaturschlüssels
figures-key = Der Schlüssel signiert seit { $age }
figures-no-key = Kein Schlüssel signiert
figures-hashing = Wartezeit, bis ein Passwort gehasht wird
figures-refusals = Unter Last abgewiesene Passwörter
figures-refused = Abgewiesen

## Security events

events = Sicherheitsereignisse
events-views = Ansicht
events-list = Alle Ereignisse
events-refusals = Abweisungen nach Art und Ursache
events-refusals-rows = Abweisungen einer Art und Ursache teilen sich eine Zeile, die ihre Zahl und die neueste von ihnen zeigt. Wenn Sie keinen Anfang wählen, reicht die Liste einen Tag zurück.
events-refusals-older = Nur die neuesten { $n } Einträge sind gruppiert, und es gibt ältere. Wählen Sie einen kürzeren Zeitraum, um diese zu sehen.
events-refusals-unsearched = Ereignisse, die vor mehr als { $time } geschehen sind, wurden nicht durchsucht. Um Abweisungen unter ihnen zu sehen, geben Sie bei „Vor (UTC)“ eine frühere Zeit ein.
events-refusals-further = Kleinere Gruppen, die nicht gezeigt werden: { $n }. Wählen Sie ein Ereignis, um mehr zu sehen.
events-of-cause = Alle Abweisungen dieser Art und Ursache
events-of-kind = Alle Abweisungen dieser Art
events-any = alle
events-select = Ereignisse anzeigen
events-refused = „{ $value }“ ist ungültig und wurde nicht beachtet.
events-none = Kein Ereignis erfüllt diese Bedingungen.
events-none-searched = Keines der durchsuchten Ereignisse erfüllt diese Bedingungen.
events-none-of-trace = Kein Ereignis hat diese Korrelations-ID. Von Abweisungen, die sich in einer Minute wiederholen, nennen die Ereignisse die erste und die letzte, und viele Anfragen verursachen kein Ereignis. Das Protokoll des Servers enthält sie alle.
events-all = Alle Ereignisse anzeigen
events-since = Ab (UTC)
events-until = Vor (UTC)
events-further-conditions = Weitere Bedingungen
events-live = Neue Ereignisse sofort anzeigen
events-live-in-terminal = Neue Ereignisse im Terminal
events-live-waiting = Warte auf das nächste Ereignis …
events-live-count = Neue Ereignisse: { $n }
events-live-stopped = Nach einer halben Stunde angehalten. Drücken Sie den Knopf, um fortzufahren.
events-live-interrupted = Die Verbindung wurde unterbrochen. Sie wird neu aufgebaut …
events-live-failed = Die Verbindung ist gescheitert. Laden Sie die Seite neu, und melden Sie sich wieder an, wenn Sie darum gebeten werden.
event-name = Ereignis
event-outcome = Ergebnis
event-time = Zeit
events-user = Benutzer (ID oder E‑Mail)
events-client = App (Client-ID)
events-detail = Detail (wie in der API)
events-administrator = Administrator (ID oder E‑Mail)
event-user = Benutzer
event-by = durch
event-by-command = durch einen Befehl auf dem Server
event-by-user = durch den Benutzer
event-by-app = durch die App
event-person = Benutzer { $id }
event-client = App
event-address = IP‑Adresse
event-trace = Korrelations-ID
event-open-user = Benutzer öffnen
event-open-client = App öffnen
event-open-sessions = Sitzungen öffnen
event-open-consents = Verbundene Apps öffnen
event-open-keys = Schlüssel öffnen
event-success = gelungen
event-failure = fehlgeschlagen
event-count = { $n ->
    [one] { $n }-mal
   *[other] { $n }-mal
 }

## Signing keys

keys = Signaturschlüssel
keys-all = Alle Schlüssel
keys-select = Schlüssel anzeigen
keys-sign-in = Um die Schlüssel hier zu ändern, müssen Sie sich in den letzten zehn Minuten angemeldet haben.
keys-settings = Ein Schlüssel signiert für die Dauer von { $lifetime }. Prüfer dürfen den Schlüsselsatz bis zu { $cached } zwischenspeichern.
keys-published = Der Schlüsselsatz:
key = Schlüssel
key-created = Angelegt
key-next = Nächste Änderung
key-planned = geplant
key-present = jetzt
key-staged = vorbereitet
key-active = aktiv
key-retired = abgelöst
key-deleted = gelöscht
key-compromised = kompromittiert
key-next-waits = Er darf in { $time } signieren, wenn der letzte zwischengespeicherte Schlüsselsatz ohne ihn abgelaufen ist.
key-next-signs = Er darf signieren. Nach Plan löst er den aktiven Schlüssel in { $time } ab.
key-next-may-sign = Er darf signieren.
key-next-known = Er signiert. Prüfer mit einem zwischengespeicherten Schlüsselsatz ohne ihn können seine Token ablehnen, bis dieser in { $time } abläuft.
key-next-retires = Er signiert. Nach Plan löst ihn sein Nachfolger in { $time } ab.
key-next-none = Er signiert.
key-next-deleted = Er signiert nicht mehr. In { $time }, wenn sein letztes Token abgelaufen ist, wird er gelöscht.
key-deletion-planned = Nach Plan wird er in { $time } gelöscht.
key-signed = Er signiert nicht mehr.
key-deleted-at = Er wurde vor { $time } gelöscht.
key-tokens = Laufende Token
key-tokens-about = etwa { $n }
key-tokens-revoked = etwa { $n }, alle widerrufen
key-tokens-none = keine gezählt
keys-tokens = Laufende Token sind die Zugriffstoken, die ein Schlüssel signiert hat und die noch nicht abgelaufen sind, gezählt am Ende der letzten Minute. Widerrufene zählen mit.
keys-rotate = Schlüssel wechseln
keys-rotation-later = Die Schlüssel lassen sich in { $time } wechseln: Bis dahin kann ein Zwischenspeicher einen Schlüsselsatz ohne den vorbereiteten Schlüssel enthalten.
keys-none-staged = Die Schlüssel lassen sich wechseln, sobald der nächste Schlüssel vorbereitet ist, was der Issuer bald tut.
keys-clock-differs = Die Uhren des Issuers und der Datenbank gehen auseinander. Bis sie übereinstimmen, lassen sich Schlüssel nur als kompromittiert zurückziehen.
changes-clock-differs = Die Uhren des Issuers und der Datenbank gehen auseinander. Bis sie übereinstimmen, können Sie hier nur Zugriff beenden.
keys-contended = Die Schlüssel haben sich geändert, seit die Seite angezeigt wurde, sodass das Formular nichts bewirkt hat. Sehen Sie sich die Schlüssel unten an und versuchen Sie es noch einmal.
keys-retired-before = Der Schlüssel wurde schon als kompromittiert zurückgezogen.
keys-unknown = Diesen Schlüssel gibt es nicht.
keys-retire = Als kompromittiert zurückziehen
keys-effect-rotation = { $staged } signiert ab jetzt, und ein weiterer Schlüssel wird vorbereitet. { $active } signiert nicht mehr, bleibt aber veröffentlicht, bis sein letztes Token abgelaufen ist. Prüfer, die den Schlüsselsatz neu holen, wenn ihr Zwischenspeicher abgelaufen ist, lehnen kein Token ab, und niemand muss sich neu anmelden.
keys-effect-first-rotation = { $staged } signiert ab jetzt, und ein weiterer Schlüssel wird vorbereitet.
keys-effect-staged = { $kid } wird sofort gelöscht. Der Issuer hat nichts damit signiert. Hat es jemand anders getan, werden solche Token abgelehnt: von der API binnen einer Sekunde, von anderen Prüfern, wenn sie den Schlüsselsatz neu holen, normalerweise in { $wait }. Ein weiterer Schlüssel wird vorbereitet, der etwas später als dann signieren darf. Ein Alarm wird ausgelöst. Das lässt sich nicht rückgängig machen.
keys-effect-active = { $kid } wird sofort gelöscht, und der vorbereitete Schlüssel signiert. Jedes Token, das { $kid } signiert hat, wird abgelehnt: von der API binnen einer Sekunde, von anderen Prüfern, wenn sie den Schlüsselsatz neu holen, normalerweise in { $wait }. ID‑Token, die er signiert hat, werden nicht mehr als Hinweis auf den Benutzer angenommen. Apps bekommen neue Token mit ihren Refresh‑Token, und niemand muss sich neu anmelden. Ein Alarm wird ausgelöst. Das lässt sich nicht rückgängig machen.
keys-effect-active-early = { $kid } wird sofort gelöscht, und der nächste Schlüssel signiert, obwohl manche Prüfer ihn noch nicht kennen: Diese lehnen seine Token eine Weile ab. Jedes Token, das { $kid } signiert hat, wird abgelehnt: von der API binnen einer Sekunde, von anderen Prüfern, wenn sie den Schlüsselsatz neu holen, normalerweise in { $wait }. ID‑Token, die er signiert hat, werden nicht mehr als Hinweis auf den Benutzer angenommen. Apps bekommen neue Token mit ihren Refresh‑Token, und niemand muss sich neu anmelden. Ein Alarm wird ausgelöst. Das lässt sich nicht rückgängig machen.
keys-effect-retired = { $kid } wird sofort gelöscht, und jedes Token, das er signiert hat, wird abgelehnt: von der API binnen einer Sekunde, von anderen Prüfern, wenn sie den Schlüsselsatz neu holen, normalerweise in { $wait }. ID‑Token, die er signiert hat, werden nicht mehr als Hinweis auf den Benutzer angenommen. Apps bekommen neue Token mit ihren Refresh‑Token, und niemand muss sich neu anmelden. Ein Alarm wird ausgelöst. Das lässt sich nicht rückgängig machen.
keys-effect-deleted = Die Zugriffstoken von { $kid } sind abgelaufen. ID‑Token, die er signiert hat, werden nicht mehr als Hinweis auf den Benutzer angenommen. Ein Alarm wird ausgelöst. Das lässt sich nicht rückgängig machen.
keys-touched = Laufende Token von ihm: { $tokens }. Replikate der API, die ihn haben: { $api }. Andere Prüfer, die ihn in den letzten 24 Stunden geholt haben und seine Token annehmen können, bis sie den Schlüsselsatz neu holen: { $clients }.
keys-news-active = { $kid } signiert seit { $time }.
keys-news-compromised = { $kid } wurde vor { $time } als kompromittiert zurückgezogen.
key-refusal-within = { $name } lehnt die Token des Schlüssels ab, spätestens { $time } nach dem Zurückziehen.
key-refusal-unconfirmed = { $name } hat noch nicht bestätigt, dass dort die Token des Schlüssels abgelehnt werden.
key-refusal-without-key = { $name } lehnt die Token des Schlüssels ab, denn er ist dort nicht vorhanden.
keys-effects = Welche Token nach einer Aktion gelten
keys-of-staged = Des vorbereiteten Schlüssels
keys-of-active = Des aktiven Schlüssels
keys-of-retired = Eines abgelösten Schlüssels
keys-retire-staged = Den vorbereiteten Schlüssel als kompromittiert zurückziehen
keys-retire-active = Den aktiven Schlüssel als kompromittiert zurückziehen
keys-retire-retired = Einen abgelösten Schlüssel als kompromittiert zurückziehen
keys-signs = gelten, wo er bekannt ist: Er signiert jetzt
keys-keeps-signing = gelten: Er signiert weiter
keys-not-yet = gelten, sobald er signiert
keys-until-expiry = gelten, bis sie ablaufen
keys-refused = werden abgelehnt

## Verifiers of tokens

verifiers = Wer den nächsten Schlüssel hat
verifiers-api = Replikate der API, die den vorbereiteten Schlüssel haben: { $ready } von { $all }.
verifiers-clients = { $all ->
    [0] Kein anderer Prüfer hat den Schlüsselsatz in den letzten 24 Stunden geholt.
   *[other] Andere Prüfer, die ihn haben, unter denen, die den Schlüsselsatz in den letzten 24 Stunden geholt haben: { $ready } von { $all }.
 }
verifiers-further = { $n ->
    [one] Ein weiterer Prüfer ist nicht gezeigt.
   *[other] { $n } weitere Prüfer sind nicht gezeigt.
 }
verifiers-forgotten = So viele Clients haben den Schlüsselsatz in den letzten 24 Stunden geholt, dass der Issuer sich nicht alle merkt. Ein Prüfer ohne den vorbereiteten Schlüssel kann deshalb in dieser Liste fehlen.
verifiers-hidden = Ein Prüfer, der den Schlüsselsatz durch einen gemeinsamen Zwischenspeicher holt, ist hier nicht zu sehen.
verifier = Prüfer
verifier-api = API
verifier-client = { $agent }
verifier-without-user-agent = ohne User-Agent
verifier-staged-key = Vorbereiteter Schlüssel
verifier-has-it = vorhanden
verifier-lacks-it = fehlt
verifier-seen = Zuletzt gesehen
verifier-silent = seit { $time } ohne Meldung
keys-effect-unready = Diesen Prüfern fehlt der vorbereitete Schlüssel. Sie lehnen die Token ab, die er signiert, bis sie den Schlüsselsatz neu holen:
keys-despite-unready = Die Schlüssel wechseln, auch wenn Prüfern der vorbereitete Schlüssel fehlt
keys-unready = Die Schlüssel wurden nicht gewechselt: Einem Prüfer fehlt der vorbereitete Schlüssel, oder er fehlt ihm möglicherweise. Die Prüfer stehen unten. Um die Schlüssel trotzdem zu wechseln, bestätigen Sie es im Formular.

## Users, for administrators

users = Benutzer
users-select = Benutzer anzeigen
users-search = Anfang der E‑Mail‑Adresse
users-none = Kein Benutzer erfüllt diese Bedingungen.
users-all = Alle Benutzer anzeigen
history-none = Kein Ereignis ist aufgezeichnet.
user-email = E‑Mail‑Adresse
user-create-in-terminal = Legen Sie einen Benutzer im Terminal an:
user-id = ID { $id }
user-role = Rolle
user-state = Status
user-enabled = aktiviert
user-disabled = deaktiviert
user-two-step = Anmeldung in zwei Schritten
user-passkeys = { $n ->
    [one] { $n } Passkey
   *[other] { $n } Passkeys
 }
user-must-change-password = muss das Passwort ändern
user-without-password = kein Passwort
role-user = Benutzer
role-editor = Redakteur
role-admin = Administrator
user-sign-in = Um dieses Konto zu ändern, müssen Sie sich in den letzten zehn Minuten angemeldet haben.
user-changes = Dieses Konto ändern
user-sessions = Wo der Benutzer angemeldet ist
user-no-sessions = Der Benutzer ist nirgends angemeldet.
user-end-sessions = Eine dieser Sitzungen beenden
user-disconnect-apps = Eine dieser Apps trennen
user-no-apps = Keine App hat Zugriff auf dieses Konto.
user-apps-at-most = Hier werden höchstens { $n } Apps angezeigt.
user-all-apps = Alle verbundenen Apps dieses Benutzers
changes-so-far = Bisherige Änderungen
changes-newest = Neueste Änderungen
changes-older = Ältere Änderungen
user-history = Neueste Ereignisse
user-all-events = Alle Ereignisse dieses Benutzers
user-own-account = Dies ist Ihr eigenes Konto. Sie können es nur auf der Seite Ihres Kontos ändern.
user-last-administrator = Dies ist der letzte Administrator. Machen Sie zuerst einen anderen Benutzer zum Administrator.
user-no-second-factor = Es wurde nichts geändert: Der Benutzer hat weder die Anmeldung in zwei Schritten noch einen Passkey.
user-changed-meanwhile = Das Konto hat sich geändert, seit die Seite gezeigt wurde. Das Formular hatte keine Wirkung. Sehen Sie es sich unten an, und versuchen Sie es noch einmal.
user-ended-sessions = { $n ->
    [one] { $n } Sitzung
   *[other] { $n } Sitzungen
 }
user-ended-apps = { $n ->
    [one] { $shown } verbundenen App
   *[other] { $shown } verbundenen Apps
 }
user-ended-families = { $n ->
    [one] { $shown } Refresh‑Token
   *[other] { $shown } Refresh‑Token
 }
user-disable = Konto deaktivieren
user-disable-effect = Das beendet { $sessions }, { $families } und den Zugriff von { $apps } und von den Apps dieses Dienstes. Der Benutzer kann sich nicht anmelden, bis Sie das Konto wieder aktivieren.
user-enable = Konto aktivieren
user-enable-effect = Das Konto ist deaktiviert. Sobald es aktiviert ist, kann sich der Benutzer wieder anmelden.
user-sign-out = Überall abmelden
user-sign-out-effect = Das beendet { $sessions } und die Token von { $apps } und von den Apps dieses Dienstes, darunter { $families }. Der Benutzer kann sich wieder anmelden.
user-last-blocked = Anmeldung zuletzt vor { $time } gesperrt
user-unlock = Anmeldung entsperren
user-unlock-effect = { $state ->
    [disabled] Wenn die Anmeldung nach Fehlversuchen gesperrt ist, kann sich der Benutzer anmelden, sobald Sie das Konto aktivieren.
   *[enabled] Wenn die Anmeldung nach Fehlversuchen gesperrt ist, kann es der Benutzer sofort wieder versuchen.
 }
user-set-password = Startpasswort vergeben
user-set-password-effect = { $state ->
    [disabled] Ein Startpasswort wird erzeugt und Ihnen einmal angezeigt. Wenn Sie das Konto aktiviert haben, meldet sich der Benutzer damit an und muss ein anderes wählen. Alle Passkeys werden entfernt.
   *[enabled] Ein Startpasswort wird erzeugt und Ihnen einmal angezeigt. Der Benutzer meldet sich damit an und muss ein anderes wählen. Das beendet { $sessions }, alle Passkeys sowie die Token von { $apps } und von den Apps dieses Dienstes, darunter { $families }.
 }
user-reset-second-factor = Zweiten Schritt und Passkeys entfernen
user-reset-second-factor-effect = { $state ->
    [disabled] Die Anmeldung in zwei Schritten wird ausgeschaltet, und alle Passkeys werden entfernt. Wenn Sie das Konto aktiviert haben, muss ein Benutzer ohne Passwort über einen Link per E‑Mail eines wählen.
   *[enabled] Die Anmeldung in zwei Schritten wird ausgeschaltet, und alle Passkeys werden entfernt. Das beendet { $sessions } und die Token von { $apps } und von den Apps dieses Dienstes, darunter { $families }. Ein Benutzer ohne Passwort muss dann über einen Link per E‑Mail eines wählen.
 }
user-make-user = Rolle in Benutzer ändern
user-make-editor = Rolle in Redakteur ändern
user-make-admin = Rolle in Administrator ändern
user-role-effect = { $state ->
    [disabled] Das Konto bleibt deaktiviert. Die neue Rolle gilt ab der ersten Anmeldung nach dem Aktivieren.
   *[enabled] Das beendet { $sessions } und die Token von { $apps } und von den Apps dieses Dienstes, darunter { $families }. Die neue Rolle gilt ab der nächsten Anmeldung.
 }
initial-password = Startpasswort von { $email }
initial-password-explanation = Das Passwort des Kontos ist ersetzt, und der Benutzer ist überall abgemeldet. Das neue Passwort wird nur jetzt angezeigt. Übermitteln Sie es auf sicherem Weg. Bei der nächsten Anmeldung muss der Benutzer ein anderes wählen.
initial-password-kept = Zur Seite des Benutzers

## Sessions and connected apps, for administrators

sessions = Sitzungen
sessions-select = Sitzungen anzeigen
session-ends = endet spätestens in { $time }
session-by-password = mit Passwort
session-by-password-and-code = mit Passwort und Code
session-by-passkey = mit Passkey
sessions-own = In Ihrem Konto beenden
sessions-none = Keine Sitzung erfüllt diese Bedingungen.
sessions-all = Alle Sitzungen anzeigen
session-end-effect = { $families ->
    [0] Diese Sitzung von { $email } endet. Keine App dieses Dienstes hat in ihr ein Refresh‑Token erhalten.
    [one] Diese Sitzung von { $email } endet, ebenso { $families } Refresh‑Token, das eine App dieses Dienstes in ihr erhalten hat.
   *[other] Diese Sitzung von { $email } endet, ebenso { $families } Refresh‑Token, die Apps dieses Dienstes in ihr erhalten haben.
 }
consents-select = Verbundene Apps anzeigen
consents-none = Keine verbundene App erfüllt diese Bedingungen.
consents-none-yet = Noch kein Benutzer hat einer App Zugriff gegeben.
consents-all = Alle verbundenen Apps anzeigen
consent-given = Zugriff vor { $time } erteilt
consent-revoke-effect = { $families ->
    [0] Die App { $app } verliert den Zugriff auf das Konto von { $email }. Die App muss den Benutzer noch einmal fragen.
    [one] Die App { $app } verliert den Zugriff auf das Konto von { $email }, und { $families } Refresh‑Token endet. Die App muss den Benutzer noch einmal fragen.
   *[other] Die App { $app } verliert den Zugriff auf das Konto von { $email }, und { $families } Refresh‑Token enden. Die App muss den Benutzer noch einmal fragen.
 }
access-sign-in = Um hier Zugriffe zu beenden, müssen Sie sich in den letzten zehn Minuten angemeldet haben.

## Apps, for administrators

clients = Apps
clients-select = Apps anzeigen
clients-search = Namensanfang oder Client-ID
clients-none = Keine App erfüllt diese Bedingungen.
clients-all = Alle Apps anzeigen
client-id = Client-ID
client-type = Art
client-owner = Gehört zu
client-first-party = diesem Dienst
client-third-party = einem Dritten
client-own = App dieses Dienstes
client-disable = App deaktivieren
client-enable = App aktivieren
client-former-secret = Das vorige Secret gilt noch einen Tag.
client-other-changes = Namen, Redirect-URIs und Scope ändern Sie im Terminal:
client-registered-itself = hat sich selbst registriert
client-describes-itself = beschreibt sich selbst
client-spa = Single-Page-App
client-native = Installierte App
client-web = Web-App mit Server
client-service = Dienst
client-spa-explanation = Die App läuft im Browser und hat kein Secret. Sie verwendet PKCE und hält ihr Zugriffstoken im Arbeitsspeicher.
client-native-explanation = Die App läuft auf einem Telefon, einem Rechner oder in einem Terminal und hat kein Secret. Sie verwendet PKCE.
client-web-explanation = Der Server der App handelt für die Benutzer, die sich anmelden. Er weist sich durch eigene Schlüssel (empfohlen) oder durch ein Secret aus.
client-service-explanation = Das Programm handelt für sich selbst und nicht für einen Benutzer. Es weist sich durch eigene Schlüssel (empfohlen) oder durch ein Secret aus.
client-users = Benutzer, die dieser App Zugriff gegeben haben: { $users }.
client-all-users = Diese Benutzer anzeigen
client-scopes = Zugriff, um den die App bitten darf
client-redirect-uris = Redirect-URIs
client-settings = Einstellungen
client-keys-at = Die App weist sich durch eigene Schlüssel aus, die der Issuer von { $uri } holt.
client-keys = { $n ->
    [one] Die App weist sich durch { $n } eigenen Schlüssel aus.
   *[other] Die App weist sich durch { $n } eigene Schlüssel aus.
 }
client-has-secret = Die App weist sich durch ein Secret aus.
client-is-public = Die App ist öffentlich: Sie hat weder ein Secret noch Schlüssel.
client-registered-method = Die App hat das Verfahren { $method } registriert, um sich auszuweisen.
client-default-scope = Scope einer Anfrage, die keinen nennt: { $scope }
client-after-logout = Nach einer Abmeldung darf der Browser zurückkehren zu: { $uris }
client-logout-tokens = Logout-Token werden an { $uri } gesendet.
client-pushes-requests = Die App muss ihre Autorisierungsanfragen vorab übermitteln (PAR).
client-binds-tokens = Die App erhält nur Zugriffstoken, die an einen Schlüssel gebunden sind.
client-connects-devices = Die App darf Geräte durch einen Code verbinden.
client-refresh-cookie = Ein Cookie, das Skripte nicht lesen können, bewahrt die Refresh‑Token der App auf.
client-retry-window = Ein Refresh‑Token kann nach seiner Benutzung noch { $length } lang wieder gesendet werden.
client-signed-user-info = Die App erhält die Angaben über einen Benutzer als signiertes Token.
client-changed-itself = Die App hat vor { $time } ihren Namen, ihre Redirect-URIs oder ihre Schlüssel geändert. Benutzer, die vorher zugestimmt haben, werden noch einmal gefragt.
client-unused-until = Die App wurde noch nie benutzt. Sie wird in { $time } gelöscht, wenn sie bis dahin weder einen Code noch ein Token erhält.
disabled-since = Vor { $time } deaktiviert
client-secrets = Secrets
client-secret-unused = noch nicht benutzt
client-secret-ends = läuft in { $time } ab
client-sign-in = Um diese App zu ändern, müssen Sie sich in den letzten zehn Minuten angemeldet haben.
client-changes = Diese App ändern
client-all-events = Alle Ereignisse dieser App
client-invalid = So lässt sich die App nicht anlegen. Der Grund (auf Englisch):
client-changed-meanwhile = Die App hat sich geändert, seit die Seite gezeigt wurde. Das Formular hatte keine Wirkung. Sehen Sie sie sich unten an, und versuchen Sie es noch einmal.
client-rotate-secret = Neues Secret erzeugen
client-rotate-secret-effect = Ein neues Secret wird Ihnen einmal angezeigt. Das jetzige gilt noch einen Tag, damit die App ohne Ausfall wechseln kann.
client-rotate-secret-effect-of-two = Ein neues Secret wird Ihnen einmal angezeigt. Das jetzige gilt noch einen Tag, damit die App ohne Ausfall wechseln kann. Das Secret, das schon vorher ersetzt wurde, endet sofort.
client-disable-effect-users = Alle Codes und Token der App enden. Benutzer, die ihr Zugriff gegeben haben: { $users }. Refresh‑Token, die enden: { $families }. Die App kann weder eine Anmeldung beginnen noch sich ausweisen, bis Sie sie wieder aktivieren.
client-disable-effect = Alle Codes und Token der App enden. Refresh‑Token, die enden: { $families }. Die App kann weder eine Anmeldung beginnen noch sich ausweisen, bis Sie sie wieder aktivieren.
client-disable-effect-service = Alle Zugriffstoken des Dienstes enden; er hat keine Benutzer und keine Refresh‑Token. Er kann sich nicht ausweisen, bis Sie ihn wieder aktivieren.
client-enable-effect = Die App ist deaktiviert. Sobald sie aktiviert ist, kann sie wieder Benutzer anmelden. Beendete Token bleiben ungültig.
client-new-secret = Das neue Secret
client-secret = Client-Secret
client-secret-once = Das Secret wird nur jetzt angezeigt. Speichern Sie es dort, wo die App es liest, und sonst nirgends.
client-secret-kept = Zur Seite der App
new-app = App anlegen
new-app-kind = Art der App
new-app-type-missing = Wählen Sie die Art der App.
new-app-name = Name
new-app-name-hint = Benutzer sehen ihn, wenn die App um Zugriff bittet.
new-app-redirect-uris-hint = Eine je Zeile, genau wie die App sie sendet, zum Beispiel https://app.example.org/callback. Ein Dienst hat keine.
new-app-scope-hint = Trennen Sie die Namen durch Leerzeichen. Wählen Sie nur, was die App braucht.
new-app-all-scopes = Alle Scopes
new-app-first-party = Diese App gehört zu diesem Dienst, sodass Benutzer nicht um ihre Zustimmung gebeten werden.
new-app-to-review = Prüfen
new-app-review = Diese App anlegen?
new-app-secret-follows = Die App bekommt ein Secret, das auf der nächsten Seite angezeigt wird und danach nie wieder.
new-app-keys = Öffentliche Schlüssel
new-app-keys-hint = Empfohlen für eine Web-App oder einen Dienst, weil dann kein Secret bekannt werden kann: die URL des JWK-Sets oder das JWK-Set selbst. Ohne Schlüssel gibt es ein Secret. Andere Apps haben keines von beiden.
new-app-has-keys = Die App weist sich durch eigene Schlüssel aus und erhält kein Secret.
new-app-no-secret = Die App hat kein Secret. Sie verwendet PKCE.
new-app-create = App anlegen
new-app-scope = Scopes
new-app-edit = Zurück zum Formular
clients-none-yet = Es gibt noch keine App.
new-app-created = Die App ist angelegt
token-preview = Vorschau der Token einer App
token-preview-explanation = Sehen Sie die Claims, die eine App für einen Benutzer bekäme, der sich jetzt anmeldet und ihr Zugriff gibt. Es wird nichts ausgestellt.
token-preview-email-hint = Lassen Sie das Feld für einen Dienst leer, der für sich selbst handelt.
token-preview-scope-hint = Trennen Sie die Namen durch Leerzeichen. Ohne Angabe gilt die Voreinstellung der App.
token-preview-show = Claims anzeigen
token-preview-access-token = Zugriffstoken
token-preview-id-token = ID‑Token
token-preview-user-info = Antwort von /userinfo
token-preview-no-openid = Ohne den Scope openid gibt es kein ID‑Token und keine Antwort von /userinfo.
token-preview-examples = Die Zeiten gelten für jetzt. Die Werte von jti, grant_id, sid, user_epoch, cnf und at_hash sind Beispiele; acr und amr gelten für eine Anmeldung mit allem, was das Konto verlangt.
token-preview-no-client = Keine App hat diese Client-ID.
token-preview-no-user = Kein Benutzer hat diese Adresse.
token-preview-disabled = Die App oder das Konto ist deaktiviert, sodass die App keine Token bekommt.
token-preview-scope = Die App darf nur um diese Scopes bitten: { $scope }.
client-preview = Vorschau der Token dieser App
token-preview-outdated = Der Issuer akzeptiert das Dokument dieser App nicht oder konnte es eine Woche lang nicht lesen, sodass die App keine Token bekommt.
