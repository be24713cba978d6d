// The time of an event, from what the log contains: readers at any time must get the same. It is the time of the newest checkpoint before the
// event, or of the run's first claim.
import { checkpointTimeMs } from '../../../engine/checkpoints/checkpoint-time.ts';
import { isRecord } from '../../../engine/codec/tagged.ts';
import type { LoggedEvent } from './protocol-event.ts';

const epochMs = Date.UTC(2025, 0, 1);
/** Units of first_seq in a millisecond (functions/runs/new_first_seq.sql). */
const seqPerMs = 4096;

export const firstSeqMs = (first_seq: number): number => epochMs + Math.floor(first_seq / seqPerMs);

export const checkpointMs = ({ name, data }: LoggedEvent): number | undefined =>
  name === 'checkpoint_refs' && isRecord(data) && typeof data['id'] === 'string'
    ? checkpointTimeMs(data['id'])
    : undefined;
