// A proxy between a process and PostgreSQL that fails on demand. One per process, so that each can be disconnected separately.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** The number of open connections. */
  readonly connections: number;
  /** Ends all faults; held data is forwarded. */
  pass(): void;
  /** Forwards nothing in either direction, without closing connections. New connections get no response. */
  blackhole(): void;
  /** Resets every open connection once. */
  reset(): void;
  /** Resets every open connection and every new one. */
  refuse(): void;
  /** Delays every packet by `ms` milliseconds in each direction. */
  delay(ms: number): void;
  /** Resets each connection when the server has sent that many more bytes on it. */
  cutAfter(bytes: number): void;
  /**
   * Forwards the next message to the server that contains `text`, and resets the connection instead of forwarding the response. Resolves
   * when that has happened.
   */
  dropReplyOnce(text: string): Promise<void>;
}

/** ReadyForQuery outside of a transaction: the statement is executed and committed. */
const idle = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

interface Drop {
  text: Buffer;
  done: () => void;
}

/** A TCP port, or a Unix socket. */
export type Target = { host: string; port: number } | { path: string };

export const openProxy = async (target: Target): Promise<TcpProxy> => {
  const links = new Set<Link>();
  const network: NetworkState = { mode: 'pass', delayMs: 0, drops: new Set() };
  const server = createServer((client) => {
    const link = new Link(client, target, network, () => links.delete(link));
    links.add(link);
    link.adapt();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const change = (next: Partial<NetworkState>): void => {
    Object.assign(network, next);
    for (const link of links) link.adapt();
  };
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return links.size;
    },
    pass: () => change({ mode: 'pass', delayMs: 0, drops: new Set() }),
    blackhole: () => change({ mode: 'blackhole' }),
    reset: () => {
      for (const link of links) link.reset();
    },
    refuse: () => change({ mode: 'refuse' }),
    delay: (ms) => change({ delayMs: ms }),
    cutAfter: (bytes) => {
      for (const link of links) link.bytesLeft = bytes;
    },
    dropReplyOnce: (text) =>
      new Promise((done) => {
        network.drops.add({ text: Buffer.from(text), done });
      }),
    async [Symbol.asyncDispose]() {
      for (const link of links) link.reset();
      server.close();
      await once(server, 'close');
    },
  };
};

interface NetworkState {
  mode: 'pass' | 'blackhole' | 'refuse';
  delayMs: number;
  drops: Set<Drop>;
}

/** One client connection and its server connection. */
class Link {
  bytesLeft = Infinity;
  readonly #client: Socket;
  readonly #target: Target;
  readonly #network: NetworkState;
  readonly #onClosed: () => void;
  #server: Socket | undefined;
  #dropping: Drop | undefined;
  /** The end of the previous chunk, because the searched text may be split between chunks. */
  #sent = Buffer.alloc(0);
  #received = Buffer.alloc(0);

  constructor(client: Socket, target: Target, network: NetworkState, onClosed: () => void) {
    this.#client = client;
    this.#target = target;
    this.#network = network;
    this.#onClosed = onClosed;
    client.setNoDelay(true).pause();
    client.on('error', () => this.reset());
    client.on('close', () => this.#close());
  }

  /** Applies the current state of the network. */
  adapt(): void {
    if (this.#network.mode === 'refuse') return this.reset();
    if (this.#network.mode === 'blackhole') {
      this.#client.pause();
      this.#server?.pause();
      return;
    }
    this.#server ??= this.#connect();
    this.#client.resume();
    this.#server.resume();
  }

  reset(): void {
    this.#client.resetAndDestroy();
    // A Unix socket cannot be reset.
    if ('path' in this.#target) this.#server?.destroy();
    else this.#server?.resetAndDestroy();
    this.#onClosed();
  }

  #connect(): Socket {
    const server = connect(this.#target).setNoDelay(true);
    server.on('error', () => this.reset());
    server.on('close', () => this.#close());
    const toServer = this.#later((chunk: Buffer) => void server.write(chunk));
    const toClient = this.#later((chunk: Buffer) => this.#forwardResponse(chunk));
    this.#client.on('data', (chunk: Buffer) => {
      this.#inspectRequest(chunk);
      toServer(chunk);
    });
    server.on('data', toClient);
    this.#client.on(
      'end',
      this.#later(() => server.end()),
    );
    server.on(
      'end',
      this.#later(() => this.#client.end()),
    );
    return server;
  }

  /** Delays a function by the configured time; calls stay in order. */
  #later<T extends unknown[]>(act: (...args: T) => void): (...args: T) => void {
    return (...args) => {
      if (this.#network.delayMs === 0) act(...args);
      else setTimeout(() => act(...args), this.#network.delayMs);
    };
  }

  #inspectRequest(chunk: Buffer): void {
    const text = Buffer.concat([this.#sent, chunk]);
    for (const drop of this.#network.drops) {
      // The previous chunk is searched again only for matches that end in this chunk.
      const from = Math.max(0, this.#sent.length - drop.text.length + 1);
      if (this.#dropping || !text.includes(drop.text, from)) continue;
      this.#network.drops.delete(drop);
      this.#dropping = drop;
    }
    this.#sent = Buffer.from(text.subarray(-200));
  }

  #forwardResponse(chunk: Buffer): void {
    if (this.#dropping) {
      const text = Buffer.concat([this.#received, chunk]);
      this.#received = Buffer.from(text.subarray(-idle.length));
      if (!text.includes(idle)) return;
      this.reset();
      this.#dropping.done();
      return;
    }
    this.bytesLeft -= chunk.length;
    if (this.bytesLeft < 0) this.reset();
    else this.#client.write(chunk);
  }

  #close(): void {
    this.#client.destroy();
    this.#server?.destroy();
    this.#onClosed();
  }
}
