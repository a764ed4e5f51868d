// Posts: the list with its pages, and new posts.
import { pagedList, poster } from "./api.js";
import { commentsView } from "./comments.js";
import { details, el, form } from "./dom.js";
import { editor } from "./editor.js";
import { postFields, postOf } from "./post.js";
import { words } from "./words.js";

// Makes the list for this user, who can change and delete the own posts.
export function postsView(api, userId) {
  const itemOf = (post, remove) => postItem(api, userId, post, remove);
  const list = pagedList(api, "/posts", itemOf, { id: "posts", empty: words.noPosts });
  const create = poster(api, "/posts");
  const fields = form(postFields("new-post"), { "create-post": words.createPost }, async (elements) => {
    list.prepend(await create(postOf(elements)));
    fields.reset();
  });
  return el("div", {}, el("h2", {}, words.posts), fields, list.element);
}

function postItem(api, userId, post, remove) {
  const title = el("strong");
  const hint = el("span", { class: "hint" });
  const body = el("p");
  const show = (post) => {
    title.textContent = post.title;
    hint.textContent = words.byAuthor(post);
    body.textContent = post.body;
  };
  show(post);
  return el(
    "li",
    { id: `post-${post.id}` },
    el("p", {}, title, el("br"), hint),
    body,
    String(post.author_id) === userId && details(words.edit, () => editor(api, post.id, show, remove)),
    details(words.comments, () => commentsView(api, userId, post.id)),
  );
}
