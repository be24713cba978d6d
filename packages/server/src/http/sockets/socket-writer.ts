// Sends texts over a WebSocket. Texts of one turn of the event loop are sent in one write. If the client does not read, at most
// `bufferBytesMax` and the texts of one turn are buffered.
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { highWaterBytes } from '../streams/sse.ts';

export interface WriterOptions {
  bufferBytesMax: number;
  /** Called when more is buffered than is allowed. */
  onOverflow: (bufferedBytes: number) => void;
}

export class SocketWriter {
  readonly #ws: WebSocket;
  readonly #socket: Socket;
  readonly #options: WriterOptions;
  readonly #flush: () => void;
  #isCorked = false;
  #allowance = 0;
  #waiting: (() => void)[] = [];
  #isEnded = false;

  constructor(ws: WebSocket, socket: Socket, options: WriterOptions) {
    this.#ws = ws;
    this.#socket = socket;
    this.#options = options;
    this.#flush = () => {
      this.#isCorked = false;
      socket.uncork();
    };
    socket.on('drain', () => this.#release());
  }

  /** False when the client is behind. */
  send(text: string): boolean {
    if (this.#isEnded || (!this.#isCorked && !this.#beginTurn())) return true;
    this.#ws.send(text);
    return !this.#isBehind();
  }

  drained(): Promise<void> {
    if (this.#isEnded || !this.#isBehind()) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  end(): void {
    this.#isEnded = true;
    this.#release();
  }

  /** False when the buffer is full. Checked once a turn, so the texts of one turn may exceed the limit: the client had no time to read them. */
  #beginTurn(): boolean {
    const waiting = this.#socket.writableLength;
    const { bufferBytesMax, onOverflow } = this.#options;
    if (waiting > Math.max(bufferBytesMax, this.#allowance)) {
      onOverflow(waiting);
      return false;
    }
    this.#isCorked = true;
    this.#socket.cork();
    setImmediate(() => {
      if (waiting <= bufferBytesMax) this.#allowance = bufferBytesMax + this.#socket.writableLength - waiting;
      this.#flush();
    });
    return true;
  }

  #isBehind(): boolean {
    return this.#socket.writableLength >= highWaterBytes || this.#socket.writableNeedDrain;
  }

  #release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
