// Shows security events as they are recorded, above those of the page.
const box = document.querySelector("[data-events]");
const table = document.querySelector("table.cards");
const status = box.querySelector("[role=status]");
const button = box.querySelector("button");
// A page that is open for days must not grow for ever.
const MAX_ROWS = 200;
// A page that nobody looks at must not keep the session of its administrator in use.
const FOLLOWED_FOR = 30 * 60 * 1000;
// The responses with an error, one after another, after which the page gives up: those of two minutes.
const MAX_FAILURES = 9;
const MAX_PAUSE = 30;
const labels = [...table.querySelectorAll("thead th")].map((heading) => heading.textContent);
// A stream that connects again may send an event twice, and some that the page has already.
const shown = new Set(Array.from(table.querySelectorAll("[data-id]"), (row) => Number(row.dataset.id)));
const newest = Number(box.dataset.newest);
const missing = new Set(box.dataset.missing.split(" ").map(Number));
let count = 0;
let source;
// The position of the last event, from which another stream goes on.
let position;
let end;
let retry;

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}

// A link to the events that have this value. Its label may have characters that turn the direction of the text.
function link(parameter, value, label = value) {
  const query = new URLSearchParams({ [parameter]: value });
  const made = element("a", "", { href: `/admin/events?${query}` });
  made.append(label === value ? label : element("bdi", label));
  return made;
}

function cell(column, parameter, value, label = value) {
  const made = element("td", "", { role: "cell", "data-label": labels[column] });
  if (value !== null) made.append(link(parameter, value, label));
  return made;
}

// Builds the row that a reload would show, except for the form of the time.
function row(event) {
  const made = element("tr", "", { role: "row", "data-id": event.id });
  const { words } = event;
  const heading = element("th", words.what, { scope: "row", role: "rowheader", abbr: words.what });
  if (event.outcome === "failure") heading.append(" ", element("span", box.dataset.failure, { class: "tag failure" }));
  if (words.count !== undefined) heading.append(" ", element("span", words.count, { class: "tag" }));
  const hint = element("p", "", { class: "hint" });
  hint.append(element("code", event.name), "\u00a0· ");
  // The name of an app in it may have characters that turn the direction of the text.
  if (words.detail !== null) hint.append(element("span", words.detail, { dir: "auto", lang: words.detail_language ?? document.documentElement.lang }), "\u00a0· ");
  hint.append(link("trace_id", event.traceId));
  for (const [label, href] of words.touched) hint.append("\u00a0· ", element("a", label, { href }));
  heading.append(hint);
  const at = new Date(event.at);
  const time = element("td", "", { role: "cell", class: "short", "data-label": labels[1] });
  time.append(element("time", at.toLocaleTimeString(document.documentElement.lang), { datetime: event.at }));
  const user = cell(2, "user_id", event.user_id, words.user);
  user.className = "person";
  if (event.administrator_id !== null) {
    const by = element("span", ` ${box.dataset.by} `, { class: "hint" });
    by.append(link("administrator_id", event.administrator_id, words.administrator));
    user.append(by);
  }
  made.append(
    heading,
    time,
    user,
    cell(3, "client_id", event.client_id),
    cell(4, "address", event.address),
  );
  return made;
}

// Screen readers read the status when it is written.
function report(text) {
  if (status.textContent !== text) status.textContent = text;
}

function reportCount() {
  report(count === 0 ? box.dataset.waiting : box.dataset.count.replace("{n}", count));
}

function show(message) {
  position = message.lastEventId;
  const event = JSON.parse(message.data);
  // The others before the newest event of the page are on the pages that follow.
  if (shown.has(event.id) || (event.id <= newest && !missing.has(event.id))) return;
  shown.add(event.id);
  count += 1;
  const body = table.tBodies[0];
  body.prepend(row(event));
  table.hidden = false;
  document.querySelector(".empty")?.remove();
  while (body.rows.length > MAX_ROWS) body.rows[body.rows.length - 1].remove();
  reportCount();
}

// Returns whether the user may no longer see the events. The stream itself does not tell why it failed.
async function isRefused(url) {
  const response = await fetch(url, { method: "HEAD" }).catch(() => undefined);
  return response?.status === 401 || response?.status === 403;
}

function connect(failures) {
  const url = new URL(box.dataset.events, location.href);
  if (position !== undefined) url.searchParams.set("last_event_id", position);
  const opened = new EventSource(url);
  source = opened;
  opened.onmessage = show;
  opened.onopen = () => {
    failures = 0;
    reportCount();
  };
  opened.onerror = async () => {
    // The browser connects again by itself, unless the response was an error, such as that of a proxy.
    if (opened.readyState !== EventSource.CLOSED) return;
    const isOver = (await isRefused(url)) || failures + 1 === MAX_FAILURES;
    // Stopped meanwhile.
    if (source !== opened) return;
    if (isOver) return stop(box.dataset.failed);
    report(box.dataset.interrupted);
    const pause = Math.min(2 ** failures, MAX_PAUSE);
    retry = setTimeout(connect, pause * 1000, failures + 1);
  };
}

function stop(reason) {
  clearTimeout(end);
  clearTimeout(retry);
  source.close();
  source = undefined;
  button.setAttribute("aria-pressed", "false");
  report(reason);
}

button.addEventListener("click", () => {
  if (source) return stop("");
  button.setAttribute("aria-pressed", "true");
  reportCount();
  end = setTimeout(stop, FOLLOWED_FOR, box.dataset.stopped);
  connect(0);
});
box.hidden = false;
