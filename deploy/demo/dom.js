// Elements of the page, in the classes of the style sheet of all pages.
import { ConnectionError, SessionEndedError, SignInError } from "./latchkey-auth.js";
import { settings } from "./settings.js";
import { words } from "./words.js";

// Makes an element. Attributes whose names begin with `on` are listeners. Texts never become markup.
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
}

// Shows an error, its correlation id, what to do next, and where it is explained.
export function errorNotice(error) {
  const { description = String(error), correlationId } = error;
  const next = [wayOn(error), " ", explanation(error)];
  return el("p", { class: "error", role: "alert" }, description, ...correlation(correlationId), el("br"), ...next);
}

// Makes a line with a correlation id, if there is one, for the end of a paragraph.
export function correlation(id) {
  return id ? [el("br"), `${words.correlationId} `, el("code", {}, id)] : [];
}

function wayOn(error) {
  if (error instanceof SessionEndedError || error instanceof SignInError) return words.signInAgain;
  if (error.retryAfter) return words.tryLater(error.retryAfter);
  return error instanceof ConnectionError && words.tryAgain;
}

// Links to an explanation: the API reference for an error response, a page of the module for its own errors.
function explanation({ status, documentation }) {
  if (status) return el("a", { href: `${settings.api}/docs` }, words.reference);
  return documentation && el("a", { href: documentation }, words.explanation);
}

// Runs the task of a button unless it is running, and shows its error in `place`.
async function attempt(button, place, task) {
  if (button.ariaBusy === "true") return;
  button.ariaBusy = "true";
  place.replaceChildren();
  try {
    await task();
  } catch (error) {
    place.replaceChildren(errorNotice(error));
  } finally {
    button.ariaBusy = "false";
  }
}

// Makes a button with a place for its errors. `run` does what a click does.
export function action(label, task, attributes) {
  const place = el("div");
  const button = el("button", { type: "button", class: "small quiet", ...attributes }, label);
  const run = () => attempt(button, place, task);
  button.addEventListener("click", run);
  return { element: el("div", {}, button, place), button, run };
}

// Makes a form. `buttons` has the label of each button by its id, the usual one first. `task` gets the fields
// and the id of the button.
export function form(fields, buttons, task) {
  const place = el("div");
  const button = ([id, label], n) =>
    el("button", { type: "submit", class: n > 0 ? "small quiet" : "small", id }, label);
  const made = Object.entries(buttons).map(button);
  const element = el("form", { onsubmit }, ...fields, el("p", { class: "decision" }, ...made), place);
  function onsubmit(event) {
    event.preventDefault();
    attempt(event.submitter ?? made[0], place, () => task(element.elements, event.submitter?.id));
  }
  return element;
}

export function field(id, label, control) {
  control.id = id;
  return el("div", {}, el("label", { for: id }, label), control);
}

export function select(name, options) {
  return el("select", { name }, ...options.map((value) => el("option", { value }, value)));
}

// Makes a part of the page whose content is made when it is opened first.
export function details(summary, make) {
  const element = el("details", {}, el("summary", {}, summary));
  element.addEventListener("toggle", () => element.append(make()), { once: true });
  return element;
}
