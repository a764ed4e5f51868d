// Adds to each password field a button that shows the password, and to a new password the number of its characters and the rules that it
// breaks. Adds to each text to keep a button that copies it. Shows the buttons that print a page, and exact times in the time zone of the browser.
"use strict";
const texts = document.currentScript.dataset;

// The query of a mailed link has a token, which a cookie keeps for a reload.
if (document.querySelector("[data-hide-query]")) history.replaceState(null, "", location.pathname);

// The rules of the module `passwords` of the issuer, but for its list of common passwords, which the issuer has alone.
const MAX_LENGTH = 128;
const MAX_COMPARED = 40;
const MAX_ADDED = 4;

const isSequence = (password) => {
  const codes = [...password].map((character) => character.codePointAt(0));
  const step = codes[1] - codes[0];
  return Math.abs(step) <= 1 && codes.every((code, i) => i === 0 || code - codes[i - 1] === step);
};

const isLike = (password, address) => {
  const [, local, domain] = /^(.*)@(.*)$/.exec(address) ?? [];
  const words = [
    password,
    password.replace(/\P{Alphabetic}+$/u, ""),
    password.replace(/^\P{Alphabetic}+|\P{Alphabetic}+$/gu, ""),
  ];
  const isNear = (word) => word && [...password].length - [...word].length <= MAX_ADDED;
  return words.some((word) => isNear(word) && [address, local, domain].includes(word));
};

// Returns what is wrong with a password that is long enough, or says that it is.
const advice = (password, address) => {
  const n = [...password].length;
  if (n > MAX_LENGTH) return texts.tooLong;
  if (n <= MAX_COMPARED) {
    if (isSequence(password.toLowerCase())) return texts.sequence;
    if (isLike(password.toLowerCase(), address.toLowerCase())) return texts.likeAddress;
  }
  return texts.enough;
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
    const judge = () => {
      // The issuer counts the characters in this form too.
      const password = field.value.normalize("NFC");
      const n = [...password].length;
      count.textContent = texts.count.replace("{n}", n).replace("{min}", field.minLength);
      const text = n < field.minLength ? "" : advice(password, address?.value ?? "");
      // Screen readers read each change.
      if (verdict.textContent !== text) verdict.textContent = text;
      verdict.classList.toggle("good", text === texts.enough);
    };
    field.addEventListener("input", judge);
    field.after(count);
    field.parentElement.after(verdict);
  }
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

for (const time of document.querySelectorAll("time")) {
  const options = { dateStyle: "full", timeStyle: "medium" };
  time.title = new Date(time.dateTime).toLocaleString(document.documentElement.lang, options);
}
