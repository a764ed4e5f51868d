/** How `Latchkey` reaches the issuer and the APIs. */
export interface LatchkeyOptions {
  /** The URL of the issuer, exactly as its metadata name it. */
  issuer: string;
  /** The id of the app, which is registered as `spa` with `--refresh-cookie`. */
  clientId: string;
  /** A registered redirect URI: the page that calls `start` after the sign-in. */
  redirectUri: string;
  /** The requested scopes, separated by spaces. `openid` by default. */
  scope?: string;
  /** URLs of the APIs to whose origins `fetch` sends the access token, besides the issuer. */
  apis?: string[];
  /** Whether the tabs pass each access token on to one another, in place of a refresh in each. `false` by default. */
  shareToken?: boolean;
  /** Whether tokens are bound to a key (RFC 9449), if the issuer offers it. `false` by default. */
  dpop?: boolean;
  /** Sends all requests. The `fetch` of the browser by default. */
  fetch?: (request: Request) => Promise<Response>;
}

/** Claims of the ID token, if the scope has `openid`. */
export interface Claims {
  /** The id of the user. */
  sub: string;
  iss: string;
  aud: string | string[];
  exp: number;
  iat: number;
  auth_time?: number;
  amr?: string[];
  acr?: string;
  sid?: string;
  [claim: string]: unknown;
}

/** Further parameters of the authorization request, such as `prompt`, `login_hint` and `ui_locales`. */
export type SignInParameters = Record<string, string>;

/**
 * Where `start` found the user. In a popup, which it closes, the page has nothing else to do than to say that the window
 * can be closed.
 */
export type Start = "signed_in" | "signed_out" | "popup";

export interface LatchkeyEvents {
  /** There is an access token, and there was none. */
  signedin: CustomEvent<null>;
  /** There is a newer access token. */
  renewed: CustomEvent<null>;
  /** The session has ended. `detail` tells why. */
  signedout: CustomEvent<SessionEndedError>;
}

/** The session of the user in this tab. A page has one. */
export class Latchkey extends EventTarget {
  constructor(options: LatchkeyOptions);

  /** Whether this tab has an access token. It may have expired while the issuer could not be reached. */
  readonly signedIn: boolean;
  /** The claims of the latest ID token; undefined if nobody is signed in or the scope lacks `openid`. */
  readonly claims: Claims | undefined;
  /** Why the last session ended, or why there is none; undefined while the user is signed in. */
  readonly ended: SessionEndedError | undefined;

  /**
   * Completes a sign-in if the browser comes from the issuer, and takes its response out of the URL. Otherwise continues
   * the session that the cookie with the refresh token has. Call it once when the page is loaded.
   * @throws {SignInError} The response has an error, or does not belong to a sign-in of this tab.
   * @throws {ConnectionError} The issuer cannot be reached.
   * @throws {LatchkeyError} The issuer refuses for now (429, 503), or a proxy cannot reach it (502, 504). The session may
   * continue: call it again after `retryAfter`, or later.
   */
  start(): Promise<Start>;
  /** Sends the browser to the issuer. The browser comes back to the redirect URI. */
  signIn(parameters?: SignInParameters): Promise<void>;
  /**
   * Signs the user in in a window of its own. Call it from the handler of a click. The issuer's pages hide from this page
   * whether the user has closed the window: abort with `signal` when the user does something else.
   * @throws {SignInError} The browser did not open the window, or as `start`.
   */
  signInWithPopup(parameters?: SignInParameters, options?: { signal?: AbortSignal }): Promise<void>;
  /**
   * Forgets the tokens of all tabs at once, then ends the grant at the issuer and removes the cookie.
   * @throws {LatchkeyError} The issuer could not end the grant. The cookie may still be there: call it again.
   */
  signOut(): Promise<void>;
  /**
   * Returns an access token that is valid for the next moments, for connections that `fetch` cannot make.
   * @throws {SessionEndedError} Nobody is signed in.
   */
  accessToken(): Promise<string>;
  /**
   * The `fetch` of the browser with the access token. Renews the token after a 401 and repeats the request if a repetition
   * is harmless: see the README.
   * @throws {SessionEndedError} Nobody is signed in.
   * @throws {ConnectionError} The server did not answer.
   * @throws {LatchkeyError} `unknown_api`: the origin is not that of one of `apis`.
   */
  fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response>;
  /** Stops all timers and messages. The session continues, for the next page. */
  close(): void;

  addEventListener<K extends keyof LatchkeyEvents>(
    type: K,
    listener: (event: LatchkeyEvents[K]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void;
  removeEventListener<K extends keyof LatchkeyEvents>(
    type: K,
    listener: (event: LatchkeyEvents[K]) => void,
    options?: boolean | EventListenerOptions,
  ): void;
  removeEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | EventListenerOptions,
  ): void;
}

/** An error of the issuer, of an API, or of this module. */
export class LatchkeyError extends Error {
  constructor(
    error: string,
    description: string,
    details?: { correlationId?: string; status?: number; retryAfter?: number; cause?: unknown },
  );
  /** Reads the error of a response of the API. The body of `response` stays readable. */
  static from(response: Response): Promise<LatchkeyError>;
  /** The code of the error, for programs. */
  readonly error: string;
  /** The words of the issuer or of this module, for developers. They may change. */
  readonly description: string;
  /** Identifies the request in the log of the server. */
  readonly correlationId: string | undefined;
  /** The status of the response; undefined if there was none. */
  readonly status: number | undefined;
  /** The time after which a repetition can succeed, in seconds. */
  readonly retryAfter: number | undefined;
  /** The URL of the explanation of this class of errors, in `latchkey-auth-errors.html` beside the module. */
  readonly documentation: string;
}

/** A sign-in failed. */
export class SignInError extends LatchkeyError {}
/** The session has ended, or there was none. Sign the user in. */
export class SessionEndedError extends LatchkeyError {}
/** No response arrived. The session may continue when the network is back. */
export class ConnectionError extends LatchkeyError {}
