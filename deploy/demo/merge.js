// The merge of two versions of a post, field by field.
import { differences } from "./differences.js";
import { el } from "./dom.js";
import { words } from "./words.js";

// Merges the other version into the form, whose fields began as `base`: a field that only the other version changed
// gets its value, and for one that both changed the user chooses. Returns the notes about this at the fields.
export function merge(elements, base, other) {
  return Object.keys(base).flatMap((name) => {
    const control = elements[name];
    const [was, mine, theirs] = [base[name], control.value, other[name]];
    if (theirs === was || theirs === mine) return [];
    const note = mine === was ? taken(control, was, theirs) : choice(control, was, theirs);
    control.after(note);
    return [note];
  });
}

function taken(control, was, theirs) {
  control.value = theirs;
  return el("p", { class: "notice", id: `${control.id}-taken` }, words.taken, el("br"), differences(was, theirs));
}

function choice(control, was, theirs) {
  const option = (name, value, checked) => {
    const text = el("span", {}, words[name], el("br"), differences(was, value));
    // What is typed belongs to the chosen version, so that the other one can be tried without loss.
    const type = () => {
      value = control.value;
      text.lastChild.replaceWith(differences(was, value));
    };
    const choose = () => {
      control.value = value;
      control.oninput = type;
    };
    if (checked) choose();
    const attributes = { type: "radio", name: `${control.id}-version`, id: `${control.id}-${name}`, checked };
    return el("label", { class: "choice" }, el("input", { ...attributes, onchange: choose }), text);
  };
  const options = [option("mine", control.value, true), option("theirs", theirs, false)];
  return el("div", { class: "notice" }, el("fieldset", {}, el("legend", {}, words.bothChanged), ...options));
}
