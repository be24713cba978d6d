import type { IncomingMessage } from 'node:http';
import type { CorsRules } from '../../config/settings/cors.ts';

/** Longer than any real origin; bounds the input of the pattern. */
const originCharsMax = 512;
/** Names of headers, with commas between. */
const headerNames = /^[!#$%&'*+.^_`|~0-9A-Za-z, -]{1,4096}$/;

/** Tells browsers which pages may read the responses of the server. */
export class Cors {
  readonly #rules: CorsRules;
  readonly #isForAll: boolean;
  readonly #exposed: string;
  readonly #methods: string;

  constructor(rules: CorsRules) {
    this.#rules = rules;
    this.#isForAll = rules.origins.has('*');
    this.#exposed = rules.exposed.join(', ');
    this.#methods = rules.methods.join(', ');
  }

  /**
   * Sets the CORS headers for the request's origin on the response, before its head is written. Returns true when the origin may use
   * the server.
   */
  mark(
    { headers: { origin } }: Pick<IncomingMessage, 'headers'>,
    setHeader: (name: string, value: string) => void,
  ): boolean {
    // Also on responses to other origins: a cache must not serve them to a page.
    if (!this.#isForAll) setHeader('vary', 'Origin');
    if (origin === undefined || !this.allows(origin)) return false;
    setHeader('access-control-allow-origin', this.#isForAll ? '*' : origin);
    if (this.#rules.credentials) setHeader('access-control-allow-credentials', 'true');
    setHeader('access-control-expose-headers', this.#exposed);
    return true;
  }

  /** The headers of the response to a preflight of an allowed origin. */
  preflight({ headers }: Pick<IncomingMessage, 'headers'>): Record<string, string> {
    const requested = headers['access-control-request-headers'];
    const allowed =
      this.#rules.headers?.join(', ') ??
      (typeof requested === 'string' && headerNames.test(requested) ? requested : undefined);
    const varying = [...(this.#isForAll ? [] : ['Origin']), 'Access-Control-Request-Headers'];
    return {
      'access-control-allow-methods': this.#methods,
      ...(allowed === undefined || allowed === '' ? {} : { 'access-control-allow-headers': allowed }),
      'access-control-max-age': String(this.#rules.maxAgeSeconds),
      vary: varying.join(', '),
    };
  }

  /** Whether pages of the origin may use the server. */
  allows(origin: string): boolean {
    if (this.#isForAll || this.#rules.origins.has(origin)) return true;
    // The pattern never allows `null`, an origin that any page can get.
    if (origin === 'null' || origin.length > originCharsMax) return false;
    return this.#rules.originPattern?.test(origin) === true;
  }
}
