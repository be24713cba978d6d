// Requests of a program that contains this server: as Node's request and response, or as a Fetch API Request.
import { type IncomingMessage, Server, type ServerResponse } from 'node:http';
import { Server as SecureServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { watchedBody } from '../body/limited-body.ts';
import { type OuterRequest, requestIdOf } from '../routing/call.ts';
import { serveWithoutUpgrade, type Upgrades } from '../sockets/upgrades.ts';
import { emptyHeaders, joinVary, withHeaders } from './headers.ts';
import type { ServedApp } from './listen.ts';
import { type HttpLogger, malformedTarget, problemResponse } from './problem.ts';
import {
  type CheckedRequest,
  createRequestCheck,
  createRequestGuard,
  type RequestGuardOptions,
} from './request-guard.ts';
import { logRequest } from './request-log.ts';

export interface EmbeddedOptions {
  app: ServedApp;
  /** The path before all routes, or empty. */
  prefix: string;
  guard: RequestGuardOptions;
  logger: HttpLogger;
  /** Without it there are no WebSockets. */
  upgrades?: Upgrades | undefined;
}

export interface Embedded {
  /** `host` is passed to `authenticate`. */
  fetch: (request: Request, host?: unknown) => Promise<Response>;
  /** `next` is called for paths outside of the prefix; without it they get 404. */
  node: (incoming: IncomingMessage, outgoing: ServerResponse, next?: (error?: unknown) => void) => void;
  /**
   * A listener for the event `upgrade` of the program's server. Returns true when it has taken the request: a handshake for a WebSocket of this
   * server, another request to upgrade below the prefix, or any request when there is no other listener. Otherwise it does nothing.
   */
  upgrade: (incoming: IncomingMessage, socket: Duplex, head: Buffer) => boolean;
}

export const embed = (options: EmbeddedOptions): Embedded => {
  const node = nodeHandler(options);
  return { fetch: fetchHandler(options), node, upgrade: upgradeHandler(options, node) };
};

const upgradeHandler = (
  { prefix, upgrades }: EmbeddedOptions,
  node: Embedded['node'],
): Embedded['upgrade'] => {
  const upgrade: Embedded['upgrade'] = (incoming, socket, head) => {
    if (upgrades?.take(incoming, socket, head, (...exchange) => node(...exchange))) return true;
    const server = serverOf(socket);
    if (server === undefined) return false;
    const isOwn = prefix !== '' && isBelow(prefix, pathOf(incoming.url));
    if (!isOwn && !isOnlyListener(server, upgrade)) return false;
    // Node would have served it without an upgrade if there were no listener. The middleware of the program is called too.
    serveWithoutUpgrade(server, incoming, socket, head);
    return true;
  };
  return upgrade;
};

const isOnlyListener = (server: Server, upgrade: Embedded['upgrade']): boolean =>
  server.listeners('upgrade').every((listener) => listener === upgrade);

/** Node sets this property, without a type. Other implementations of its interface may not. */
const serverOf = (socket: Duplex): Server | undefined => {
  const { server } = socket as { server?: unknown };
  return server instanceof Server || server instanceof SecureServer ? (server as Server) : undefined;
};

const pathOf = (url = ''): string => url.split('?', 1)[0] ?? '';

const isBelow = (prefix: string, path: string): boolean => path === prefix || path.startsWith(`${prefix}/`);

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
    // Probes of the program itself may have the same paths.
    if (next && prefix !== '' && !isBelow(prefix, pathOf(url))) return next();
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
