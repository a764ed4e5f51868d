// The change of a post. `If-Match` with the tag that the user read prevents overwriting the changes of others.
import { action, correlation, details, el, form } from "./dom.js";
import { merge } from "./merge.js";
import { changesOf, contentOf, postFields } from "./post.js";
import { words } from "./words.js";

// Makes the form for a post. `show` gets each version of the server. `remove` is called when the post is deleted.
export function editor(api, id, show, remove) {
  const path = `/posts/${id}`;
  const prefix = `edit-${id}`;
  const place = el("div");
  let fields;
  // The version that the user read, and its entity tag.
  let base;
  let tag;
  let notes = [];
  const keep = async (response) => {
    const post = await response.json();
    tag = response.headers.get("ETag");
    base = contentOf(post);
    show(post);
    return post;
  };
  const say = (message, newNotes = []) => {
    for (const note of notes) note.remove();
    notes = newNotes;
    place.replaceChildren(message);
  };
  // From here on the tag is that of the other version, whose changes the user sees.
  const mergeOther = async (response, message) => {
    const former = base;
    await keep(response);
    say(message, merge(fields.elements, former, base));
  };
  // Changes or deletes the version that the user read, unless there is another one.
  const change = async (init, conflict) => {
    const response = await api(path, { ...init, headers: { "If-Match": tag }, accepted: 412 });
    if (response.status === 412) return mergeOther(await api(path), notice(conflict, response));
    if (response.status === 204) return remove();
    await keep(response);
    say(success(words.saved(tag)));
  };
  const save = (elements) => change({ method: "PATCH", json: changesOf(elements, base) }, words.conflict);
  const again = action(words.readAgain, async () => {
    const response = await api(path, { headers: { "If-None-Match": tag }, accepted: 304 });
    if (response.status === 304) place.replaceChildren(success(words.unchanged(tag)));
    else await mergeOther(response, notice(words.changed, response));
  }, { id: `${prefix}-again` });
  const deletion = () => {
    const button = action(words.delete, () => change({ method: "DELETE" }, words.deleteConflict), {
      id: `${prefix}-delete`,
      class: "small danger",
    });
    return el("div", {}, el("p", { class: "hint" }, words.deleteHint), button.element);
  };
  const read = action(words.readAgain, async () => {
    fields = form(postFields(prefix, await keep(await api(path))), { [`${prefix}-save`]: words.save }, save);
    element.replaceChildren(el("div", {}, fields, place, again.element, details(words.delete, deletion)));
  });
  const element = el("div", { class: "versions" }, read.element);
  read.run();
  return element;
}

function success(text) {
  return el("p", { class: "success", role: "status" }, text);
}

function notice(text, { headers }) {
  return el("p", { class: "notice", role: "alert" }, text, ...correlation(headers.get("X-Correlation-Id")));
}
