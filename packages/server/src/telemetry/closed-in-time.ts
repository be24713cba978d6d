import { setTimeout as sleep } from 'node:timers/promises';

/** How long a stop waits until the last telemetry is sent. */
const closeMsMax = 3_000;

/** False when closing takes longer, or fails. */
export const closedInTime = async (closing: Promise<unknown>): Promise<boolean> => {
  const waiting = new AbortController();
  const closed = closing.then(
    () => true,
    () => false,
  );
  const timeout = sleep(closeMsMax, false, { signal: waiting.signal }).catch(() => false); // aborted below
  try {
    return await Promise.race([closed, timeout]);
  } finally {
    waiting.abort();
  }
};
