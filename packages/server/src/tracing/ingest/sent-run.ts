// What a tracer said of one run, read but not yet checked.
import { Problem } from '@svc/contract/problem';
import type { Cell } from '../../storage/postgres/column-array.ts';

/** Fields that are kept as the JSON text that was sent. */
export const payloadNames = ['inputs', 'outputs', 'events', 'extra', 'error', 'serialized'] as const;
export type PayloadName = (typeof payloadNames)[number];

export interface Payload {
  text: Cell & (string | Uint8Array);
  value: unknown;
}

export interface SentRun {
  operation: 'post' | 'patch';
  id: string;
  /** All fields but those. */
  main: Record<string, unknown>;
  payloads: Partial<Record<PayloadName, Payload>>;
  /** Of everything that was said, for telling what comes again. */
  hash: string;
}

/** What was not taken in, and why. */
export interface Rejection {
  id: string | null;
  message: string;
}

/** A run that cannot be taken in; others of its batch can. */
export class RunRejected extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RunRejected';
  }
}

/** Each run costs the same again in the statement that stores it, however short it is. */
const runsMax = 20_000;

/** Throws when a request has more runs than are stored at once. */
export const assertRuns = (count: number): void => {
  if (count > runsMax)
    throw new Problem(
      'too_large',
      `A request may have at most ${runsMax} runs: send more in several requests.`,
    );
};
