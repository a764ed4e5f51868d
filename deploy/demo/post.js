// The fields of a post.
import { el, field, select } from "./dom.js";
import { words } from "./words.js";

// Makes the fields of a post, whose ids begin with this prefix.
export function postFields(prefix, { title = "", body = "", status = "published" } = {}) {
  const input = el("input", { name: "title", value: title, required: true, autocomplete: "off" });
  const chosen = select("status", ["published", "draft"]);
  chosen.value = status;
  return [
    field(`${prefix}-title`, words.title, input),
    field(`${prefix}-body`, words.text, el("textarea", { name: "body", rows: 4 }, body)),
    field(`${prefix}-status`, words.status, chosen),
  ];
}

// Reads the fields of a post.
export function postOf({ title, body, status }) {
  return { title: title.value, body: body.value, status: status.value };
}

// Reads the fields that differ from those of a version, so that a change leaves the others exactly as they are.
export function changesOf(elements, version) {
  return Object.fromEntries(Object.entries(postOf(elements)).filter(([name, value]) => value !== version[name]));
}

// Returns the fields of a version as a form has them: the title is on one line, and lines of the text end alike.
export function contentOf({ title, body, status }) {
  return { title: title.replace(/[\r\n]/g, ""), body: body.replace(/\r\n?/g, "\n"), status };
}
