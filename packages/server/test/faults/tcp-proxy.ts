// A network between a process and PostgreSQL that fails on demand. One per process, so that one can be cut alone.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** How many connections go through at the moment. */
  readonly connections: number;
  /** Back to normal: what was held goes on its way. */
  pass(): void;
  /** Nothing arrives any more, in either direction, and nobody is told. New connections get no answer. */
  blackhole(): void;
  /** Every connection is reset, once. */
  reset(): void;
  /** Every connection is reset, and every new one. */
  refuse(): void;
  /** Milliseconds that every packet takes longer, each way. */
  delay(ms: number): void;
  /** Each connection is reset when the server has sent that many bytes more on it. */
  cutAfter(bytes: number): void;
  /**
   * The next message to the server that holds `text` arrives and is carried out; then the connection is reset in
   * place of the answer. Resolves when it has happened.
   */
  dropReplyOnce(text: string): Promise<void>;
}

/** ReadyForQuery, outside of a transaction: what was asked for is done, and committed. */
const idle = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

interface Drop {
  text: Buffer;
  done: () => void;
}

/** Of a TCP port, or a Unix socket. */
export type Target = { host: string; port: number } | { path: string };

export const openProxy = async (target: Target): Promise<TcpProxy> => {
  const links = new Set<Link>();
  const weather: Weather = { mode: 'pass', delayMs: 0, drops: new Set() };
  const server = createServer((client) => {
    const link = new Link(client, target, weather, () => links.delete(link));
    links.add(link);
    link.adapt();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const change = (next: Partial<Weather>): void => {
    Object.assign(weather, next);
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
        weather.drops.add({ text: Buffer.from(text), done });
      }),
    async [Symbol.asyncDispose]() {
      for (const link of links) link.reset();
      server.close();
      await once(server, 'close');
    },
  };
};

interface Weather {
  mode: 'pass' | 'blackhole' | 'refuse';
  delayMs: number;
  drops: Set<Drop>;
}

/** One connection and its other half. */
class Link {
  bytesLeft = Infinity;
  readonly #client: Socket;
  readonly #target: Target;
  readonly #weather: Weather;
  readonly #gone: () => void;
  #server: Socket | undefined;
  #dropping: Drop | undefined;
  /** The end of what came before: what is looked for may be cut in two. */
  #asked = Buffer.alloc(0);
  #answered = Buffer.alloc(0);

  constructor(client: Socket, target: Target, weather: Weather, gone: () => void) {
    this.#client = client;
    this.#target = target;
    this.#weather = weather;
    this.#gone = gone;
    client.setNoDelay(true).pause();
    client.on('error', () => this.reset());
    client.on('close', () => this.#close());
  }

  /** Does what the weather says now. */
  adapt(): void {
    if (this.#weather.mode === 'refuse') return this.reset();
    if (this.#weather.mode === 'blackhole') {
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
    // A Unix socket has no resets.
    if ('path' in this.#target) this.#server?.destroy();
    else this.#server?.resetAndDestroy();
    this.#gone();
  }

  #connect(): Socket {
    const server = connect(this.#target).setNoDelay(true);
    server.on('error', () => this.reset());
    server.on('close', () => this.#close());
    const toServer = this.#later((chunk: Buffer) => void server.write(chunk));
    const toClient = this.#later((chunk: Buffer) => this.#answer(chunk));
    this.#client.on('data', (chunk: Buffer) => {
      this.#ask(chunk);
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

  /** In order, and not before its time. */
  #later<T extends unknown[]>(act: (...args: T) => void): (...args: T) => void {
    return (...args) => {
      if (this.#weather.delayMs === 0) act(...args);
      else setTimeout(() => act(...args), this.#weather.delayMs);
    };
  }

  #ask(chunk: Buffer): void {
    const text = Buffer.concat([this.#asked, chunk]);
    for (const drop of this.#weather.drops) {
      // What came before is looked at again only for the beginning of what ends in this chunk.
      const from = Math.max(0, this.#asked.length - drop.text.length + 1);
      if (this.#dropping || !text.includes(drop.text, from)) continue;
      this.#weather.drops.delete(drop);
      this.#dropping = drop;
    }
    this.#asked = Buffer.from(text.subarray(-200));
  }

  #answer(chunk: Buffer): void {
    if (this.#dropping) {
      const text = Buffer.concat([this.#answered, chunk]);
      this.#answered = Buffer.from(text.subarray(-idle.length));
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
    this.#gone();
  }
}
