// One POST or PATCH for a trace run, parsed but not validated.
import { Problem } from '@svc/contract/problem';
import type { JsonPlace } from '../../json/json-places.ts';
import type { Cell } from '../../storage/postgres/column-array.ts';

/** Fields that are stored as the JSON text that was sent. */
export const payloadNames = ['inputs', 'outputs', 'events', 'extra', 'error', 'serialized'] as const;
export type PayloadName = (typeof payloadNames)[number];

export interface Payload {
  text: Cell & (string | Uint8Array);
  value: unknown;
}

export interface SentRun {
  operation: 'post' | 'patch';
  id: string;
  /** All fields except the payloads. */
  main: Record<string, unknown>;
  payloads: Partial<Record<PayloadName, Payload>>;
  /** Payloads that are not the JSON that they should be, and are stored as text. */
  notes?: string[];
  /** Hash of all fields; detects a repeated write. */
  hash: string;
}

/** The payloads of a run, as they were sent. `run`: the parsed object, which is at `place` in the text. */
export const payloadsIn = (
  run: Record<string, unknown>,
  text: string,
  { inner }: JsonPlace,
): SentRun['payloads'] => {
  const payloads: SentRun['payloads'] = {};
  for (const name of payloadNames) {
    const place = inner.get(name);
    if (place) payloads[name] = { text: text.slice(place.start, place.end), value: run[name] };
  }
  return payloads;
};

/** A run that was not stored, and the reason. */
export interface Rejection {
  id: string | null;
  message: string;
}

/** A run is invalid. The other runs of its batch are stored. */
export class RunRejected extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RunRejected';
  }
}

/** Every run has a fixed cost in the statement that stores it, however short it is. */
const runsMax = 20_000;

/** Throws when a request has too many runs. */
export const assertRuns = (count: number): void => {
  if (count > runsMax)
    throw new Problem(
      'too_large',
      `A request may have at most ${runsMax} runs. Send more in several requests.`,
    );
};

/** Feedback in a part of a multipart body, as it was sent. */
export interface SentFeedback {
  /** The id in the name of the part. */
  id: string;
  content: Uint8Array;
}

/** Of a request. Feedback is parsed on the main thread, and each is stored by a statement of its own. */
const limits = { count: 1_000, bytes: 1_048_576 };

/** The feedback of a request, up to the limits. */
export class FeedbackParts {
  readonly all: SentFeedback[] = [];
  #bytes = 0;

  /** Returns why the part is refused, or undefined. */
  add(part: SentFeedback): string | undefined {
    const bytes = this.#bytes + part.content.length;
    if (this.all.length === limits.count || bytes > limits.bytes)
      return `a request has at most ${limits.count} feedback parts, of ${limits.bytes} bytes together`;
    this.#bytes = bytes;
    this.all.push(part);
    return undefined;
  }
}

// The rejected runs of a batch: all are counted, the first ones are listed in the response. Stored runs that differ from what was sent are
// listed too.

/** Maximum number of rejections that a response lists. */
const namedMax = 100;

export class Rejections {
  readonly named: Rejection[] = [];
  count = 0;

  add(id: string | null, message: string): void {
    this.addAll([{ id, message }], 1);
  }

  /** Lists a run that was stored, and how it differs from what was sent. */
  note(id: string, message: string): void {
    this.addAll([{ id, message }], 0);
  }

  addAll(named: readonly Rejection[], count: number): void {
    this.count += count;
    for (const one of named) if (this.named.length < namedMax) this.named.push(one);
  }
}
