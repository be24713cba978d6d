import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CorsRules } from '../../config/settings/cors.ts';

/** Longer than any origin that is meant; bounds what the pattern is tried on. */
const originCharsMax = 512;
/** Names of headers, with commas between. */
const headerNames = /^[!#$%&'*+.^_`|~0-9A-Za-z, -]{1,4096}$/;

/** Tells browsers which pages may read what the server answers. */
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
   * Puts onto the response what goes with the request's origin, whoever writes its head later; says whether the origin
   * may use the server.
   */
  mark(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
    const { origin } = incoming.headers;
    // Also on responses to others: a cache must not give them to a page.
    if (!this.#isForAll) outgoing.setHeader('vary', 'Origin');
    if (origin === undefined || !this.allows(origin)) return false;
    outgoing.setHeader('access-control-allow-origin', this.#isForAll ? '*' : origin);
    if (this.#rules.credentials) outgoing.setHeader('access-control-allow-credentials', 'true');
    outgoing.setHeader('access-control-expose-headers', this.#exposed);
    return true;
  }

  /** What a browser wants to know before it sends the request of an origin that is allowed. */
  preflight({ headers }: IncomingMessage): Record<string, string> {
    const asked = headers['access-control-request-headers'];
    const allowed =
      this.#rules.headers?.join(', ') ??
      (typeof asked === 'string' && headerNames.test(asked) ? asked : undefined);
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
    // A pattern is not meant for `null`, which any page can make itself be.
    if (origin === 'null' || origin.length > originCharsMax) return false;
    return this.#rules.originPattern?.test(origin) === true;
  }
}
