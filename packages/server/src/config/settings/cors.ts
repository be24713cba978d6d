// The `http.cors` section of svc.json: the web pages of other origins that may use the server.
import type { CorsSection } from '../project/http-schema.ts';
import type { Mistake } from '../project/mistake.ts';

export interface CorsRules {
  /** As browsers send them. `*` is every origin; `null` is sent by pages without an origin. */
  readonly origins: ReadonlySet<string>;
  readonly originPattern: RegExp | undefined;
  readonly methods: readonly string[];
  /** Undefined: all headers. */
  readonly headers: readonly string[] | undefined;
  readonly credentials: boolean;
  readonly exposed: readonly string[];
  readonly maxAgeSeconds: number;
}

const everyMethod = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Response headers that clients need. */
const exposedAlways = [
  'Location',
  'Content-Location',
  'X-Request-Id',
  'X-Pagination-Total',
  'X-Pagination-Next',
  'X-Pagination-Cursor',
  'X-Pagination-Limited-By',
  'Mcp-Session-Id',
  'Retry-After',
];

const closed: CorsRules = {
  origins: new Set(),
  originPattern: undefined,
  methods: everyMethod,
  headers: undefined,
  credentials: false,
  exposed: exposedAlways,
  maxAgeSeconds: 600,
};

/** Pages of this machine, such as those of a development server. */
const localPages = String.raw`https?://(?:localhost|[a-z0-9-]+\.localhost|127\.0\.0\.1|\[::1\])(?::\d+)?`;

/**
 * The rules for files of the stock server without `http.cors`, which lets every page use it. Where callers need no credential, only
 * pages of this machine may: others could use a server that anybody on the machine may use.
 */
export const stockCors = ({ isAnonymous }: { isAnonymous: boolean }): CorsRules =>
  isAnonymous
    ? { ...closed, originPattern: new RegExp(`^(?:${localPages})$`) }
    : { ...closed, origins: new Set(['*']) };

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

interface CorsSources {
  section: CorsSection | undefined;
  where: (path: (string | number)[]) => string;
  mistakes: Mistake[];
}

/** Undefined when there is no section. */
export function readCors(sources: CorsSources): CorsRules | undefined {
  const { section } = sources;
  if (section === undefined) return undefined;
  const methods = names('allow_methods', sources)?.map((method) => method.toUpperCase());
  const headers = names('allow_headers', sources);
  return {
    origins: readOrigins(sources),
    originPattern: readPattern(sources),
    // With credentials, browsers take `*` for a name and not for all. So `*` is never sent.
    methods: methods === undefined || methods.includes('*') ? everyMethod : methods,
    headers: headers?.includes('*') === true ? undefined : headers,
    credentials: section.allow_credentials ?? closed.credentials,
    exposed: [...new Set([...exposedAlways, ...(names('expose_headers', sources) ?? [])])],
    maxAgeSeconds: section.max_age ?? closed.maxAgeSeconds,
  };
}

/** The rules with the origins of a setting, which replace those of the file. */
export function withOrigins(
  rules: CorsRules | undefined,
  origins: readonly string[] | undefined,
): CorsRules | undefined {
  if (origins === undefined) return rules;
  return { ...closed, ...rules, origins: new Set(origins), originPattern: undefined };
}

function readOrigins({ section, where, mistakes }: CorsSources): Set<string> {
  const origins = new Set<string>();
  for (const [index, text] of (section?.allow_origins ?? []).entries()) {
    const origin = parseOrigin(text);
    if (origin !== undefined) origins.add(origin);
    else
      mistakes.push({
        where: where(['http', 'cors', 'allow_origins', index]),
        value: JSON.stringify(text),
        problem: 'is not an origin',
        remedy:
          'Write scheme, host and port only: "https://app.example.com". For patterns use allow_origin_regex.',
      });
  }
  return origins;
}

function readPattern({ section, where, mistakes }: CorsSources): RegExp | undefined {
  const source = section?.allow_origin_regex;
  if (source === undefined) return undefined;
  try {
    // Compiled without the brackets first: `a)|(b` is valid only inside them, and would escape the anchors.
    void new RegExp(source);
    return new RegExp(`^(?:${source})$`);
  } catch (error) {
    mistakes.push({
      where: where(['http', 'cors', 'allow_origin_regex']),
      value: JSON.stringify(source),
      problem: error instanceof Error ? error.message : String(error),
      remedy: 'Write a regular expression of JavaScript: "https://.*\\\\.example\\\\.com".',
    });
    return undefined;
  }
}

function names(
  key: 'allow_methods' | 'allow_headers' | 'expose_headers',
  { section, where, mistakes }: CorsSources,
): string[] | undefined {
  const given = section?.[key];
  for (const [index, name] of (given ?? []).entries()) {
    if (token.test(name)) continue;
    mistakes.push({
      where: where(['http', 'cors', key, index]),
      value: JSON.stringify(name),
      problem: `is not the name of a ${key === 'allow_methods' ? 'method' : 'header'}`,
      remedy: 'Write one name, in letters, digits and hyphens.',
    });
  }
  return given;
}

/**
 * Returns an origin as browsers send it: `https://app.example.com`, `http://localhost:3000`, `*` (every origin) or `null` (sent by
 * pages without an origin). Undefined for any other text, such as a URL with a path.
 */
export function parseOrigin(text: string): string | undefined {
  if (text === '*' || text === 'null') return text;
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@\\*,]+$/i.test(text) || !URL.canParse(text)) return undefined;
  const { origin } = new URL(text);
  // For schemes of applications (`capacitor://localhost`) the URL parser returns the origin "null".
  return origin === 'null' ? text.toLowerCase() : origin;
}
