// A WebSocket of thread protocol v2. Node 20 has no client of its own, and browsers' clients send no headers.
import { WebSocket } from 'ws';
import { CheckFailed, get } from './check.ts';

export interface Close {
  code: number;
  reason: string;
}

/** A response to a handshake that is not 101. */
export class HandshakeRefused extends CheckFailed {
  readonly status: number;

  constructor(url: string, status: number) {
    super(`the handshake of ${url.split('?', 1)[0]}: expected status 101, got ${status}`);
    this.status = status;
  }
}

interface Waiting {
  look: () => boolean;
  fail: (error: Error) => void;
}

/** Bytes of one message that are read. */
const bytesMax = 10_000_000;

export class Socket {
  /** Parsed messages of the server, in their order. */
  readonly messages: unknown[] = [];
  readonly closed: Promise<Close>;
  readonly #ws: WebSocket;
  readonly #waiting = new Set<Waiting>();
  #end: Error | undefined;
  #lastId = 0;

  private constructor(ws: WebSocket, signal: AbortSignal) {
    this.#ws = ws;
    this.closed = new Promise((resolve) => {
      ws.once('close', (code, reason) => {
        this.#fail(
          new CheckFailed(`expected an open WebSocket, but it was closed: ${code} ${String(reason)}`),
        );
        resolve({ code, reason: String(reason) });
      });
    });
    // The end of the connection is reported by the event `close` too.
    ws.on('error', (error) => this.#fail(error));
    ws.on('message', (data: Buffer, isBinary) => this.#receive(data, isBinary));
    const abort = (): void => {
      this.#fail(signal.reason as Error);
      ws.terminate();
    };
    signal.addEventListener('abort', abort, { once: true });
  }

  static async open(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Socket> {
    signal.throwIfAborted();
    const ws = new WebSocket(url, { headers, maxPayload: bytesMax, perMessageDeflate: false });
    const socket = new Socket(ws, signal);
    await new Promise<void>((resolve, reject) => {
      ws.once('open', resolve);
      ws.once('error', reject);
      ws.once('close', () => reject(new CheckFailed('expected an open WebSocket, but it was closed')));
      ws.once('unexpected-response', (request, response) => {
        reject(new HandshakeRefused(url, response.statusCode ?? 0));
        request.destroy();
      });
    });
    return socket;
  }

  send(message: string | Uint8Array): void {
    this.#ws.send(message);
  }

  /** Sends a command, and returns its response. */
  async command(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#lastId;
    this.send(JSON.stringify({ id, method, params }));
    return this.find((message) => get(message, 'id') === id);
  }

  /** Sends a command that must succeed, and returns its result. */
  async result(method: string, params: object = {}): Promise<unknown> {
    const answer = await this.command(method, params);
    if (get(answer, 'type') === 'success') return get(answer, 'result');
    throw new CheckFailed(`expected ${method} to succeed, got ${JSON.stringify(answer)}`);
  }

  /** Resolves with the first message that passes, of those from the index `from` on. */
  find(passes: (message: unknown) => boolean, from = 0): Promise<unknown> {
    return new Promise((resolve, reject) => {
      let at = from;
      const look = (): boolean => {
        for (; at < this.messages.length; at++) {
          const message = this.messages[at];
          if (!passes(message)) continue;
          resolve(message);
          return true;
        }
        return false;
      };
      if (look()) return;
      if (this.#end) reject(this.#end);
      else this.#waiting.add({ look, fail: reject });
    });
  }

  /** Events so far. */
  get events(): unknown[] {
    return this.messages.filter((message) => get(message, 'type') === 'event');
  }

  async close(): Promise<Close> {
    this.#ws.close(1000);
    return this.closed;
  }

  #receive(data: Buffer, isBinary: boolean): void {
    let message: unknown;
    try {
      if (isBinary) throw new Error('binary');
      message = JSON.parse(data.toString()) as unknown;
    } catch {
      const shown = data.toString().slice(0, 200);
      this.#fail(new CheckFailed(`expected JSON texts over the WebSocket, got ${shown}`));
      return;
    }
    this.messages.push(message);
    for (const waiting of this.#waiting) if (waiting.look()) this.#waiting.delete(waiting);
  }

  #fail(error: Error): void {
    this.#end ??= error;
    for (const { fail } of this.#waiting) fail(error);
    this.#waiting.clear();
  }
}
