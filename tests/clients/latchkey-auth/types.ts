// Uses each member that latchkey-auth.d.ts declares. The TypeScript compiler reads it, and nothing runs it.

import {
  type Claims, ConnectionError, Latchkey, LatchkeyError, type LatchkeyEvents, type LatchkeyOptions, SessionEndedError,
  SignInError, type SignInParameters, type Start,
} from "../../../deploy/latchkey-auth/latchkey-auth.js";

const options: LatchkeyOptions = {
  issuer: "https://login.notes.example",
  clientId: "notes",
  redirectUri: "https://notes.example/callback",
  scope: "openid posts:read",
  apis: ["https://api.notes.example"],
  shareToken: true,
  dpop: true,
  fetch: (request: Request): Promise<Response> => fetch(request),
};

export async function use(): Promise<void> {
  const latchkey = new Latchkey(options);
  const start: Start = await latchkey.start();
  const parameters: SignInParameters = { prompt: "login" };
  if (start === "signed_out") await latchkey.signIn(parameters);
  await latchkey.signInWithPopup({}, { signal: new AbortController().signal });
  const claims: Claims | undefined = latchkey.claims;
  const names: (string | undefined)[] = [claims?.sub, claims?.acr];
  const isSignedIn: boolean = latchkey.signedIn;
  const ended: SessionEndedError | undefined = latchkey.ended;
  const token: string = await latchkey.accessToken();
  const response: Response = await latchkey.fetch(new URL("https://api.notes.example/posts"), { method: "POST" });
  if (!response.ok) throw await LatchkeyError.from(response);
  await latchkey.signOut();
  latchkey.close();
  console.log(names, isSignedIn, ended?.error, token);
}

export function listen(latchkey: Latchkey): void {
  const onEnd = (event: LatchkeyEvents["signedout"]): void => console.log(event.detail.description);
  latchkey.addEventListener("signedout", onEnd, { once: true });
  latchkey.removeEventListener("signedout", onEnd);
  latchkey.addEventListener("renewed", ({ type }) => console.log(type));
  const onAny: EventListener = (event) => console.log(event.type);
  latchkey.addEventListener("another", onAny);
  latchkey.removeEventListener("another", onAny, true);
  const target: EventTarget = latchkey;
  target.dispatchEvent(new Event("another"));
}

export function explain(error: unknown): string {
  if (error instanceof SignInError || error instanceof SessionEndedError) return error.message;
  if (error instanceof ConnectionError) return error.documentation;
  if (!(error instanceof LatchkeyError)) throw error;
  const known: (string | number | undefined)[] = [error.correlationId, error.status, error.retryAfter];
  return `${error.error} ${error.description} ${known.join()}`;
}

export const made = new LatchkeyError("a_code", "words", { correlationId: "4bf9", status: 400, retryAfter: 5, cause: 1 });

// @ts-expect-error The issuer and the client are missing.
export const incomplete = new Latchkey({ redirectUri: "https://notes.example/callback" });

export function misuse(latchkey: Latchkey): void {
  // @ts-expect-error Only the module changes this.
  latchkey.signedIn = true;
  // @ts-expect-error The parameters are texts.
  void latchkey.signIn({ max_age: 0 });
}
