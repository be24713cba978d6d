// The time of an event, from what the log contains: readers at any time must get the same. It is the time of the newest checkpoint before the
// event, or of the run's first claim.
import { isRecord } from '../../../engine/codec/tagged.ts';
import type { LoggedEvent } from './protocol-event.ts';

const epochMs = Date.UTC(2025, 0, 1);
/** Units of first_seq in a millisecond (functions/runs/new_first_seq.sql). */
const seqPerMs = 4096;

export const firstSeqMs = (first_seq: number): number => epochMs + Math.floor(first_seq / seqPerMs);

/** Milliseconds from 1582-10-15, where the times of UUIDs begin, to 1970. */
const uuidEpochMs = 12_219_292_800_000;

/** The time in the id of a checkpoint, a UUID of version 6. */
const uuidMs = (id: string): number | undefined => {
  const [, high, mid, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-6([0-9a-f]{3})-/.exec(id) ?? [];
  if (high === undefined || mid === undefined || low === undefined) return undefined;
  const ticks = BigInt(`0x${high}${mid}${low}`);
  return Number(ticks / 10_000n) - uuidEpochMs;
};

export const checkpointMs = ({ name, data }: LoggedEvent): number | undefined =>
  name === 'checkpoint_refs' && isRecord(data) && typeof data['id'] === 'string'
    ? uuidMs(data['id'])
    : undefined;
