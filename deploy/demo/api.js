// Calls of the API.
import { LatchkeyError } from "./latchkey-auth.js";
import { action, el } from "./dom.js";
import { words } from "./words.js";

// Returns a function that calls the API at this URL. It fails with the error of the response, unless the response has
// the status `accepted`.
export function apiOf(latchkey, base) {
  return async (path, { method = "GET", json, headers = {}, accepted } = {}) => {
    const body = json && JSON.stringify(json);
    const type = json && { "Content-Type": "application/json" };
    // The token alone authenticates the call: the browser's session with the issuer is not the app's.
    const init = { method, body, headers: { ...type, ...headers }, credentials: "omit" };
    const response = await latchkey.fetch(base + path, init);
    if (!response.ok && response.status !== accepted) throw await LatchkeyError.from(response);
    return response;
  };
}

// Makes a function that posts JSON to this path with an idempotency key, and returns the answer, with its entity tag as
// `tag`. The key stays the same until this body has succeeded, so that nothing happens twice if the user repeats what
// failed. Another body is another operation, with a key of its own. `begin` gets the key before the call.
export function poster(api, path) {
  let key;
  let pending;
  return async (json, begin = () => {}) => {
    const body = JSON.stringify(json);
    if (body !== pending) [key, pending] = [crypto.randomUUID(), body];
    begin(key);
    const response = await api(path, { method: "POST", json, headers: { "Idempotency-Key": key } });
    const made = { ...(await response.json()), tag: response.headers.get("ETag") };
    if (body === pending) pending = undefined;
    return made;
  };
}

// Makes a list that is read page by page with its cursor. `itemOf` makes the element of an item, and gets the function
// that removes it.
export function pagedList(api, path, itemOf, { id, empty }) {
  const list = el("ul", { class: "items", role: "list", id });
  const none = el("p", { class: "empty", hidden: true }, empty);
  let cursor;
  const more = action(words.more, async () => {
    const query = cursor ? `?cursor=${encodeURIComponent(cursor)}` : "";
    const page = await (await api(path + query)).json();
    cursor = page.next;
    list.append(...page.items.map(elementOf));
    show();
  }, { id: `more-${id}` });
  const show = () => {
    none.hidden = list.childElementCount > 0;
    more.button.hidden = !cursor;
  };
  const elementOf = (item) => {
    const element = itemOf(item, () => {
      element.remove();
      show();
    });
    return element;
  };
  const prepend = (item) => {
    list.prepend(elementOf(item));
    show();
  };
  more.run();
  return { element: el("div", {}, list, none, more.element), prepend };
}
