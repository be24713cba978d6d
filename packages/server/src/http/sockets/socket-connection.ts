// One WebSocket. Its messages are JSON texts.
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Problem } from '@svc/contract/problem';
import type { Call } from '../../api/handlers.ts';
import type { SocketListener, SocketPeer, SocketResponse } from '../../api/sockets.ts';
import type { JsonLimits } from '../../json/json-limits.ts';
import type { Parsing } from '../../parsing/parsing.ts';
import { type HttpLogger, logProblem, statusOf, toProblem } from '../server/problem.ts';
import { MessageQueue } from './message-queue.ts';
import { highWaterBytes } from '../streams/sse.ts';

export interface ConnectionOptions {
  messageBytesMax: number;
  heartbeatMs: number;
  bufferBytesMax: number;
  json: JsonLimits;
  parsing: Parsing;
}

/** The request that became the WebSocket. */
export interface ConnectionRequest {
  requestId: string;
  logger: HttpLogger;
  /** Authenticates the caller again. */
  renew: () => Promise<Call>;
}

/** https://www.iana.org/assignments/websocket/websocket.xhtml#close-code-number. For an error: 4000 and its status. */
const codes = { notText: 1003, restart: 1012, later: 1013, ofStatus: 4000 } as const;
/** Of the reason in a close frame. */
const reasonBytesMax = 123;
/** After this many consecutive heartbeats without a byte from the client, its connection is closed. */
const silentBeatsMax = 6;

export class SocketConnection implements SocketPeer {
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
  readonly #ws: WebSocket;
  readonly #request: ConnectionRequest;
  readonly #listener: SocketListener;
  readonly #messages: MessageQueue;
  readonly #writer: SocketWriter;
  readonly #beat: NodeJS.Timeout;
  #isEnded = false;
  #silentBeats = 0;

  constructor(
    ws: WebSocket,
    socket: Socket,
    response: SocketResponse,
    request: ConnectionRequest,
    options: ConnectionOptions,
  ) {
    const { messageBytesMax, json, parsing, bufferBytesMax, heartbeatMs } = options;
    this.#ws = ws;
    this.closed = new Promise((resolve) => ws.once('close', () => resolve()));
    this.#request = request;
    this.#writer = new SocketWriter(ws, socket, {
      bufferBytesMax,
      onOverflow: (bytes) => this.#drop(bytes),
    });
    this.#messages = new MessageQueue(ws, {
      bytesMax: messageBytesMax,
      json,
      parsing,
      receive: (value) => this.#listener.receive(value),
      onFault: (error) => this.#listener.receiveFault(this.report(error)),
      onError: (error) => this.fail(error),
    });
    this.#listener = response.accept(this);
    this.#beat = setInterval(() => this.#heartbeat(socket), heartbeatMs);
    ws.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.#close(codes.notText, 'Messages are texts, not binary data.');
      else this.#messages.push(data);
    });
    // The library closes the connection with the code of the fault, such as 1009 for a message over the limit.
    ws.on('error', () => this.#end());
    ws.on('close', () => this.#end());
    for (const frame of ['ping', 'pong'] as const)
      ws.on(frame, (payload) => this.#messages.discount(payload));
    // The library has its listener already, and reports the frames of the bytes in it. These are called before and after.
    socket.prependListener('data', ({ length }: Buffer) => {
      this.#silentBeats = 0;
      this.#messages.count(length);
    });
    socket.on('data', () => this.#messages.holdMemory());
  }

  send(text: string): boolean {
    return this.#writer.send(text);
  }

  drained(): Promise<void> {
    return this.#writer.drained();
  }

  call(): Promise<Call> {
    return this.#request.renew();
  }

  report(error: unknown): Problem {
    const problem = toProblem(error);
    logProblem(problem, this.#request.requestId, this.#request.logger);
    return problem;
  }

  fail(error: unknown): void {
    if (this.#isEnded) return;
    const problem = this.report(error);
    this.#close(codes.ofStatus + statusOf(problem), problem.message);
  }

  /** Answers the messages in flight, and asks the client to connect again. */
  drain(): void {
    this.#messages.drain(() => this.#close(codes.restart, 'The server restarts.'));
  }

  terminate(): void {
    this.#ws.terminate();
  }

  #heartbeat({ writableLength }: Socket): void {
    // A client that is not read cannot show that it is there.
    if (this.#messages.isPaused || ++this.#silentBeats <= silentBeatsMax) return this.#ws.ping();
    this.#drop(writableLength);
  }

  /** Closes the connection of a client that is slow or gone. The log keeps the events: the client gets them when it connects again. */
  #drop(bytes: number): void {
    if (this.#isEnded) return;
    const { logger, requestId } = this.#request;
    logger.info({ request_id: requestId, buffered_bytes: bytes }, 'stream client too slow');
    this.#close(codes.later, 'The client reads too slowly.');
  }

  #close(code: number, reason: string): void {
    this.#end();
    this.#ws.close(code, cut(reason));
    // The close frame of the client has to be read.
    this.#ws.resume();
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearInterval(this.#beat);
    this.#messages.end();
    this.#writer.end();
    this.#listener.stop();
  }
}

/** The text up to the limit of bytes, without a part of a character. */
const cut = (text: string): string => {
  const bytes = Buffer.from(text);
  return bytes.length <= reasonBytesMax
    ? text
    : bytes
        .subarray(0, reasonBytesMax)
        .toString()
        .replace(/\uFFFD+$/, '');
};

// Sends texts over a WebSocket. Texts of one turn of the event loop are sent in one write. If the client does not read, at most
// `bufferBytesMax` and the texts of one turn are buffered.

interface WriterOptions {
  bufferBytesMax: number;
  /** Called when more is buffered than is allowed. */
  onOverflow: (bufferedBytes: number) => void;
}

class SocketWriter {
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
