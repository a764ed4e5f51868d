// A single-page app: serves a page that signs a user in by itself, and shows what the API says about the user.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";

const { ISSUER, API, CLIENT_ID, PORT = "4000" } = process.env;
const origin = `http://localhost:${PORT}`;
const options = {
  issuer: ISSUER,
  clientId: CLIENT_ID,
  redirectUri: `${origin}/callback`,
  scope: "openid profile:read",
  apis: [API],
};

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Single-page app</title>
<p id="state"></p>
<button id="sign-in">Sign in</button>
<button id="sign-out">Sign out</button>
<script type="module">
import { Latchkey, LatchkeyError } from "/latchkey-auth.js";

const latchkey = new Latchkey(${JSON.stringify(options)});
const element = (id) => document.getElementById(id);
const show = (text) => { element("state").textContent = text; };
const onClick = (id, action) => {
  element(id).addEventListener("click", () => action().catch((error) => show(error.message)));
};

onClick("sign-in", () => latchkey.signIn());
onClick("sign-out", () => latchkey.signOut());
latchkey.addEventListener("signedout", () => show("You are signed out."));
try {
  if ((await latchkey.start()) === "signed_in") {
    const me = await latchkey.fetch(${JSON.stringify(`${API}/me`)});
    if (!me.ok) throw await LatchkeyError.from(me);
    show("You are signed in as " + (await me.json()).email + ".");
  } else {
    show("You are signed out.");
  }
} catch (error) {
  show(error.message);
}
</script>
</html>
`;
const read = (name) => readFile(new URL(`../../../deploy/latchkey-auth/${name}`, import.meta.url));
const html = ["text/html; charset=utf-8", page];
const files = { "/": html, "/callback": html, "/latchkey-auth.js": ["text/javascript", await read("latchkey-auth.js")] };
files["/latchkey-auth-errors.html"] = [html[0], await read("latchkey-auth-errors.html")];

const server = createServer((request, response) => {
  const [type, body] = files[request.url.split("?")[0]] ?? ["text/plain", undefined];
  response.writeHead(body ? 200 : 404, { "Content-Type": type }).end(body);
});
server.listen(Number(PORT), "127.0.0.1", () => console.log(`Open ${origin}`));
