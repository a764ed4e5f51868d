// The panel of calls. It sends all requests of the page, and shows them without their secrets.
import { el } from "./dom.js";
import { words } from "./words.js";

const MAX_CALLS = 50;
// In characters.
const MAX_BODY = 4000;
const REQUEST_HEADERS = [
  "Authorization",
  "Content-Type",
  "If-Match",
  "If-None-Match",
  "Idempotency-Key",
  "x-csrf-token",
];
const RESPONSE_HEADERS = [
  "X-Correlation-Id",
  "Content-Type",
  "ETag",
  "Location",
  "Link",
  "Idempotent-Replayed",
  "Retry-After",
  "RateLimit",
  "WWW-Authenticate",
];
const SECRET_MEMBERS = ["access_token", "refresh_token", "id_token", "token"];
const SECRET_FIELDS = [...SECRET_MEMBERS, "code", "code_verifier"];

export class Calls {
  #hint = el("p", { class: "hint" }, words.callsHint(MAX_CALLS));
  #list = el("div", { id: "calls" });
  #lost;

  element = el("div", {}, el("h2", {}, words.calls), this.#hint, this.#list);

  // The option `fetch` of Latchkey.
  async send(request) {
    const entry = this.#add(request, await request.clone().text());
    const [response, body] = await answer(request).catch((error) => {
      entry.end(words.noAnswer);
      throw error;
    });
    const isLost = response.ok && request.headers.get("Idempotency-Key") === this.#lost?.key;
    entry.end(isLost ? `${response.status}, ${words.lost}` : response.status, response.headers, body);
    if (isLost) this.#lose(body);
    return response;
  }

  // Loses the next successful answer to a request with this key, as a broken connection does: the server has done its
  // work, and the page does not know. Resolves with the body of that answer, for the comparison.
  loseAnswer(key) {
    return new Promise((resolve) => { this.#lost = { key, resolve }; });
  }

  // Stops losing answers, even if none was lost yet.
  keepAnswers() {
    this.#lost = undefined;
  }

  #lose(body) {
    const { resolve } = this.#lost;
    this.keepAnswers();
    resolve(JSON.parse(body));
    throw new TypeError(words.lost);
  }

  #add({ method, url, headers }, body) {
    const { pathname, search } = new URL(url);
    const status = el("span", { class: "tag" }, words.waiting);
    const call = el(
      "details",
      { class: "call" },
      el("summary", {}, el("code", {}, `${method} ${pathname}${search}`), " ", status),
      ...message(words.request, headers, REQUEST_HEADERS, body),
    );
    this.#list.prepend(call);
    while (this.#list.children.length > MAX_CALLS) this.#list.lastElementChild.remove();
    const end = (text, headers = new Headers(), body = "") => {
      status.textContent = text;
      call.append(...message(words.response, headers, RESPONSE_HEADERS, body));
    };
    return { end };
  }
}

async function answer(request) {
  const response = await fetch(request);
  return [response, await response.clone().text()];
}

function message(heading, headers, names, body) {
  const lines = names.filter((name) => headers.has(name)).map((name) => `${name}: ${header(name, headers.get(name))}`);
  const shown = bodyWithoutSecrets(body, headers.get("Content-Type") ?? "");
  const text = [...lines, "", shown.slice(0, MAX_BODY), shown.length > MAX_BODY ? words.cut : ""];
  return [el("p", { class: "hint" }, heading), el("pre", {}, el("code", {}, text.join("\n").trim()))];
}

function header(name, value) {
  if (name === "Authorization") return value.replace(/ .*/, " …");
  return name === "x-csrf-token" ? "…" : value;
}

function bodyWithoutSecrets(body, type) {
  if (type.startsWith("application/x-www-form-urlencoded")) {
    const fields = [...new URLSearchParams(body)];
    return fields.map(([name, value]) => `${name}=${SECRET_FIELDS.includes(name) ? "…" : value}`).join("\n");
  }
  const hide = (name, value) => (SECRET_MEMBERS.includes(name) && typeof value === "string" ? "…" : value);
  try {
    return JSON.stringify(JSON.parse(body, hide), null, 2);
  } catch {
    return body;
  }
}
