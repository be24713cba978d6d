import { setTimeout as sleep } from 'node:timers/promises';

/** How long a stop waits until the last telemetry is sent. */
const closeMsMax = 3_000;

/** False when closing takes longer. Must not reject. */
export const closedInTime = async (closing: Promise<unknown>): Promise<boolean> => {
  const waiting = new AbortController();
  const closed = closing.then(() => true);
  const timeout = sleep(closeMsMax, false, { signal: waiting.signal }).catch(() => false); // aborted below
  const isClosed = await Promise.race([closed, timeout]);
  waiting.abort();
  return isClosed;
};
