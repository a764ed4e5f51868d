// The change of a post. `If-Match` with the tag that the user read prevents overwriting the changes of others.
import { action, correlation, el, form } from "./dom.js";
import { postFields, postOf } from "./post.js";
import { words } from "./words.js";

// Makes the form for a post. `show` gets each version that was saved.
export function editor(api, id, show) {
  const path = `/posts/${id}`;
  const prefix = `edit-${id}`;
  const place = el("div");
  let tag;
  const keepTag = async (response) => {
    tag = response.headers.get("ETag");
    return response.json();
  };
  const save = async (elements) => {
    const headers = { "If-Match": tag };
    const response = await api(path, { method: "PATCH", json: postOf(elements), headers, accepted: 412 });
    if (response.status === 412) {
      // From here on the tag is that of the other version, which the user sees and may replace.
      place.replaceChildren(conflict(await keepTag(await api(path)), elements, response));
      return;
    }
    show(await keepTag(response));
    place.replaceChildren(el("p", { class: "success", role: "status" }, words.saved(tag)));
  };
  const read = action(words.readAgain, async () => {
    const post = await keepTag(await api(path));
    show(post);
    const fields = form(postFields(prefix, post), { [`${prefix}-save`]: words.save }, save);
    element.replaceChildren(fields, place);
  });
  const element = el("div", { class: "versions" }, read.element);
  read.run();
  return element;
}

// Shows the other version beside the fields, and offers to take it over into them.
function conflict(other, elements, response) {
  const takeOver = action(words.takeOver, () => {
    for (const name of ["title", "body", "status"]) elements[name].value = other[name];
  }, { id: `take-over-${other.id}` });
  return el(
    "div",
    {},
    el("p", { class: "notice", role: "alert" }, words.conflict,
      ...correlation(response.headers.get("X-Correlation-Id"))),
    el("h3", {}, words.otherVersion),
    el("p", {}, el("strong", {}, other.title), " ", el("span", { class: "tag" }, other.status)),
    el("p", {}, other.body),
    takeOver.element,
  );
}
