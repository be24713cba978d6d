// A client of GET /runs/changes, which keeps what it receives.
import { readEvents } from '../../../sdk/src/sse.ts';
import { expect } from 'vitest';
import { eventually } from '../eventually.ts';

export interface ChangeClient extends AsyncDisposable {
  /** The threads of all notifications so far; null for one that names none. */
  notifications: (string[] | null)[];
  /** Resolves when the thread was named. */
  named: (thread_id: string) => Promise<void>;
  /** True after the server has ended the stream. */
  isEnded: () => boolean;
}

/** Resolves after the first notification. */
export const openChanges = async (
  url: string,
  headers: Record<string, string> = {},
): Promise<ChangeClient> => {
  const stop = new AbortController();
  const { body } = await fetch(`${url}/runs/changes`, { headers, signal: stop.signal });
  const notifications: (string[] | null)[] = [];
  let isEnded = false;
  const reading = (async () => {
    try {
      for await (const { event, data } of readEvents(body as ReadableStream<Uint8Array>)) {
        expect(event).toBe('runs');
        notifications.push((JSON.parse(data) as { thread_ids?: string[] }).thread_ids ?? null);
      }
    } finally {
      isEnded = true;
    }
  })().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  await eventually(() => expect(notifications).toEqual([null]));
  return {
    notifications,
    named: (thread_id) => eventually(() => expect(notifications.flat()).toContain(thread_id)),
    isEnded: () => isEnded,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await reading;
    },
  };
};
