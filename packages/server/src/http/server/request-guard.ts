// Checks that every request must pass before it is routed. They read Node's own request, because a router or a URL parser normalizes
// what has to be checked.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '@svc/contract/problem';
import type { CorsRules } from '../../config/settings/cors.ts';
import { requestIdOf } from '../routing/call.ts';
import { Cors } from './cors.ts';
import { emptyHeaders, joinVary } from './headers.ts';
import { type HttpLogger, HttpProblem, problemParts } from './problem.ts';
import { logRequest } from './request-log.ts';
import { foreignPage, siteOf, siteRules, type SiteRules } from './request-site.ts';

export interface RequestGuardOptions {
  /** Off when absent. */
  cors?: CorsRules | undefined;
  /**
   * Host names that requests may use for this server (`localhost`, `[::1]`); any when absent. Without this check, a page whose host
   * name was made to resolve to this server (DNS rebinding) would have the server's own origin.
   */
  hosts?: ReadonlySet<string> | undefined;
  /** True when pages of other sites may change nothing, because no credential prevents it. */
  sameSite?: boolean | undefined;
  /** A path of pages and sessions, without a slash at its end: pages of other origins never read anything at and below it. */
  privatePath?: string | undefined;
}

/** The parts of Node's request that are checked. */
export type CheckedRequest = Pick<
  IncomingMessage,
  'method' | 'url' | 'headers' | 'rawHeaders' | 'httpVersion'
>;

/** Sets a header of the response. */
type SetHeader = (name: string, value: string) => void;

/**
 * Throws a Problem for a request that must not be routed. Returns the headers of the response when the request is a preflight of an
 * allowed origin, and needs nothing else.
 */
export type RequestCheck = (
  request: CheckedRequest,
  setHeader: SetHeader,
) => Record<string, string> | undefined;

/** Returns true when the request may be routed. It has answered every other request. */
type RequestGuard = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;

export const createRequestCheck = ({
  cors: corsRules,
  hosts,
  sameSite,
  privatePath,
}: RequestGuardOptions): RequestCheck => {
  const cors = corsRules && new Cors(corsRules);
  const rules = siteRules({ cors: corsRules, sameSite });
  return (request, setHeader) => {
    const isPrivate = privatePath !== undefined && isAt(request.url ?? '', privatePath);
    const isAllowedOrigin = (isPrivate ? undefined : cors)?.mark(request, setHeader) ?? false;
    assertTarget(request.url ?? '');
    assertSingle(request.rawHeaders);
    assertSupported(request);
    // Only HTTP/1.0 may come without a Host header, which browsers always send.
    if (hosts !== undefined && request.headers.host !== undefined) assertHost(request.headers.host, hosts);
    if (isAllowedOrigin && isPreflight(request)) return cors?.preflight(request);
    assertSite(request, rules);
    return undefined;
  };
};

export const createRequestGuard = (options: RequestGuardOptions, logger: HttpLogger): RequestGuard => {
  const check = createRequestCheck(options);
  return (incoming, outgoing) => {
    const startedMs = performance.now();
    let requestId: string;
    let status: number;
    try {
      const headers = check(incoming, (name, value) =>
        outgoing.setHeader(name, name === 'vary' ? joinVary(outgoing.getHeader(name), value) : value),
      );
      if (headers === undefined) return true;
      requestId = idOf(incoming);
      status = 204;
      const vary = joinVary(outgoing.getHeader('vary'), headers['vary']);
      outgoing.writeHead(status, { ...emptyHeaders, 'x-request-id': requestId, ...headers, vary }).end();
    } catch (error) {
      requestId = idOf(incoming);
      const answer = problemParts(error, requestId, logger);
      status = answer.status;
      outgoing.writeHead(status, { ...answer.headers, 'content-length': Buffer.byteLength(answer.text) });
      outgoing.end(answer.text);
    }
    logRequest(logger, incoming.method ?? '', { route: '*', requestId, startedMs, status });
    return false;
  };
};

/** The host names of a server that only this machine can reach. */
export const localHosts = (listensOn: string): ReadonlySet<string> =>
  new Set([
    'localhost',
    '127.0.0.1',
    '[::1]',
    listensOn.includes(':') ? `[${listensOn}]` : listensOn.toLowerCase(),
  ]);

const idOf = ({ headers }: IncomingMessage): string => {
  const sent = headers['x-request-id'];
  return requestIdOf(Array.isArray(sent) ? undefined : sent);
};

/** An encoded slash, an empty or a dot segment, parameters of a segment, a fragment. */
const ambiguous = /%2f|%5c|[\\;#]|\/\/|\/(?:\.|%2e){1,2}(?:\/|$)/i;

/** Rejects paths that a proxy in front of the server may interpret as another path. */
const assertTarget = (url: string): void => {
  if (!url.startsWith('/')) throw new Problem('bad_request', 'The request target must be a path, not a URL.');
  const query = url.indexOf('?');
  const found = ambiguous.exec(query === -1 ? url : url.slice(0, query))?.[0];
  if (found === undefined) return;
  const sentence = `The path contains ${JSON.stringify(found)}, which proxies and servers interpret differently.`;
  throw new Problem('bad_request', sentence);
};

/** Headers that identify the caller, the server, or the type of the body; each has one bit. */
const singleHeaders = new Map(
  [
    'host',
    'authorization',
    'x-api-key',
    'x-tenant-id',
    'content-type',
    'content-encoding',
    'origin',
    'sec-fetch-site',
    'x-svc-csrf',
  ].map((name, index) => [name, 1 << index] as const),
);

/** Rejects repeated headers: Node keeps the first value, and a proxy before the server may use the second. */
const assertSingle = (rawHeaders: readonly string[]): void => {
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? '';
    const bit = singleHeaders.get(name) ?? 0;
    if ((seen & bit) !== 0) throw new Problem('bad_request', `The request has more than one ${name} header.`);
    seen |= bit;
  }
};

/** More than any proxy adds. Node itself would drop later headers, such as Authorization. */
const headersMax = 256;

/** Rejects requests that violate HTTP/1.1, or that need features which this server lacks. */
const assertSupported = ({ rawHeaders, headers, httpVersion }: CheckedRequest): void => {
  const count = rawHeaders.length / 2;
  if (count > headersMax)
    throw new HttpProblem(431, 'too_large', `The request has more than ${headersMax} headers.`);
  const { host, expect, 'transfer-encoding': coding } = headers;
  if (host === undefined && httpVersion !== '1.0')
    throw new Problem('bad_request', 'The request needs a Host header.');
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked')
    throw new Problem('not_supported', 'The only supported transfer coding is chunked.');
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    throw new HttpProblem(417, 'bad_request', 'The only supported expectation is 100-continue.');
};

const assertHost = (host: string, hosts: ReadonlySet<string>): void => {
  const name = host.toLowerCase().replace(/:\d*$/, '');
  if (hosts.has(name)) return;
  const given = JSON.stringify(name.slice(0, 100));
  throw new Problem(
    'misdirected',
    `Without authentication this server accepts only the host names ${[...hosts].join(', ')}, not ${given}. Set SVC_API_KEY, or start with --allow-anonymous.`,
  );
};

const isAt = (url: string, path: string): boolean =>
  url.startsWith(path) && ['', '/', '?'].includes(url.charAt(path.length));

const isPreflight = ({ method, headers }: CheckedRequest): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

const readingMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * A page of another site can send some requests without a preflight, such as a POST without a body. GET requests that change data are
 * rejected when they are routed.
 */
const assertSite = ({ method = '', headers }: CheckedRequest, rules: SiteRules): void => {
  if (readingMethods.has(method) || siteOf(headers, rules) !== 'foreign') return;
  throw foreignPage();
};
