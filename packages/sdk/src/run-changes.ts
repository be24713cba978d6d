// Notifications of changed runs, which are opened again after every interruption.
import { ApiError } from './api-error.ts';
import { readEvents } from './sse.ts';
import { pause } from './transport.ts';

/**
 * `runs`: runs on these threads were created or have changed; any runs may have, without `thread_ids`. `lost`: the connection broke, and is
 * opened again.
 */
export type RunChanges = { event: 'runs'; thread_ids?: string[] } | { event: 'lost'; error: unknown };

export interface ChangeOptions {
  signal?: AbortSignal | undefined;
  /** Milliseconds without a byte after which the connection counts as broken. The server sends heartbeats, every five seconds by default. */
  silenceMs?: number | undefined;
}

const defaultSilenceMs = 45_000;
const pauseMs = { first: 250, max: 10_000 };
/** A connection that lasts so long works. */
const stableMs = 10_000;

export const followChanges = async function* (
  open: (signal: AbortSignal) => Promise<Response>,
  { signal, silenceMs = defaultSilenceMs }: ChangeOptions,
): AsyncGenerator<RunChanges> {
  let waitMs = pauseMs.first;
  for (;;) {
    let error: unknown;
    const silence = new AbortController();
    const abort = (): void => silence.abort(new Error(`The server has sent nothing for ${silenceMs} ms`));
    const startedAtMs = performance.now();
    let timer = setTimeout(abort, silenceMs);
    const restart = new TransformStream<Uint8Array, Uint8Array>({
      transform: (bytes, controller) => {
        clearTimeout(timer);
        timer = setTimeout(abort, silenceMs);
        controller.enqueue(bytes);
      },
    });
    try {
      const { body } = await open(AbortSignal.any([silence.signal, ...(signal ? [signal] : [])]));
      for await (const { event, data } of body ? readEvents(body.pipeThrough(restart)) : []) {
        if (event === 'error') throw new Error(`The server has ended the stream: ${data}`);
        if (event === 'runs') yield { event, ...(JSON.parse(data) as { thread_ids?: string[] }) };
      }
    } catch (caught) {
      error = caught;
    } finally {
      clearTimeout(timer);
    }
    signal?.throwIfAborted();
    // A proxy may answer for a server that restarts.
    if (error instanceof ApiError && error.status < 500 && !error.retryable) throw error;
    yield { event: 'lost', error };
    if (performance.now() - startedAtMs >= stableMs) waitMs = pauseMs.first;
    await pause(waitMs, signal);
    waitMs = Math.min(waitMs * 2, pauseMs.max);
  }
};
