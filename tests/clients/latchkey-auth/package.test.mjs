import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const directory = new URL("../../../deploy/latchkey-auth/", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL("package.json", directory)));

test("npm accepts the package", () => {
  const output = execFileSync("npm", ["pack", "--dry-run", "--offline", "--json"], {
    cwd: fileURLToPath(directory), encoding: "utf8", stdio: ["ignore", "pipe", "ignore"],
  });
  const files = JSON.parse(output)[0].files.map(({ path }) => path);
  assert.deepEqual(files.sort(), [
    "LICENSE", "README.md", "latchkey-auth-errors.html", "latchkey-auth.d.ts", "latchkey-auth.js", "package.json",
    "src/latchkey-auth.js",
  ]);
  assert.equal(manifest.dependencies ?? manifest.peerDependencies, undefined);
});

test("the package has the license of the project", () => {
  const [own, ofProject] = ["LICENSE", "../../LICENSE"].map((path) => readFileSync(new URL(path, directory), "utf8"));
  assert.equal(own, ofProject);
});

test("the module has at most 6 kB after gzip", () => {
  const size = gzipSync(readFileSync(new URL(manifest.exports["."].default, directory)), { level: 9 }).length;
  assert.ok(size <= 6000, `${size} bytes`);
});

test("the module is made from its source", () => {
  const made = execFileSync("node", ["build.mjs"], { cwd: fileURLToPath(directory), encoding: "utf8" });
  const shipped = readFileSync(new URL(manifest.exports["."].default, directory), "utf8");
  assert.equal(shipped, made, "run this in deploy/latchkey-auth: npm run build");
});

test("the types name what the module exports", async () => {
  const types = readFileSync(new URL(manifest.exports["."].types, directory), "utf8");
  const declared = [...types.matchAll(/^export class (\w+)/gm)].map(([, name]) => name);
  const exported = await import(new URL(manifest.exports["."].default, directory));
  assert.deepEqual(declared.sort(), Object.keys(exported).sort());
  const members = Object.getOwnPropertyNames(exported.Latchkey.prototype).filter((name) => name !== "constructor");
  for (const member of members) assert.match(types, new RegExp(`^  (readonly )?${member}[(:]`, "m"), member);
});
