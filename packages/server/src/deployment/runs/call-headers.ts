// Headers of requests about runs.
import { invalid } from '@svc/contract/problem';
import type { Call } from '../../api/handlers.ts';
import { isUuid } from '../../storage/postgres/uuid.ts';

/** Undefined when the header is missing or invalid: then only new events are sent. */
export const lastEventId = (call: Call): number | undefined => {
  const header = call.header('last-event-id');
  return header !== undefined && /^-?\d{1,9}$/.test(header) ? Number(header) : undefined;
};

/** A position in a thread's stream: the first stored event, or after an event of a run. */
export type ThreadPosition = 'beginning' | { run_id: string; after: number | typeof endOfRun } | undefined;

/** In an event id of a thread stream: the reader has read the whole run. */
export const endOfRun = 'end';

export const threadPosition = (call: Call): ThreadPosition => {
  const header = call.header('last-event-id');
  if (header === '-' || header === '-1') return 'beginning';
  const [, run_id, after] = /^([^:]+):(-?\d{1,9}|end)$/.exec(header ?? '') ?? [];
  if (!isUuid(run_id)) return undefined;
  return { run_id: run_id.toLowerCase(), after: after === endOfRun ? endOfRun : Number(after) };
};

const keyPattern = /^[\x20-\x7e]{1,255}$/;

/** Throws `invalid` for an invalid key. */
export const idempotencyKey = (call: Call): string | undefined => {
  const key = call.header('idempotency-key');
  if (key !== undefined && !keyPattern.test(key))
    throw invalid(['header', 'idempotency-key'], 'must be 1 to 255 visible ASCII characters');
  return key;
};
