// The OpenID Connect provider of `console.auth`. Its addresses and keys are read when they are first needed, and again after an hour.
import type * as client from 'openid-client';
import type { OidcAuth } from '../../config/project/console-schema.ts';
import type { Secret } from '../../config/settings/secret.ts';
import type { EgressGuard } from '../../net/guard.ts';

export interface OidcProviderParts {
  auth: OidcAuth;
  /** Undefined for a public client: PKCE protects it as well. */
  clientSecret: Secret | undefined;
  guard: EgressGuard;
}

/** What proves that an answer of the provider belongs to a request of this browser. */
export interface OidcChecks {
  state: string;
  nonce: string;
  verifier: string;
}

interface Discovered {
  library: typeof client;
  configuration: client.Configuration;
  untilMs: number;
}

const knownMs = 3_600_000;
const limits = { timeoutMs: 10_000, responseBytesMax: 1_000_000 };

export class OidcProvider {
  readonly #parts: OidcProviderParts;
  #discovered: Promise<Discovered> | undefined;

  constructor(parts: OidcProviderParts) {
    this.#parts = parts;
  }

  /** The address at which the user signs in. Throws when the provider cannot be reached. */
  async signInUrl(redirectUri: string, { state, nonce, verifier }: OidcChecks): Promise<URL> {
    const { scopes, parameters } = this.#parts.auth;
    const { library, configuration } = await this.#open();
    return library.buildAuthorizationUrl(configuration, {
      ...parameters,
      redirect_uri: redirectUri,
      scope: scopes.join(' '),
      state,
      nonce,
      code_challenge: await library.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
  }

  /** Exchanges the code in `answer`, the address to which the provider has sent the browser, for the token that `authenticate` gets. */
  async token(answer: URL, { state, nonce, verifier }: OidcChecks): Promise<string> {
    const { library, configuration } = await this.#open();
    const tokens = await library.authorizationCodeGrant(configuration, answer, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const token = tokens[this.#parts.auth.token];
    if (token === undefined) throw new Error(`The provider has sent no ${this.#parts.auth.token}`);
    return token;
  }

  async #open(): Promise<Discovered> {
    const known = await this.#discovered?.catch(() => undefined);
    if (known !== undefined && performance.now() <= known.untilMs) return known;
    this.#discovered = this.#discover();
    return this.#discovered;
  }

  async #discover(): Promise<Discovered> {
    const { auth, clientSecret, guard } = this.#parts;
    // Imported here: the HTTP client is a quarter of the code of a server, and most servers have no provider.
    const [library, { guardedFetch }] = await Promise.all([
      import('openid-client'),
      import('../../net/guarded-fetch.ts'),
    ]);
    const issuer = new URL(auth.issuer);
    const fetch = guardedFetch(guard, { loopback: true }, limits);
    const configuration = await library.discovery(
      issuer,
      auth.client_id,
      undefined,
      clientSecret === undefined ? library.None() : library.ClientSecretBasic(clientSecret.reveal()),
      {
        [library.customFetch]: (url, { method, headers, body, signal }) =>
          fetch(url, { method, headers, body: body as string | URLSearchParams | undefined, signal }),
        timeout: limits.timeoutMs / 1_000,
        // The signature is checked because TLS may end at a proxy before the provider. The schema of `console.auth` allows http:// only on this machine.
        execute: [
          library.enableNonRepudiationChecks,
          ...(issuer.protocol === 'http:' ? [library.allowInsecureRequests] : []),
        ],
      },
    );
    return { library, configuration, untilMs: performance.now() + knownMs };
  }
}
