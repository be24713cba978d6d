// Requests for a WebSocket. Node passes their connection without a response object. Here they get one, and pass the request guard, the router and
// authentication like every other request, until the handler of a route of kind `socket` accepts them. A request to upgrade at another path, or
// to another protocol, is served as if it had no `Upgrade` header: HTTP/1.1 allows that.
import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { WebSocketServer } from 'ws';
import type { Routes } from '@svc/contract';
import type { SocketResponse } from '../../api/sockets.ts';
import { HttpProblem } from '../server/problem.ts';
import { type ConnectionOptions, type ConnectionRequest, SocketConnection } from './socket-connection.ts';
import { withoutPrefix } from '../server/request-path.ts';

export interface UpgradeOptions extends ConnectionOptions {
  /** Whether a request for this URL may become a WebSocket. */
  isSocketUrl: (url: string) => boolean;
}

type Handle = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** How long a client has to answer the close frame before its connection is closed. */
const closeTimeoutMs = 5_000;
/** Fragments of one message: each needs memory. */
const fragmentsMax = 1_000;

export class Upgrades {
  readonly #options: UpgradeOptions;
  readonly #handshakes: WebSocketServer;
  /** The first bytes after the requests for a WebSocket. */
  readonly #heads = new WeakMap<IncomingMessage, Buffer>();
  readonly #open = new Set<SocketConnection>();
  #isStopping = false;

  constructor(options: UpgradeOptions) {
    this.#options = options;
    // In a variable, because the types of the library lack `closeTimeout`.
    const handshake = {
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: options.messageBytesMax,
      maxFragments: fragmentsMax,
      closeTimeout: closeTimeoutMs,
    };
    this.#handshakes = new WebSocketServer(handshake);
    // With a listener, the library sends no response of its own. `accept` throws the error.
    this.#handshakes.on('wsClientError', ({ message }) => {
      throw new HttpProblem(400, 'bad_request', `The WebSocket handshake is not valid: ${message}.`);
    });
  }

  /** Passes requests for a WebSocket to `handle`, like other requests. */
  listen(server: Server, handle: Handle): void {
    server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (!this.take(incoming, socket, head, handle)) serveWithoutUpgrade(server, incoming, socket, head);
    });
  }

  /** Passes a request for a WebSocket to `handle`, with a response. Returns false, and does nothing, for another request. */
  take(incoming: IncomingMessage, socket: Duplex, head: Buffer, handle: Handle): boolean {
    if (!this.#isHandshake(incoming)) return false;
    // Node's server has removed its own listener.
    socket.on('error', () => socket.destroy());
    const outgoing = new ServerResponse(incoming);
    outgoing.shouldKeepAlive = false;
    outgoing.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0]);
    outgoing.once('finish', () => socket.end(() => socket.destroy()));
    this.#heads.set(incoming, head);
    handle(incoming, outgoing);
    return true;
  }

  /**
   * Completes the handshake. The response stays assigned to the connection, so its `close` event reports the end of the connection. Throws a
   * Problem if the handshake is missing or not valid.
   */
  accept(outgoing: ServerResponse, response: SocketResponse, request: ConnectionRequest): void {
    const { socket, req: incoming } = outgoing;
    const head = this.#heads.get(incoming);
    if (head === undefined) throw incoming.headers.upgrade === undefined ? handshakeNeeded() : notPassed();
    if (socket === null) throw handshakeNeeded();
    if (this.#isStopping) throw new HttpProblem(503, 'unavailable', 'The server stops.');
    this.#handshakes.handleUpgrade(incoming, socket, head, (ws) => {
      outgoing.statusCode = 101;
      const connection = new SocketConnection(ws, socket, response, request, this.#options);
      this.#open.add(connection);
      void connection.closed.then(() => this.#open.delete(connection));
    });
    if (outgoing.statusCode !== 101)
      throw new HttpProblem(400, 'bad_request', 'The client has disconnected during the handshake.');
  }

  /** Waits for the answers of messages in flight, and asks the clients to connect again. */
  stop(): void {
    this.#isStopping = true;
    for (const connection of this.#open) connection.drain();
  }

  /** Closes all connections at once. */
  terminate(): void {
    for (const connection of this.#open) connection.terminate();
  }

  /** Stops, and resolves when all connections are closed, at the latest after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.stop();
    const cut = setTimeout(() => this.terminate(), graceMs);
    await Promise.all([...this.#open].map(({ closed }) => closed));
    clearTimeout(cut);
  }

  #isHandshake({ method, url = '', headers }: IncomingMessage): boolean {
    return (
      method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && this.#options.isSocketUrl(url)
    );
  }
}

/** The error for a request that is not a handshake, at a path that needs one. */
export const handshakeNeeded = (): HttpProblem =>
  new HttpProblem(426, 'bad_request', 'A GET of this path needs the handshake of a WebSocket.', {
    upgrade: 'websocket',
    // Node would otherwise keep the connection open, also when the client asks to close it.
    connection: 'upgrade, close',
  });

/** The error for a handshake that a program has passed as a request without an upgrade. */
const notPassed = (): HttpProblem =>
  new HttpProblem(
    501,
    'not_supported',
    "The program has no WebSockets of this server: its server needs the listener on('upgrade', svc.upgrade).",
  );

/** Returns the request to the server without its Upgrade header. */
export const serveWithoutUpgrade = (
  server: Server,
  { method, url, httpVersion, rawHeaders }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void => {
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.toLowerCase() !== 'upgrade') text += `${name}: ${rawHeaders[at + 1]}\r\n`;
  }
  socket.unshift(Buffer.concat([Buffer.from(`${text}\r\n`, 'latin1'), head]));
  // A server for HTTPS has decrypted this connection, and handles it as one of HTTP from here.
  server.emit(socket instanceof TLSSocket ? 'secureConnection' : 'connection', socket);
};

// The paths that accept WebSockets.

/** `prefix`: the path before all routes, or empty. */
export const socketUrls = (routes: Routes, prefix: string): ((url: string) => boolean) => {
  const pathInPrefix = withoutPrefix(prefix);
  const patterns = Object.values(routes)
    .filter(({ kind }) => kind === 'socket')
    .map(({ path }) => new RegExp(`^${path.replaceAll(/:[^/]+/g, '[^/]+')}$`));
  return (url) => {
    const path = pathInPrefix(url.split('?', 1)[0] ?? '');
    return patterns.some((pattern) => pattern.test(path));
  };
};
