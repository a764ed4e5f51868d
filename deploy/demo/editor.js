// The change of a post. `If-Match` with the tag that the user read prevents overwriting the changes of others.
import { action, correlation, el, form } from "./dom.js";
import { merge } from "./merge.js";
import { contentOf, postFields, postOf } from "./post.js";
import { words } from "./words.js";

// Makes the form for a post. `show` gets each version that was saved.
export function editor(api, id, show) {
  const path = `/posts/${id}`;
  const prefix = `edit-${id}`;
  const place = el("div");
  // The version that the user read, and its entity tag.
  let base;
  let tag;
  let notes = [];
  const keep = async (response) => {
    const post = await response.json();
    tag = response.headers.get("ETag");
    base = contentOf(post);
    return post;
  };
  const say = (message, newNotes = []) => {
    for (const note of notes) note.remove();
    notes = newNotes;
    place.replaceChildren(message);
  };
  const save = async (elements) => {
    const headers = { "If-Match": tag };
    const response = await api(path, { method: "PATCH", json: postOf(elements), headers, accepted: 412 });
    if (response.status === 412) {
      const former = base;
      // From here on the tag is that of the other version, whose changes the user sees.
      await keep(await api(path));
      return say(conflict(response), merge(elements, former, base));
    }
    show(await keep(response));
    say(el("p", { class: "success", role: "status" }, words.saved(tag)));
  };
  const read = action(words.readAgain, async () => {
    const post = await keep(await api(path));
    show(post);
    const fields = form(postFields(prefix, post), { [`${prefix}-save`]: words.save }, save);
    element.replaceChildren(fields, place);
  });
  const element = el("div", { class: "versions" }, read.element);
  read.run();
  return element;
}

function conflict({ headers }) {
  const id = correlation(headers.get("X-Correlation-Id"));
  return el("p", { class: "notice", role: "alert" }, words.conflict, ...id);
}
