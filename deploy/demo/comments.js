// The comments on a post.
import { pagedList, poster } from "./api.js";
import { action, el, field, form } from "./dom.js";
import { words } from "./words.js";

// Makes the list for this user, who can delete the own comments.
export function commentsView(api, userId, postId) {
  const path = `/posts/${postId}/comments`;
  const itemOf = (comment, remove) =>
    commentItem(comment, String(comment.author_id) === userId && deletion(api, path, comment, remove));
  const list = pagedList(api, path, itemOf, { id: `comments-${postId}`, empty: words.noComments });
  const create = poster(api, path);
  const text = field(`comment-${postId}`, words.comment, el("textarea", { name: "body", rows: 2, required: true }));
  const fields = form([text], { [`create-comment-${postId}`]: words.createComment }, async ({ body }) => {
    list.prepend(await create({ body: body.value }));
    fields.reset();
  });
  return el("div", {}, fields, list.element);
}

function commentItem({ author_id: author, body }, actions) {
  return el("li", {}, el("p", {}, body, el("br"), el("span", { class: "hint" }, words.ofUser(author))), actions);
}

// The items of a list have no entity tag: the comment alone has it.
function deletion(api, path, { id, tag }, remove) {
  const own = `${path}/${id}`;
  return action(words.delete, async () => {
    tag ??= (await api(own)).headers.get("ETag");
    await api(own, { method: "DELETE", headers: { "If-Match": tag } });
    remove();
  }, { id: `delete-comment-${id}`, class: "small danger" }).element;
}
