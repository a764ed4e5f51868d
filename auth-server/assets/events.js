// Shows security events as they are recorded, above those of the page.
const box = document.querySelector("[data-events]");
const table = document.querySelector("table.cards");
const status = box.querySelector("[role=status]");
const button = box.querySelector("button");
// A page that is open for days must not grow for ever.
const MAX_ROWS = 200;
const labels = [...table.querySelectorAll("thead th")].map((heading) => heading.textContent);
let source;
let count = 0;

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}

function link(parameter, value) {
  const query = new URLSearchParams({ [parameter]: value });
  return element("a", value, { href: `/admin/events?${query}` });
}

function cell(column, parameter, value) {
  const made = element("td", "", { role: "cell", "data-label": labels[column] });
  if (value !== null) made.append(link(parameter, value));
  return made;
}

function row(event) {
  const made = element("tr", "", { role: "row" });
  const heading = element("th", "", { scope: "row", role: "rowheader", abbr: event.name });
  heading.append(element("code", event.name));
  if (event.outcome === "failure") heading.append(" ", element("span", box.dataset.failure, { class: "tag failure" }));
  const hint = element("p", event.detail === null ? "" : `${event.detail} · `, { class: "hint" });
  hint.append(link("trace_id", event.traceId));
  heading.append(hint);
  const at = new Date(event.at);
  const time = element("td", "", { role: "cell", "data-label": labels[1] });
  time.append(element("time", at.toLocaleTimeString(document.documentElement.lang), { datetime: event.at }));
  made.append(
    heading,
    time,
    cell(2, "user_id", event.user_id),
    cell(3, "client_id", event.client_id),
    cell(4, "address", event.address),
  );
  return made;
}

function follow() {
  source = new EventSource(box.dataset.events);
  status.textContent = box.dataset.waiting;
  source.onmessage = (message) => {
    const body = table.tBodies[0];
    body.prepend(row(JSON.parse(message.data)));
    table.hidden = false;
    while (body.rows.length > MAX_ROWS) body.rows[body.rows.length - 1].remove();
    count += 1;
    status.textContent = box.dataset.count.replace("{n}", count);
  };
  source.onerror = () => {
    // The browser connects again by itself, unless the response was an error.
    if (source.readyState !== EventSource.CLOSED) return;
    stop();
    status.textContent = box.dataset.failed;
  };
}

function stop() {
  source.close();
  source = undefined;
  button.setAttribute("aria-pressed", "false");
  status.textContent = "";
}

button.addEventListener("click", () => {
  if (source) return stop();
  button.setAttribute("aria-pressed", "true");
  follow();
});
box.hidden = false;
