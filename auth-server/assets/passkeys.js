// Asks an authenticator for the answer to the challenge of a form, and submits the form with it. A sign-in form offers passkeys in the list
// of addresses too.
const form = document.querySelector("form[data-passkey]");
const message = document.querySelector("[data-passkey-message]");
const isSupported = "PublicKeyCredential" in window && "parseRequestOptionsFromJSON" in PublicKeyCredential;
// The last tenth of the time in which the issuer accepts answers is for the dialog.
const endsAt = performance.now() + form?.dataset.seconds * 900;
// Browsers allow one request at a time.
let request = new AbortController();

function begin() {
  request.abort();
  request = new AbortController();
  return request.signal;
}

async function ask(mediation, signal) {
  const options = JSON.parse(form.dataset.options);
  const credential = await (form.dataset.passkey === "create"
    ? navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options), signal })
    : navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options), mediation, signal }));
  // Without this function, as in some extensions, the message of a failure is shown.
  form.elements.credential.value = JSON.stringify(credential.toJSON());
  form.submit();
}

function show(text) {
  message.textContent = text;
  message.hidden = text === "";
  if (text !== "") {
    // It tells what the attempt before achieved.
    document.querySelector(".success")?.remove();
  }
}

async function askInDialog() {
  const signal = begin();
  show("");
  try {
    await ask("optional", signal);
  } catch (error) {
    if (signal.aborted) {
      return;
    }
    // The user closed the dialog, or it waited for too long.
    const isCanceled = error.name === "NotAllowedError";
    show(isCanceled ? "" : error.name === "InvalidStateError" ? message.dataset.exists : message.dataset.failed);
    offerInList();
  }
}

async function offerInList() {
  const signal = begin();
  const isAvailable = form.dataset.passkey === "get" && (await PublicKeyCredential.isConditionalMediationAvailable?.());
  if (!isAvailable || signal.aborted) {
    return;
  }
  const controller = request;
  setTimeout(() => controller.abort(), endsAt - performance.now());
  // Without an answer, the user enters the password.
  ask("conditional", signal).catch(() => {});
}

// Tells authenticators which passkeys the account has, so that they stop offering those that it removed or did not accept.
async function signalAccepted() {
  const { rp, user, excludeCredentials } = JSON.parse(form.dataset.options);
  const allAcceptedCredentialIds = excludeCredentials.map(({ id }) => id);
  await PublicKeyCredential.signalAllAcceptedCredentials?.({ rpId: rp.id, userId: user.id, allAcceptedCredentialIds });
}

if (form && isSupported) {
  form.hidden = false;
  for (const element of document.querySelectorAll("[data-without-passkeys]")) {
    element.hidden = true;
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (performance.now() < endsAt) {
      askInDialog();
    } else {
      location.assign(form.dataset.page);
    }
  });
  offerInList();
  if (form.dataset.passkey === "create") {
    // Without the signal, the user deletes them.
    signalAccepted().catch(() => {});
  }
}
