// Payments: each call that moves money has its idempotency key, and may be repeated.
import { pagedList, poster } from "./api.js";
import { action, el, field, form, select } from "./dom.js";
import { words } from "./words.js";

export function paymentsView(api, calls) {
  const list = pagedList(api, "/payments", (payment) => paymentItem(api, payment), {
    id: "payments",
    empty: words.noPayments,
  });
  const pay = poster(api, "/payments");
  // latchkey-auth repeats a call with a key if no answer arrives, with the same key.
  const payAndLose = async (json) => {
    let lost;
    try {
      const second = await pay(json, (key) => { lost = calls.loseAnswer(key); });
      return [await lost, second];
    } finally {
      calls.keepAnswers();
    }
  };
  const place = el("div");
  const buttons = { pay: words.pay, "lose-answer": words.loseAnswer };
  const fields = form(paymentFields(), buttons, async (elements, button) => {
    const json = { amount: Number(elements.amount.value), currency: elements.currency.value };
    place.replaceChildren();
    if (button !== "lose-answer") return showNew(await pay(json));
    const [first, second] = await payAndLose(json);
    place.replaceChildren(comparison(first, second));
    await showNew(second);
  });
  // The answer to the creation of a payment has only its id and its status.
  const showNew = async ({ id }) => list.prepend(await (await api(`/payments/${id}`)).json());
  const hint = el("p", { class: "hint" }, words.paymentHint);
  return el("div", {}, el("h2", {}, words.payments), hint, fields, place, list.element);
}

function paymentFields() {
  const amount = el("input", { name: "amount", type: "number", min: 1, step: 1, value: 1250, required: true });
  return [
    field("amount", words.amount, amount),
    field("currency", words.currency, select("currency", ["EUR", "USD", "JPY"])),
  ];
}

function comparison(first, second) {
  return first.id === second.id
    ? el("p", { class: "success", role: "status", id: "same-payment" }, words.samePayment(second.id))
    : el("p", { class: "error", role: "alert" }, words.otherPayment(first.id, second.id));
}

function paymentItem(api, payment) {
  const { id, currency } = payment;
  const title = el("strong");
  const status = el("span", { class: "tag" });
  const hint = el("span", { class: "hint" });
  const step = (name, label, path) => {
    const send = poster(api, `/payments/${id}/${path}`);
    return action(label, async () => show(await send({})), { id: `${name}-${id}` });
  };
  const capture = step("capture", words.capture, "captures");
  const refund = step("refund", words.refund, "refunds");
  const show = (payment) => {
    title.textContent = money(payment.amount, currency);
    status.textContent = payment.status;
    const moved = [payment.amount_captured, payment.amount_refunded].map((amount) => money(amount, currency));
    hint.textContent = words.amounts(...moved);
    capture.button.hidden = payment.status !== "created";
    refund.button.hidden = !["captured", "partially_refunded"].includes(payment.status);
  };
  show(payment);
  const line = el("p", {}, title, " ", status, el("br"), el("code", {}, id), el("br"), hint);
  return el("li", { id }, line, capture.element, refund.element);
}

// Amounts are integers in the smallest unit of the currency: cents of a euro, and whole yen.
function money(amount, currency) {
  const format = new Intl.NumberFormat("en", { style: "currency", currency });
  return format.format(amount / 10 ** format.resolvedOptions().maximumFractionDigits);
}
