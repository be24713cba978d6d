import { within } from '../backoff.ts';

/** How long a stop waits until the last telemetry is sent. */
const closeMsMax = 3_000;

/** False when closing takes longer, or fails. */
export const closedInTime = (closing: Promise<unknown>): Promise<boolean> => {
  const closed = closing.then(
    () => true,
    () => false,
  );
  return within(closed, closeMsMax, () => false);
};
