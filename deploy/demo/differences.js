// The differences of two texts, word by word.
import { el } from "./dom.js";
import { words } from "./words.js";

// Of two texts with more pairs of words between their first and their last difference, all of that is marked.
const MAX_PAIRS = 1_000_000;

// Makes the current text, with the words that were removed from the former one and those that were added to it.
export function differences(former, current) {
  const marked = ([kind, text]) =>
    kind === "same" ? text : el(kind, {}, el("span", { class: "unseen" }, words[kind]), text);
  return el("span", { class: "differences" }, ...compare(former, current).map(marked));
}

// Returns the parts of both texts in order, each with its kind: the same in both, removed (`del`) or added (`ins`).
function compare(former, current) {
  const [a, b] = [former, current].map((text) => text.split(/(\s+)/).filter((part) => part !== ""));
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start++;
  let end = 0;
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const parts = [
    ["same", a.slice(0, start)],
    ...align(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ["same", a.slice(a.length - end)],
  ];
  return parts.filter(([, part]) => part.length > 0).map(([kind, part]) => [kind, part.join("")]);
}

// Keeps the longest sequence of words that both have.
function align(a, b) {
  if (a.length * b.length > MAX_PAIRS) return [["del", a], ["ins", b]];
  // The length of the longest common sequence from each pair of words on.
  const common = [...a, ""].map(() => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const parts = [];
  const add = (kind, word) => {
    if (parts.at(-1)?.[0] === kind) parts.at(-1)[1].push(word);
    else parts.push([kind, [word]]);
  };
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && a[i] === b[j]) add("same", a[i++], j++);
    else if (j === b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1])) add("del", a[i++]);
    else add("ins", b[j++]);
  }
  return parts;
}
