// Requests of a program that contains this server: as Node's request and response, or as a Fetch API Request.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { watchedBody } from '../body/limited-body.ts';
import { type OuterRequest, requestIdOf } from '../routing/call.ts';
import { emptyHeaders } from './headers.ts';
import type { ServedApp } from './listen.ts';
import { malformedTarget } from './malformed-target.ts';
import { withoutPrefix } from './mount-path.ts';
import { type HttpLogger, problemResponse } from './problem.ts';
import {
  type CheckedRequest,
  createRequestCheck,
  createRequestGuard,
  type RequestGuardOptions,
} from './request-guard.ts';
import { logRequest } from './request-log.ts';
import { joinVary } from './vary.ts';
import { withHeaders } from './with-headers.ts';

export interface EmbeddedOptions {
  app: ServedApp;
  /** The path before all routes, or empty. */
  prefix: string;
  guard: RequestGuardOptions;
  logger: HttpLogger;
}

export interface Embedded {
  /** `host` is passed to `authenticate`. */
  fetch: (request: Request, host?: unknown) => Promise<Response>;
  /** `next` is called for paths outside of the prefix; without it they get 404. */
  node: (incoming: IncomingMessage, outgoing: ServerResponse, next?: (error?: unknown) => void) => void;
}

export const embed = (options: EmbeddedOptions): Embedded => ({
  fetch: fetchHandler(options),
  node: nodeHandler(options),
});

const fetchHandler = ({ app, guard, logger }: EmbeddedOptions): Embedded['fetch'] => {
  const check = createRequestCheck(guard);
  return async (request, host) => {
    const startedMs = performance.now();
    const requestId = requestIdOf(request.headers.get('x-request-id') ?? undefined);
    const added = new Headers();
    let response: Response | undefined;
    try {
      const preflight = check(checkedRequest(request), (name, value) => added.set(name, value));
      if (preflight)
        response = new Response(null, { status: 204, headers: { ...emptyHeaders, ...preflight } });
    } catch (error) {
      response = problemResponse(error, requestId, logger);
    }
    if (response)
      logRequest(logger, request.method, { route: '*', requestId, startedMs, status: response.status });
    if (response === undefined) {
      const cancelled = new AbortController();
      const signal = AbortSignal.any([request.signal, cancelled.signal]);
      const client = { signal, closed: signal, remoteAddress: undefined, host };
      const outer = { ...client, requestId, isInsidePrefix: false };
      response = withCancel(await app.fetch(request, { outer }), () => cancelled.abort());
    }
    const vary = added.get('vary');
    return withHeaders(response, {
      ...Object.fromEntries(added),
      ...(vary === null ? {} : { vary: joinVary(response.headers.get('vary'), vary) }),
      'x-request-id': requestId,
    });
  };
};

/** Programs cancel the body when the client has disconnected, but not all of them abort the signal of the request. */
const withCancel = (response: Response, onCancel: () => void): Response =>
  response.body === null
    ? response
    : new Response(watchedBody(response.body, { onEnd: () => undefined, onCancel }), response);

const checkedRequest = ({ method, url, headers: sent }: Request): CheckedRequest => {
  const { pathname, search, host } = new URL(url);
  const headers = { host, ...Object.fromEntries(sent) };
  return {
    method,
    url: pathname + search,
    headers,
    rawHeaders: Object.entries(headers).flat(),
    httpVersion: '1.1',
  };
};

/** Express and Connect cut their mount path from `url`, and parsers leave the body here. */
type HostRequest = IncomingMessage & { originalUrl?: string; body?: unknown; rawBody?: unknown };

const nodeHandler = ({ app, prefix, guard, logger }: EmbeddedOptions): Embedded['node'] => {
  const passes = createRequestGuard(guard, logger);
  const pathInPrefix = withoutPrefix(prefix);
  const listener = getRequestListener(
    (request, env) => {
      const { incoming, outgoing } = env as HttpBindings;
      const outer: OuterRequest = {
        get signal() {
          return request.signal;
        },
        get closed() {
          return request.signal;
        },
        remoteAddress: incoming.socket.remoteAddress,
        outgoing,
        isInsidePrefix: false,
        host: incoming,
        body: parsedBody(incoming),
      };
      return app.fetch(request, { incoming, outgoing, outer });
    },
    {
      // These belong to the program.
      overrideGlobalObjects: false,
      errorHandler: malformedTarget(logger),
    },
  );
  return (incoming: HostRequest, outgoing, next) => {
    const url = incoming.originalUrl ?? incoming.url ?? '';
    const [path = ''] = url.split('?', 1);
    // Probes of the program itself may have the same paths.
    if (next && prefix !== '' && pathInPrefix(path) !== '/' && !path.startsWith(`${prefix}/`)) return next();
    incoming.url = url;
    if (passes(incoming, outgoing)) void listener(incoming, outgoing);
  };
};

/** The bytes of a body that a parser of the program has read. */
const parsedBody = ({ readableEnded, rawBody, body }: HostRequest): Uint8Array | undefined => {
  if (!readableEnded) return undefined;
  for (const read of [rawBody, body]) {
    if (read instanceof Uint8Array) return read;
    if (typeof read === 'string') return Buffer.from(read);
    if (typeof read === 'object' && read !== null) return Buffer.from(JSON.stringify(read));
  }
  return undefined;
};
