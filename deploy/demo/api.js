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

// Gives an operation its idempotency key: the same one until it has succeeded, so that nothing happens twice if the
// user repeats what failed.
export function keyed(operation) {
  let key = crypto.randomUUID();
  return async (...parameters) => {
    const result = await operation(key, ...parameters);
    key = crypto.randomUUID();
    return result;
  };
}

// Makes a list that is read page by page with its cursor. `itemOf` makes the element of an item.
export function pagedList(api, path, itemOf, { id, empty }) {
  const list = el("ul", { class: "items", role: "list", id });
  const none = el("p", { class: "empty", hidden: true }, empty);
  let cursor;
  const more = action(words.more, async () => {
    const query = cursor ? `?cursor=${encodeURIComponent(cursor)}` : "";
    const page = await (await api(path + query)).json();
    cursor = page.next;
    list.append(...page.items.map(itemOf));
    show();
  }, { id: `more-${id}` });
  const show = () => {
    none.hidden = list.childElementCount > 0;
    more.button.hidden = !cursor;
  };
  const prepend = (item) => {
    list.prepend(itemOf(item));
    show();
  };
  more.run();
  return { element: el("div", {}, list, none, more.element), prepend };
}
