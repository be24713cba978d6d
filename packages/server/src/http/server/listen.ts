import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Problem, problems, type ProblemCode } from '@svc/contract/problem';
import type { Hono } from 'hono';
import type { HttpEnv } from '../routing/call.ts';
import { createRequestGuard, type RequestGuardOptions } from './request-guard.ts';
import { jsonHeaders } from './headers.ts';
import { type HttpLogger, problemBody, problemResponse } from './problem.ts';

export interface ListenOptions {
  host: string;
  /** 0 for any free port. */
  port: number;
  logger: HttpLogger;
  /** What is asked of every request, whatever its route. */
  guard?: RequestGuardOptions | undefined;
  /** How long `close` lets open responses finish. */
  graceMs?: number | undefined;
}

export interface Listening {
  url: string;
  /** Stops accepting; resolves when the open responses have ended. */
  stop(): Promise<void>;
  /** Stops accepting, waits for open responses as long as the grace allows, then cuts them. */
  close(): Promise<void>;
}

/** Binds the app to an address. Throws a Problem that says what is wrong with it. */
export const listen = async (app: Hono<HttpEnv>, options: ListenOptions): Promise<Listening> => {
  const { host, port, logger, graceMs = 5000 } = options;
  const listener = getRequestListener(app.fetch, {
    errorHandler: (cause) => {
      // Reached only by requests that never became one: a host or URL that cannot be parsed.
      const problem = new Problem('bad_request', 'The URL or the Host header of the request is malformed.', {
        cause,
      });
      return problemResponse(problem, randomUUID(), logger);
    },
  });
  const passes = createRequestGuard(options.guard ?? {}, logger);
  const server = createServer(
    {
      maxHeaderSize: 16_384,
      // Both bound the receiving of a request, never the response: streams last as long as they last.
      headersTimeout: 10_000,
      requestTimeout: 60_000,
      connectionsCheckingInterval: 5000,
      // Longer than the idle time of common load balancers, so that they, not we, close an idle connection.
      keepAliveTimeout: 65_000,
      // The request guard answers that with a body.
      requireHostHeader: false,
    },
    (incoming, outgoing) => handle(incoming, outgoing),
  );
  // All that fit into the largest head: Node drops what is beyond this number without a word.
  server.maxHeadersCount = 0;
  /** The newest response of each connection. */
  const responses = new WeakMap<object, ServerResponse>();
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    responses.set(incoming.socket, outgoing);
    if (passes(incoming, outgoing)) void listener(incoming, outgoing);
  };
  server.on('checkExpectation', handle);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const last = responses.get(socket);
    refuse(error, socket, last !== undefined && !last.writableFinished && last.headersSent);
  });
  await bind(server, host, port);
  const bound = (server.address() as AddressInfo).port;
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= stopGracefully(server));
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    stop,
    close: async () => {
      const cut = setTimeout(() => server.closeAllConnections(), graceMs);
      await stop();
      clearTimeout(cut);
    },
  };
};

/** Throws a Problem when the address cannot be bound: before the database is opened and keys are made. */
export const assertBindable = async (host: string, port: number): Promise<void> => {
  const server = createServer();
  await bind(server, host, port);
  await new Promise((resolve) => server.close(resolve));
};

const bind = (server: Server, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(bindProblem(cause, host, port)));
    server.listen(port, host, resolve);
  });

const bindProblem = (cause: NodeJS.ErrnoException, host: string, port: number): Problem => {
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is in use; stop what uses it or choose another with --port.`,
    EACCES: `Port ${port} on ${host} needs more rights than this process has; choose one above 1023 with --port.`,
    EADDRNOTAVAIL: `This machine has no address ${host}; choose another with --host.`,
    ENOTFOUND: `The host ${host} has no address; choose another with --host.`,
  };
  const sentence = reasons[cause.code ?? ''] ?? `Cannot listen on ${host}:${port}: ${cause.message}.`;
  return new Problem('unavailable', sentence, { cause });
};

const stopGracefully = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    // A connection whose last response ends now would otherwise wait for its next request.
    const sweep = setInterval(() => server.closeIdleConnections(), 20);
    server.close(() => {
      clearInterval(sweep);
      resolve();
    });
    server.closeIdleConnections();
  });

/**
 * What Node's parser refused never becomes a request; it still gets an answer of the usual shape. `isAnswering`: a part of another
 * answer is on its way, and would be mistaken for this one.
 */
const refuse = (error: NodeJS.ErrnoException, socket: Socket, isAnswering: boolean): void => {
  if (!socket.writable || isAnswering) {
    socket.destroy();
    return;
  }
  const { status, code, message } = refusals[error.code ?? ''] ?? malformed;
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

interface Refusal {
  status: string;
  code: ProblemCode;
  message: string;
}

const malformed: Refusal = {
  status: '400 Bad Request',
  code: 'bad_request',
  message: 'This is not valid HTTP.',
};

const refusals: Record<string, Refusal> = {
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
