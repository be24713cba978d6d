// Server-sent events, written directly to Node's response. Frames of one turn of the event loop are sent in one write. For a client
// that does not read, at most the frames of one turn and `bufferBytesMax` are buffered; then its connection is closed.
import type { Writable } from 'node:stream';
import {
  EventStreamResponse,
  type EventWriter,
  type Resumption,
  type SseBody,
  type StreamEvent,
} from '../../api/handlers.ts';
import { type HttpLogger, isOutage, logProblem, toProblem } from '../server/problem.ts';
import { settledWithin } from '../../backoff.ts';

/** When more bytes wait for the client of a stream, sources that can wait should wait. */
export const highWaterBytes = 65_536;

export interface SseOptions {
  /** Clients measure the interval, and consider a connection dead after three intervals without a byte. */
  heartbeatMs: number;
  bufferBytesMax: number;
  /** The streams that are interrupted when the server stops. */
  open?: OpenStreams | undefined;
}

export interface SseRequest {
  requestId: string;
  logger: HttpLogger;
}

/** After this many consecutive heartbeats at which the client is behind, its connection is closed. */
const stalledBeatsMax = 6;
// A single line end: after a blank line, clients would dispatch an empty event.
const heartbeat = ': heartbeat\n';

// includes() is several times faster than a regular expression here.
const oneLine = (text: string): string =>
  text.includes('\n') || text.includes('\r') ? text.replaceAll(/[\r\n]+/g, ' ') : text;

/** The frame of an event. Line ends are replaced by spaces, which is equivalent between the tokens of JSON. */
export const toFrame = ({ id, event, data }: StreamEvent): string => {
  const head = id === undefined ? '' : `id: ${oneLine(id)}\n`;
  return `${head}event: ${oneLine(event)}\ndata: ${oneLine(data)}\n\n`;
};

/** The data of the last event of a stream that the server interrupts. `why`: a sentence. */
const interruption = (
  why: string,
  resumption: Resumption,
  lastId: string | undefined,
): object | undefined => {
  if (resumption === 'none') return undefined;
  const how =
    resumption === 'since'
      ? 'Send the request again with since: the seq of the last event'
      : 'Open the stream again, at the Location of this response if it has one, with ' +
        (lastId === undefined ? 'the same Last-Event-ID' : `Last-Event-ID: ${oneLine(lastId)}`);
  return { message: `${why} ${how}.`, last_event_id: lastId ?? null };
};

/** Node's response, or a plain stream instead. */
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
  #resumption: Resumption = 'none';
  #lastId: string | undefined;
  #waiting: (() => void)[] = [];

  constructor(out: SseTarget, options: SseOptions, request: SseRequest) {
    this.#out = out;
    this.#options = options;
    this.#request = request;
    this.#flushSoon = () => {
      this.#scheduled = false;
      this.#flush();
    };
    // The head is sent with the first events if there are any already, otherwise alone.
    setImmediate(() => (this.#pending === '' ? out.flushHeaders?.() : this.#flush()));
    this.#beat = setInterval(() => this.#heartbeat(), options.heartbeatMs);
    out.on('close', () => this.#close());
    out.on('error', () => this.#close());
    out.on('drain', () => this.#release());
    options.open?.add(this);
    if (out.destroyed) this.#close();
  }

  /** Starts the source. It is stopped when the stream closes, for whatever reason. */
  run(body: SseBody): void {
    if (body instanceof EventStreamResponse) this.#resumption = body.resumption;
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
    this.#lastId = event.id ?? this.#lastId;
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
    // Stock clients take an event `error` for the end of the run.
    if (isOutage(problem) && this.#resumption !== 'none')
      return void this.#cut(`The stream was interrupted: ${problem.message}.`);
    this.send({ event: 'error', data: JSON.stringify({ error: problem.code, message: problem.message }) });
    this.end();
  }

  async interrupt(): Promise<void> {
    await this.#cut('The server stops before the stream has ended.');
  }

  /**
   * Sends the last event, and breaks the connection. Stock clients take a response that ends for the end of the run, and reconnect after one
   * that breaks.
   */
  async #cut(why: string): Promise<void> {
    if (this.#closed) return;
    const data = interruption(why, this.#resumption, this.#lastId);
    if (data !== undefined) this.send({ event: 'reconnect', data: JSON.stringify(data) });
    this.#flush();
    const sent = new Promise<void>((resolve) => {
      if (this.#out.destroyed) resolve();
      else this.#out.write(heartbeat, () => resolve());
    });
    this.#close();
    await sent;
    this.#out.destroy();
  }

  #flush(): void {
    if (this.#closed || this.#pending === '') return;
    const text = this.#pending;
    this.#pending = '';
    const waiting = this.#out.writableLength;
    const { bufferBytesMax } = this.#options;
    // A replay or one large event may exceed the bound alone: it is counted only after the client could read it.
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

  /** Closes the connection of a slow client. The log keeps the events: the client resumes from the last id that it got. */
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
    this.#options.open?.delete(this);
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

/** Reads an iterable into the sink, no faster than the client reads. Returns a function that stops it. */
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
    // An iterator that waits in next() settles this later. Its errors are ignored, because the stream has ended.
    iterator.return?.().catch(() => undefined);
  };
};

/** Streams `body` into a response whose head was sent. */
export const streamEvents = (
  out: SseTarget,
  body: SseBody,
  options: SseOptions,
  request: SseRequest,
): void => {
  new SseStream(out, options, request).run(body);
};

// The open event streams of a server. When the server stops before they have ended, each gets a last event that says how to continue.

/** How long a client may take to receive the last event. */
const lastEventMs = 1_000;

interface OpenStream {
  /** Sends the last event, and then closes the connection. */
  interrupt(): Promise<void>;
}

export class OpenStreams {
  readonly #streams = new Set<OpenStream>();

  add(stream: OpenStream): void {
    this.#streams.add(stream);
  }

  delete(stream: OpenStream): void {
    this.#streams.delete(stream);
  }

  /** Resolves when all clients have received the last event, or after a second. */
  interrupt(): Promise<void> {
    return settledWithin(Promise.all([...this.#streams].map((stream) => stream.interrupt())), lastEventMs);
  }
}
