import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { Problem, type ProblemCode, problems } from '@svc/contract/problem';
import type { HttpEnv } from '../routing/call.ts';
import type { Upgrades } from '../sockets/upgrades.ts';
import type { OpenStreams } from '../streams/sse.ts';
import { createRequestGuard, type RequestGuardOptions } from './request-guard.ts';
import { jsonHeaders } from './headers.ts';
import { type HttpLogger, malformedTarget, problemBody } from './problem.ts';

export interface ListenOptions {
  host: string;
  /** 0 for any free port. */
  port: number;
  logger: HttpLogger;
  /** Checks of every request, whatever its route. */
  guard?: RequestGuardOptions | undefined;
  /** How long `close` waits for open responses. */
  graceMs?: number | undefined;
  /** Without it there are no WebSockets. */
  upgrades?: Upgrades | undefined;
  /** The event streams of the app. */
  streams?: OpenStreams | undefined;
}

export interface Listening {
  url: string;
  /** Stops accepting connections; resolves when the open responses have ended. */
  stop(): Promise<void>;
  /** Stops accepting connections, waits `graceMs` for open responses, then interrupts streams and closes all connections. */
  close(): Promise<void>;
}

export interface ServedApp {
  fetch(request: Request, env: HttpEnv['Bindings']): Response | Promise<Response>;
}

/** Binds the app to an address. Throws a Problem that explains why the address cannot be used. */
export const listen = async (app: ServedApp, options: ListenOptions): Promise<Listening> => {
  const { host, port, logger, graceMs = 5000 } = options;
  const hostname = host.includes(':') ? `[${host}]` : host;
  const listener = getRequestListener((request, env) => app.fetch(request, env as HttpBindings), {
    errorHandler: malformedTarget(logger),
    // For requests of HTTP/1.0 without a Host header, such as health checks of HAProxy.
    hostname,
  });
  const passes = createRequestGuard(options.guard ?? {}, logger);
  const server = createServer(
    {
      maxHeaderSize: 16_384,
      // Both limit the time to receive a request, not the response: streams have no time limit.
      headersTimeout: 10_000,
      requestTimeout: 60_000,
      connectionsCheckingInterval: 5000,
      // Longer than the idle time of common load balancers, so that they close idle connections, not the server.
      keepAliveTimeout: 65_000,
      // The request guard responds to a missing Host header, with a body.
      requireHostHeader: false,
    },
    (incoming, outgoing) => handle(incoming, outgoing),
  );
  // No limit: Node would silently drop headers beyond it. The size of the head is limited.
  server.maxHeadersCount = 0;
  /** The newest response of each connection. */
  const responses = new WeakMap<object, ServerResponse>();
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    responses.set(incoming.socket, outgoing);
    if (passes(incoming, outgoing)) void listener(incoming, outgoing);
  };
  server.on('checkExpectation', handle);
  options.upgrades?.listen(server, handle);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const last = responses.get(socket);
    respondToFault(error, socket, last !== undefined && !last.writableFinished && last.headersSent);
  });
  await bind(server, host, port);
  const bound = (server.address() as AddressInfo).port;
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    options.upgrades?.stop();
    return (stopped ??= stopGracefully(server));
  };
  return {
    url: `http://${hostname}:${bound}`,
    stop,
    close: async () => {
      const terminate = async (): Promise<void> => {
        await options.streams?.interrupt();
        server.closeAllConnections();
        options.upgrades?.terminate();
      };
      const cut = setTimeout(() => void terminate(), graceMs);
      await stop();
      clearTimeout(cut);
    },
  };
};

const stopGracefully = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    // A connection whose response ends now would otherwise stay open for its next request.
    const sweep = setInterval(() => server.closeIdleConnections(), 20);
    server.close(() => {
      clearInterval(sweep);
      resolve();
    });
    server.closeIdleConnections();
  });

/**
 * Responds to input that Node's parser rejected, with a body of the usual form. `isAnswering`: a part of another response has been sent
 * on the connection, and this one would be taken for its continuation.
 */
const respondToFault = (error: NodeJS.ErrnoException, socket: Socket, isAnswering: boolean): void => {
  if (!socket.writable || isAnswering) {
    socket.destroy();
    return;
  }
  const { status, code, message } = parserFaults[error.code ?? ''] ?? malformed;
  const requestId = randomUUID();
  const body = JSON.stringify(problemBody(new Problem(code, message), requestId));
  const headers = Object.entries({
    ...jsonHeaders,
    'x-request-id': requestId,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  socket.end(`HTTP/1.1 ${status}\r\n${headers}\r\n${body}`);
};

interface ParserFault {
  status: string;
  code: ProblemCode;
  message: string;
}

const malformed: ParserFault = {
  status: '400 Bad Request',
  code: 'bad_request',
  message: 'The request is not valid HTTP.',
};

const parserFaults: Record<string, ParserFault> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'too_large',
    message: 'The request line and headers are larger than 16 KB.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    code: 'timeout',
    message: problems.timeout.title,
  },
};

/** The address for requests from this machine: 0.0.0.0 and [::] are replaced by loopback addresses. */
export const reachableUrl = (url: string): string =>
  url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');

/** Throws a Problem when the address cannot be bound. Called before the database is opened and keys are created. */
export const assertBindable = async (host: string, port: number): Promise<void> => {
  const server = createServer();
  await bind(server, host, port);
  await new Promise((resolve) => server.close(resolve));
};

/** Throws a Problem that explains why the address cannot be used. */
const bind = (server: Server, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(bindProblem(cause, host, port)));
    server.listen(port, host, resolve);
  });

const bindProblem = (cause: NodeJS.ErrnoException, host: string, port: number): Problem => {
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is in use; stop the program that uses it, or choose another port with --port.`,
    EACCES: `Port ${port} on ${host} requires privileges that this process lacks; choose one above 1023 with --port.`,
    EADDRNOTAVAIL: `This machine has no address ${host}; choose another with --host.`,
    ENOTFOUND: `The host ${host} has no address; choose another with --host.`,
  };
  const sentence = reasons[cause.code ?? ''] ?? `Cannot listen on ${host}:${port}: ${cause.message}.`;
  return new Problem('unavailable', sentence, { cause });
};
