// The comments on a post.
import { pagedList, poster } from "./api.js";
import { el, field, form } from "./dom.js";
import { words } from "./words.js";

export function commentsView(api, postId) {
  const path = `/posts/${postId}/comments`;
  const list = pagedList(api, path, commentItem, { id: `comments-${postId}`, empty: words.noComments });
  const create = poster(api, path);
  const text = field(`comment-${postId}`, words.comment, el("textarea", { name: "body", rows: 2, required: true }));
  const fields = form([text], { [`create-comment-${postId}`]: words.createComment }, async ({ body }) => {
    list.prepend(await create({ body: body.value }));
    fields.reset();
  });
  return el("div", {}, fields, list.element);
}

function commentItem({ author_id: author, body }) {
  return el("li", {}, el("p", {}, body, el("br"), el("span", { class: "hint" }, words.ofUser(author))));
}
