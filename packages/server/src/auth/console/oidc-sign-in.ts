// Signs users of the console in at the team's own provider (OpenID Connect, authorization code with PKCE).
//
//   startOidc ─▶ the provider, where the user signs in ─▶ finishOidc ─▶ the page at which the user began
//
// What the second step needs is encrypted in a cookie. The browser sends the cookie with the provider's redirect because it is `Lax`; the
// cookie of the session is `Strict`, and is set by the second step.
import { randomBytes } from 'node:crypto';
import type { ReplyCookie } from '../../api/handlers.ts';
import type { Credentials } from '../principal/caller.ts';
import type { SchemeOf } from '../principal/client-address.ts';
import type { LazySealer } from '../sealed-users/lazy-sealer.ts';
import type { OidcChecks, OidcProvider } from './oidc-provider.ts';
import { readSealedCookie } from './session-cookie.ts';

export interface OidcSignInParts {
  provider: Pick<OidcProvider, 'signInUrl' | 'token'>;
  sealer: Pick<LazySealer, 'get'>;
  schemeOf: SchemeOf;
}

/** What the first step leaves for the second. */
export interface OidcAttempt extends OidcChecks {
  /** The path of the page at which the user began. */
  returnTo: string;
  /** The hash of the session that the new one continues, as hexadecimal digits. */
  continues: string | undefined;
  /** Milliseconds since 1970. */
  untilMs: number;
}

/** How long a user may take at the provider. */
const attemptSeconds = 600;
const purpose = 'console sign-in at a provider';

/** Several tabs may sign in at once, so each attempt has a cookie of its own. */
const cookieOf = (state: string, isSecure: boolean): string =>
  `${isSecure ? '__Secure-' : ''}svc-console-oidc-${state.slice(0, 8)}`;

const random = (): string => randomBytes(32).toString('base64url');

export class OidcSignIn {
  readonly #parts: OidcSignInParts;

  constructor(parts: OidcSignInParts) {
    this.#parts = parts;
  }

  /** `address`: of this server, as the browser knows it. */
  async start(
    credentials: Credentials,
    address: string,
    { returnTo, continues }: Pick<OidcAttempt, 'returnTo' | 'continues'>,
  ): Promise<{ url: string; cookie: ReplyCookie }> {
    const { provider, sealer, schemeOf } = this.#parts;
    const checks = { state: random(), nonce: random(), verifier: random() };
    const url = await provider.signInUrl(redirectUriOf(address), checks);
    const attempt: OidcAttempt = {
      ...checks,
      returnTo,
      continues,
      untilMs: Date.now() + attemptSeconds * 1_000,
    };
    const isSecure = schemeOf(credentials) === 'https';
    return {
      url: url.href,
      cookie: {
        name: cookieOf(checks.state, isSecure),
        value: (await sealer.get()).seal(JSON.stringify(attempt), purpose),
        maxAgeSeconds: attemptSeconds,
        isSecure,
        isSentFromOtherSites: true,
      },
    };
  }

  /** The attempt that this browser has begun with this state; undefined when there is none, or it took too long. */
  async attempt(credentials: Credentials, state: string): Promise<OidcAttempt | undefined> {
    const { sealer, schemeOf } = this.#parts;
    const name = cookieOf(state, schemeOf(credentials) === 'https');
    const sealed = readSealedCookie(credentials.header('cookie'), name);
    if (sealed === undefined) return undefined;
    const attempt = JSON.parse((await sealer.get()).open(sealed, purpose)) as OidcAttempt;
    return attempt.state === state && Date.now() < attempt.untilMs ? attempt : undefined;
  }

  /** `search`: the query of the provider's redirect. */
  token(address: string, search: string, attempt: OidcAttempt): Promise<string> {
    return this.#parts.provider.token(new URL(redirectUriOf(address) + search), attempt);
  }
}

/** The provider must know this address. */
const redirectUriOf = (address: string): string => `${address}/console/auth/oidc/callback`;
