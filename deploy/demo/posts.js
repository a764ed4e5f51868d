// Posts: the list with its pages, and new posts.
import { keyed, pagedList } from "./api.js";
import { el, field, form, select } from "./dom.js";
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

export function postsView(api) {
  const list = pagedList(api, "/posts", postItem, { id: "posts", empty: words.noPosts });
  const create = keyed((key, json) =>
    api("/posts", { method: "POST", json, headers: { "Idempotency-Key": key } }));
  const fields = form(postFields("new-post"), { "create-post": words.createPost }, async (elements) => {
    const response = await create(postOf(elements));
    list.prepend(await response.json());
    fields.reset();
  });
  return el("div", {}, el("h2", {}, words.posts), fields, list.element);
}

function postItem(post) {
  const title = el("strong");
  const hint = el("span", { class: "hint" });
  const body = el("p");
  const show = (post) => {
    title.textContent = post.title;
    hint.textContent = words.byAuthor(post);
    body.textContent = post.body;
  };
  show(post);
  return el("li", { id: `post-${post.id}` }, el("p", {}, title, el("br"), hint), body);
}
