// Server-sent events, written straight to Node's response: frames that come within one turn of the event loop
// leave in one write. A client that does not read costs at most what came in one turn and `bufferBytesMax`, then
// its connection.
import { PassThrough, type Writable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { EventStreamResponse, type EventWriter, type SseBody, type StreamEvent } from '../../api/handlers.ts';
import { type HttpLogger, logProblem, toProblem } from '../server/problem.ts';

export interface SseOptions {
  /** Clients measure the interval and take three times of it without a byte for a dead connection. */
  heartbeatMs: number;
  bufferBytesMax: number;
}

export interface SseRequest {
  requestId: string;
  logger: HttpLogger;
}

/** Above this, whoever can wait should. */
const highWaterBytes = 65_536;
/** Heartbeats in a row that found the client behind: it has stopped reading. */
const stalledBeatsMax = 6;
// One line with a single line end: a blank line after it would make clients dispatch an empty event.
const heartbeat = ': heartbeat\n';

const oneLine = (text: string): string => (/[\r\n]/.test(text) ? text.replaceAll(/[\r\n]+/g, ' ') : text);

/** A frame. Line ends inside JSON text are blanks between tokens, so a space says the same. */
export const toFrame = ({ id, event, data }: StreamEvent): string => {
  const head = id === undefined ? '' : `id: ${oneLine(id)}\n`;
  return `${head}event: ${oneLine(event)}\ndata: ${oneLine(data)}\n\n`;
};

/** Node's response, or a plain stream in its place. */
type SseTarget = Writable & { flushHeaders?: () => void };

class SseStream implements EventWriter {
  readonly #out: SseTarget;
  readonly #options: SseOptions;
  readonly #request: SseRequest;
  readonly #beat: NodeJS.Timeout;
  readonly #flushSoon: () => void;
  #pending = '';
  #scheduled = false;
  #closed = false;
  #stalledBeats = 0;
  #allowance = 0;
  #stop: (() => void) | undefined;
  #waiting: (() => void)[] = [];

  constructor(out: SseTarget, options: SseOptions, request: SseRequest) {
    this.#out = out;
    this.#options = options;
    this.#request = request;
    this.#flushSoon = () => {
      this.#scheduled = false;
      this.#flush();
    };
    // The head leaves with the first events if there are any already, else alone.
    setImmediate(() => (this.#pending === '' ? out.flushHeaders?.() : this.#flush()));
    this.#beat = setInterval(() => this.#heartbeat(), options.heartbeatMs);
    out.on('close', () => this.#close());
    out.on('error', () => this.#close());
    out.on('drain', () => this.#release());
    if (out.destroyed) this.#close();
  }

  /** Takes over the source: it is stopped when the stream closes, for whatever reason. */
  run(body: SseBody): void {
    try {
      this.#stop = body instanceof EventStreamResponse ? body.start(this) : pump(body, this);
    } catch (error) {
      this.fail(error);
    }
    if (this.#closed) this.#stopSource();
  }

  send(event: StreamEvent): boolean {
    if (this.#closed) return true;
    this.#pending += toFrame(event);
    if (!this.#scheduled) {
      this.#scheduled = true;
      setImmediate(this.#flushSoon);
    }
    return !this.#isBehind();
  }

  drained(): Promise<void> {
    if (this.#closed || !this.#isBehind()) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  end(): void {
    if (this.#closed) return;
    this.#flush();
    if (!this.#out.destroyed) this.#out.end();
    this.#close();
  }

  fail(error: unknown): void {
    if (this.#closed) return;
    const problem = toProblem(error);
    logProblem(problem, this.#request.requestId, this.#request.logger);
    this.send({ event: 'error', data: JSON.stringify({ error: problem.code, message: problem.message }) });
    this.end();
  }

  #flush(): void {
    if (this.#closed || this.#pending === '') return;
    const text = this.#pending;
    this.#pending = '';
    const waiting = this.#out.writableLength;
    const { bufferBytesMax } = this.#options;
    // A replay or one large event may be over the bound by itself: it counts only once the client had its chance.
    if (waiting <= bufferBytesMax) this.#allowance = bufferBytesMax + text.length;
    else if (waiting > this.#allowance) return this.#drop();
    if (this.#out.write(text)) this.#release();
  }

  #isBehind(): boolean {
    return this.#pending.length >= highWaterBytes || this.#out.writableNeedDrain;
  }

  #heartbeat(): void {
    if (this.#out.writableNeedDrain) {
      if (++this.#stalledBeats >= stalledBeatsMax) return this.#drop();
    } else this.#stalledBeats = 0;
    this.#flush();
    if (!this.#closed) this.#out.write(heartbeat);
  }

  /** The connection goes, the log of events stays: the client resumes by the last id it saw. */
  #drop(): void {
    const { requestId, logger } = this.#request;
    logger.info(
      { request_id: requestId, buffered_bytes: this.#out.writableLength },
      'stream client too slow',
    );
    this.#close();
    this.#out.destroy();
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#pending = '';
    clearInterval(this.#beat);
    this.#stopSource();
    this.#release();
  }

  #stopSource(): void {
    const stop = this.#stop;
    this.#stop = undefined;
    try {
      stop?.();
    } catch (error) {
      logProblem(toProblem(error), this.#request.requestId, this.#request.logger);
    }
  }

  #release(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** Reads an iterable into the sink no faster than the client reads; returns what stops it. */
const pump = (events: AsyncIterable<StreamEvent>, sink: EventWriter): (() => void) => {
  const iterator = events[Symbol.asyncIterator]();
  let stopped = false;
  const read = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await iterator.next();
      if (stopped) return;
      if (done === true) return sink.end();
      if (!sink.send(value)) await sink.drained();
    }
  };
  read().catch((error: unknown) => sink.fail(error));
  return () => {
    stopped = true;
    // An iterator that waits in next() settles this later; what it throws has no reader any more.
    iterator.return?.().catch(() => undefined);
  };
};

/** Streams `body` into a response whose head is written already. */
export const streamEvents = (
  out: SseTarget,
  body: SseBody,
  options: SseOptions,
  request: SseRequest,
): void => {
  new SseStream(out, options, request).run(body);
};

/** The same without a socket, for `app.request()`. */
export const eventsBody = (body: SseBody, options: SseOptions, request: SseRequest): ReadableStream => {
  const through = new PassThrough();
  streamEvents(through, body, options, request);
  return PassThrough.toWeb(through).readable as ReadableStream;
};
