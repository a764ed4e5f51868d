// The scenarios for authorization servers of the npm package @modelcontextprotocol/conformance. See tests/src/independent_clients.rs.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { done, open, settings } from "./harness.mjs";

// The time in which the server of the tool must listen.
const DEADLINE = 20_000;

// Follows the redirect to the server of the tool, which may print the address before it listens.
async function follow(url) {
  const endsAt = Date.now() + DEADLINE;
  for (;;) {
    try {
      return await fetch(url);
    } catch (error) {
      if (error.cause?.code !== "ECONNREFUSED" || Date.now() > endsAt) throw error;
      await setTimeout(20);
    }
  }
}

const results = await mkdtemp(join(tmpdir(), "latchkey-conformance-"));
const modules = fileURLToPath(new URL("node_modules", import.meta.url));
// The tool needs a newer Node.js than distributions have, so it is installed with one.
const tool = spawn(
  join(modules, ".bin/node"),
  [
    join(modules, "@modelcontextprotocol/conformance/dist/index.js"),
    "authorization",
    ...["--url", settings.issuer, "--client-id", settings.app, "--resource", settings.resource],
    ...["--port", settings.port, "--output-dir", results],
  ],
  { stdio: ["ignore", "pipe", "inherit"] },
);
const exit = once(tool, "exit");
const printed = [];
for await (const line of createInterface({ input: tool.stdout })) {
  printed.push(line);
  // The tool waits for the browser at a server of its own.
  if (line.startsWith(`${settings.issuer}/authorize?`)) await follow(await open(line));
}
const [status] = await exit;
assert.equal(status, 0, printed.join("\n"));

const found = {};
for (const scenario of await readdir(results)) {
  for (const check of JSON.parse(await readFile(join(results, scenario, "checks.json")))) {
    found[check.id] = check.status;
  }
}
await rm(results, { recursive: true });
assert.deepEqual(found, settings.checks, printed.join("\n"));

done();
