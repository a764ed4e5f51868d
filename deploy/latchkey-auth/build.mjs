// Prints latchkey-auth.js: the source without comments, indentation and empty lines. A test holds the file against it.

import { readFileSync } from "node:fs";

const source = readFileSync(new URL("src/latchkey-auth.js", import.meta.url), "utf8");
const lines = source.split("\n").map((line) => line.trim());
const code = lines.filter((line) => line && !line.startsWith("//"));
process.stdout.write(["// src/latchkey-auth.js", ...code, ""].join("\n"));
