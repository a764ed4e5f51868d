// Adds to each password field a button that shows the password, and to a new password the number of its characters and what the issuer
// thinks of it. Adds to each text to keep a button that copies it. Tells if a captcha did not load. Shows the buttons that print a page, and
// exact times in the time zone of the browser.
"use strict";
const texts = document.currentScript.dataset;

// The query of a mailed link has a token, which a cookie keeps for a reload.
if (document.querySelector("[data-hide-query]")) history.replaceState(null, "", location.pathname);

// The pause in typing after which the issuer is asked about a new password, in milliseconds.
const PAUSE = 300;
// The time in which the widget of a captcha has to appear, in milliseconds.
const WIDGET_WAIT = 5000;

// Asks the issuer about the password in a field, which has its rules and a long list of common passwords. Fails if there is no answer.
const ask = async (field, address, signal) => {
  const answer = await fetch(`/password/verdict?ui_locales=${document.documentElement.lang}`, {
    method: "POST",
    headers: { accept: "application/json" },
    body: new URLSearchParams({
      csrf: field.form.elements.csrf.value,
      new_password: field.value,
      email: address?.value ?? "",
    }),
    signal,
  });
  if (!answer.ok) throw new Error(`the status is ${answer.status}`);
  return answer.json();
};

for (const field of document.querySelectorAll(".password > input")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "reveal";
  button.setAttribute("aria-controls", field.id);
  const show = (isShown) => {
    field.type = isShown ? "text" : "password";
    button.textContent = isShown ? texts.hide : texts.show;
    button.ariaLabel = isShown ? texts.hideLabel : texts.showLabel;
  };
  show(false);
  button.addEventListener("click", () => show(field.type === "password"));
  // Browsers keep the text of other fields for later forms.
  field.form.addEventListener("submit", () => show(false));
  field.after(button);

  if (field.minLength > 0) {
    const count = document.createElement("span");
    count.className = "count";
    const verdict = document.createElement("p");
    verdict.className = "verdict";
    verdict.setAttribute("role", "status");
    const address = field.form.querySelector("input[type=email]");
    const say = (text, isGood) => {
      // Screen readers read each change.
      if (verdict.textContent !== text) verdict.textContent = text;
      verdict.classList.toggle("good", isGood);
      verdict.ariaBusy = "false";
    };
    let pause;
    let request = new AbortController();
    const judge = () => {
      // The issuer counts the characters in this form too.
      const n = [...field.value.normalize("NFC")].length;
      count.textContent = texts.count.replace("{n}", n).replace("{min}", field.minLength);
      clearTimeout(pause);
      request.abort();
      if (n < field.minLength) return say("", false);
      verdict.ariaBusy = "true";
      pause = setTimeout(async () => {
        request = new AbortController();
        const { signal } = request;
        try {
          const { text, acceptable } = await ask(field, address, signal);
          say(text, acceptable);
        } catch {
          // Without an answer the length alone is known. The issuer judges the password when the form is sent.
          if (!signal.aborted) say(texts.enough, true);
        }
      }, PAUSE);
    };
    field.addEventListener("input", judge);
    address?.addEventListener("input", () => field.value && judge());
    field.after(count);
    // The hint stays beside the field while the line of the verdict is empty.
    field.parentElement.nextElementSibling.after(verdict);
  }
}

// A captcha whose script is blocked or whose service is down leaves its place empty and reports nothing.
// A slow one may still appear, and then the message goes.
for (const widget of document.querySelectorAll("[data-sitekey]")) {
  const message = widget.nextElementSibling;
  setInterval(() => (message.hidden = widget.hasChildNodes()), WIDGET_WAIT);
}

for (const button of document.querySelectorAll("[data-action=print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}

// Browsers let only secure pages write to the clipboard.
if (navigator.clipboard) {
  for (const source of document.querySelectorAll("main [data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "small quiet";
    button.textContent = texts.copy;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(source.dataset.copy || source.innerText.trim());
      } catch {
        // The user denied access to the clipboard. The text can be selected.
        return;
      }
      button.textContent = texts.copied;
      setTimeout(() => (button.textContent = texts.copy), 2000);
    });
    source.after(button);
  }
}

// Typing replaces a value that has to be corrected.
document.querySelector("input[autofocus][aria-invalid]")?.select();

for (const time of document.querySelectorAll("time")) {
  const options = { dateStyle: "full", timeStyle: "medium" };
  time.title = new Date(time.dateTime).toLocaleString(document.documentElement.lang, options);
}
