// The position of a reader in the feed of run changes. Its event id is the time of a read, and hashes of the changes that were sent in the
// last seconds before it: a reader that continues there reads these seconds again, because changes become visible late, and leaves out what it
// was sent. A position contains nothing of other users' runs, and every server process of a database can read it.
import { createHash } from 'node:crypto';
import { readCursor, toCursor } from '../../../api/cursor.ts';
import { toTime } from '../../../time.ts';

export interface FeedPosition {
  readAt: string;
  /** Hashes of changes that were sent. */
  sent: ReadonlySet<string>;
}

/** A run as it was sent. */
export interface RunVersion {
  run_id: string;
  updated_at: string;
  attempt: number;
}

const hashLength = 8;
/** Hashes of a position. After more changes in the last seconds, the oldest of them may be sent again. */
const hashesMax = 100;

export const hashOf = ({ run_id, updated_at, attempt }: RunVersion): string =>
  createHash('sha256').update(`${run_id} ${updated_at} ${attempt}`).digest('base64url').slice(0, hashLength);

/** The newest hashes are the last. */
export const toEventId = (readAt: string, hashes: readonly string[]): string =>
  toCursor({ start_time: readAt, id: hashes.slice(-hashesMax).join('') });

const hashes = new RegExp(`^(?:[\\w-]{${hashLength}}){0,${hashesMax}}$`);

/** Undefined for the id of another stream. */
export const readEventId = (id: string): FeedPosition | undefined => {
  const found = readCursor(id);
  const readAt = toTime(found?.start_time);
  if (!found || readAt === undefined || !readAt.endsWith('Z') || !hashes.test(found.id)) return undefined;
  return { readAt, sent: new Set(found.id.match(new RegExp(`.{${hashLength}}`, 'g'))) };
};
