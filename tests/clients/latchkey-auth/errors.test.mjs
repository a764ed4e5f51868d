import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  ConnectionError, LatchkeyError, SessionEndedError, SignInError,
} from "../../../deploy/latchkey-auth/latchkey-auth.js";

test("each class of errors has its explanation", () => {
  for (const Class of [LatchkeyError, SignInError, SessionEndedError, ConnectionError]) {
    const error = new Class("a_code", "words", { correlationId: "4bf9", status: 400, retryAfter: 5, cause: "a cause" });
    assert.ok(error instanceof LatchkeyError && error instanceof Error);
    const { name, message, description, correlationId, status, retryAfter, cause } = error;
    assert.deepEqual(
      { name, message, error: error.error, description, correlationId, status, retryAfter, cause },
      {
        name: Class.title, message: "a_code: words", error: "a_code", description: "words", correlationId: "4bf9",
        status: 400, retryAfter: 5, cause: "a cause",
      },
    );
    const { href, hash } = new URL(error.documentation);
    assert.ok(readFileSync(new URL(href), "utf8").includes(`<h2 id="${hash.slice(1)}">${name}</h2>`), hash);
  }
});

test("the error of a response is read", async () => {
  const headers = { "X-Correlation-Id": "in the header", "Retry-After": "7" };
  const body = '{"code":"rate_limited","message":"too many requests","correlationId":"in the body"}';
  const response = new Response(body, { status: 429, headers });
  const error = await LatchkeyError.from(response);
  assert.deepEqual(
    [error.error, error.description, error.correlationId, error.status, error.retryAfter],
    ["rate_limited", "too many requests", "in the body", 429, 7],
  );
  assert.equal((await response.json()).code, "rate_limited");
  const other = await SignInError.from(new Response('{"error":"invalid_request","error_description":"no"}', { status: 400, headers }));
  assert.ok(other instanceof SignInError);
  assert.deepEqual([other.error, other.description, other.correlationId], ["invalid_request", "no", "in the header"]);
  const proxy = await LatchkeyError.from(new Response("<html>", { status: 502 }));
  assert.deepEqual([proxy.error, proxy.correlationId, proxy.retryAfter], ["unexpected_response", undefined, undefined]);
});
