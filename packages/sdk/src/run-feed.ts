// The feed of run changes, which continues after every interruption.
import type { RunSummary } from '@svc/contract';
import { ApiError } from './api-error.ts';
import { readEvents } from './sse.ts';
import { pause } from './transport.ts';

/**
 * `run`: a run was created or has changed. `position`: you have received all changes so far; a list that you read now, together with the later
 * events, contains every change.
 * `gap`: changes may be missing; read lists again. `lost`: the connection broke, and is opened again.
 */
export type RunFeedEvent =
  | { event: 'run'; id: string | undefined; run: RunSummary }
  | { event: 'position' | 'gap'; id: string | undefined }
  | { event: 'lost'; id: string | undefined; error: unknown };

export interface FeedOptions {
  signal?: AbortSignal | undefined;
  /** The id of the last event of an earlier feed. */
  lastEventId?: string | undefined;
  /** Milliseconds without an event after which the connection counts as broken. The server sends one every 15 seconds at least. */
  silenceMs?: number | undefined;
}

const defaultSilenceMs = 45_000;
const pauseMs = { first: 250, max: 10_000 };
/** A connection that lasts so long works. Events alone do not show it: a feed that fails at once may send a position before. */
const stableMs = 10_000;

/** Opens the feed after an event; the signal ends it. */
type Open = (lastEventId: string | undefined, signal: AbortSignal) => Promise<Response>;

export const followFeed = async function* (
  open: Open,
  { signal, lastEventId, silenceMs = defaultSilenceMs }: FeedOptions,
): AsyncGenerator<RunFeedEvent> {
  let lastId = lastEventId;
  let waitMs = pauseMs.first;
  for (;;) {
    let error: unknown;
    const silence = new AbortController();
    const one = signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal]);
    const abortOnSilence = (): void =>
      silence.abort(new Error(`The server has sent nothing for ${silenceMs} ms`));
    let timer = setTimeout(abortOnSilence, silenceMs);
    try {
      const { body } = await open(lastId, one);
      const openedAtMs = performance.now();
      for await (const { id, event, data } of body ? readEvents(body) : []) {
        clearTimeout(timer);
        timer = setTimeout(abortOnSilence, silenceMs);
        if (event === 'run' || performance.now() - openedAtMs >= stableMs) waitMs = pauseMs.first;
        if (event === 'error') throw new Error(`The server has ended the feed: ${data}`);
        lastId = id ?? lastId;
        if (event === 'run') yield { event, id, run: JSON.parse(data) as RunSummary };
        else if (event === 'position' || event === 'gap') yield { event, id };
      }
    } catch (caught) {
      error = caught;
    } finally {
      clearTimeout(timer);
    }
    signal?.throwIfAborted();
    // A proxy may answer for a server that restarts.
    if (error instanceof ApiError && error.status < 500 && !error.retryable) throw error;
    yield { event: 'lost', id: lastId, error };
    await pause(waitMs, signal);
    waitMs = Math.min(waitMs * 2, pauseMs.max);
  }
};
