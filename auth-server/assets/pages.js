// Adds to each password field a button that shows the password, and to a new password the number of its characters. Adds to each text to
// keep a button that copies it. Shows the buttons that print a page, and exact times in the time zone of the browser.
"use strict";
const texts = document.currentScript.dataset;

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
    field.addEventListener("input", () => {
      // The issuer counts the characters in this form too.
      const n = [...field.value.normalize("NFC")].length;
      count.textContent = texts.count.replace("{n}", n).replace("{min}", field.minLength);
      count.classList.toggle("enough", n >= field.minLength);
    });
    field.after(count);
  }
}

for (const button of document.querySelectorAll("[data-action=print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}

// Browsers let only secure pages write to the clipboard.
if (navigator.clipboard) {
  for (const source of document.querySelectorAll("[data-copy]")) {
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
