// Parses and handles the messages of a WebSocket, several at a time, and begins in their order. When too many are unanswered, the server reads
// nothing more from the client.
import { commandAnyText } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import type { WebSocket } from 'ws';
import type { JsonLimits } from '../../json/json-limits.ts';
import type { Parsing } from '../../parsing/parsing.ts';
import { memoryOf, parseBody, smallBytesMax } from '../body/body.ts';

export interface MessageQueueOptions {
  bytesMax: number;
  json: JsonLimits;
  parsing: Parsing;
  /** Called with each message in turn; resolves when it was answered. */
  receive: (value: unknown) => Promise<void>;
  /** Called for a message that cannot be parsed. */
  onFault: (error: unknown) => void;
  /** Called when there is no memory for a large message, or when a message could not be answered. */
  onError: (error: unknown) => void;
}

interface Message {
  data: Buffer;
  /** Memory for a large message; resolves with a function that releases it. */
  memory: Promise<() => void> | undefined;
}

const inFlightMax = 16;
/** Of a control frame from a client: two bytes, and the mask of its payload. */
const controlHeadBytes = 6;
/** Time limit for the rest of a large message, because memory is reserved for it. */
const arrivalMs = 60_000;

export class MessageQueue {
  readonly #ws: Pick<WebSocket, 'pause' | 'resume'>;
  readonly #options: MessageQueueOptions;
  readonly #messages: Message[] = [];
  readonly #pauses = new Set<'queue' | 'memory'>();
  /** Bytes since the last message, without control frames. */
  #received = 0;
  #memory: Message['memory'];
  #arrival: NodeJS.Timeout | undefined;
  #inFlight = 0;
  #isTaking = false;
  #isEnded = false;
  #onIdle: (() => void) | undefined;

  constructor(ws: Pick<WebSocket, 'pause' | 'resume'>, options: MessageQueueOptions) {
    this.#ws = ws;
    this.#options = options;
  }

  /** True while the server does not read from the client. */
  get isPaused(): boolean {
    return this.#pauses.size > 0;
  }

  /** Called with the bytes of a read before their frames are reported. */
  count(bytes: number): void {
    this.#received += bytes;
  }

  /** Called for a ping or a pong, also between the fragments of a message. The bytes of the fragments stay counted. */
  discount(payload: Buffer): void {
    this.#received = Math.max(0, this.#received - controlHeadBytes - payload.length);
  }

  /** Called when the frames of a read were reported. Reserves memory for a large message before its rest is read. */
  holdMemory(): void {
    if (this.#received <= smallBytesMax || this.#memory || this.#isEnded) return;
    this.#pause('memory');
    this.#memory = this.#options.parsing.memory.hold(memoryOf(this.#options.bytesMax));
    this.#arrival = setTimeout(() => this.#options.onError(tooSlow()), arrivalMs);
    this.#memory.catch(this.#options.onError).finally(() => this.#resume('memory'));
  }

  push(data: Buffer): void {
    if (this.#isEnded) return;
    this.#messages.push({ data, memory: this.#memory });
    this.#memory = undefined;
    clearTimeout(this.#arrival);
    this.#received = 0;
    if (this.#isTaking || this.#inFlight >= inFlightMax) this.#pause('queue');
    else void this.#take();
  }

  /** Accepts no more messages. Calls `onIdle` when all messages in flight are answered. */
  drain(onIdle: () => void): void {
    this.end();
    if (this.#inFlight === 0) onIdle();
    else this.#onIdle = onIdle;
  }

  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#arrival);
    for (const { memory } of [{ memory: this.#memory }, ...this.#messages.splice(0)]) releaseOf(memory);
    this.#memory = undefined;
  }

  async #take(): Promise<void> {
    this.#isTaking = true;
    while (this.#inFlight < inFlightMax) {
      const message = this.#messages.shift();
      if (message === undefined) break;
      this.#inFlight++;
      // The next message is not taken before this one was parsed and its handling has begun.
      const handled = await this.#begin(message);
      void handled.answered.catch(this.#options.onError).finally(() => this.#finish(message));
    }
    this.#isTaking = false;
    if (this.#messages.length === 0) this.#resume('queue');
  }

  /** Returns the promise in an object, because an async function would await it. */
  async #begin({ data, memory }: Message): Promise<{ answered: Promise<void> }> {
    const { parsing, bytesMax, json, receive, onFault } = this.#options;
    try {
      await memory;
      const limits = { ...parsing, bytesMax, uploadBytesMax: bytesMax, json };
      const value = await parseBody([data], limits, { anyText: commandAnyText });
      return { answered: this.#isEnded ? Promise.resolve() : receive(value) };
    } catch (error) {
      onFault(error);
      return { answered: Promise.resolve() };
    }
  }

  #finish({ memory }: Message): void {
    releaseOf(memory);
    this.#inFlight--;
    if (this.#inFlight === 0) this.#onIdle?.();
    if (!this.#isTaking && this.#messages.length > 0) void this.#take();
  }

  #pause(reason: 'queue' | 'memory'): void {
    this.#pauses.add(reason);
    this.#ws.pause();
  }

  #resume(reason: 'queue' | 'memory'): void {
    this.#pauses.delete(reason);
    if (this.#pauses.size === 0) this.#ws.resume();
  }
}

const tooSlow = (): Problem => new Problem('timeout', 'The message took too long to arrive.');

/** Releases the memory, also if it is granted later. */
const releaseOf = (memory: Message['memory']): void =>
  void memory?.then(
    (release) => release(),
    // The code that reserved it reports the error.
    () => undefined,
  );
