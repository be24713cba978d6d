import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ApiError } from './api-error.ts';
import { followChanges, type RunChanges } from './run-changes.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const frame = (event: string, data: object = {}): string =>
  `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** A response of these frames, which then ends, or stays open until its request is aborted. */
const response = (frames: string[], until?: AbortSignal): Response =>
  new Response(
    new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (const text of frames) controller.enqueue(new TextEncoder().encode(text));
        if (until) until.addEventListener('abort', () => controller.error(until.reason));
        else controller.close();
      },
    }),
  );

/** Reads until this many events have come. */
const take = async (changes: AsyncGenerator<RunChanges>, count: number): Promise<unknown[]> => {
  const taken: unknown[] = [];
  for await (const change of changes) {
    taken.push(change.event === 'runs' ? (change.thread_ids ?? 'any') : change.event);
    if (taken.length === count) break;
  }
  return taken;
};

it('changes are followed again when the server ends the stream', async () => {
  const parts = [[frame('runs'), frame('runs', { thread_ids: ['a', 'b'] })], [frame('runs')]];
  const taken = take(
    followChanges(() => Promise.resolve(response(parts.shift() ?? [])), {}),
    4,
  );
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await taken).toEqual(['any', ['a', 'b'], 'lost', 'any']);
});

it('a stream without heartbeats is opened again, and one with heartbeats is not', async () => {
  const opened: ReadableStreamDefaultController<Uint8Array>[] = [];
  const open = (signal: AbortSignal) =>
    Promise.resolve(
      new Response(
        new ReadableStream<Uint8Array>({
          start: (controller) => {
            opened.push(controller);
            signal.addEventListener('abort', () => controller.error(signal.reason));
          },
        }),
      ),
    );
  const stop = new AbortController();
  const taken = take(followChanges(open, { signal: stop.signal, silenceMs: 1_000 }), 1);
  await vi.advanceTimersByTimeAsync(900);
  opened[0]?.enqueue(new TextEncoder().encode(': heartbeat\n'));
  await vi.advanceTimersByTimeAsync(900);
  expect(opened.length).toBe(1);
  await vi.advanceTimersByTimeAsync(200);
  expect(await taken).toEqual(['lost']);
});

it('changes that the server refuses throw, and those that it cannot serve now do not', async () => {
  const refuse = (status: number) => () => Promise.reject(new ApiError(status, { message: 'no' }, undefined));
  await expect(take(followChanges(refuse(403), {}), 1)).rejects.toThrow('no');
  for (const status of [429, 502, 503])
    expect(await take(followChanges(refuse(status), {}), 1)).toEqual(['lost']);
});

it('changes end when they are aborted', async () => {
  const stop = new AbortController();
  const changes = followChanges((signal) => Promise.resolve(response([frame('runs')], signal)), {
    signal: stop.signal,
  });
  expect((await changes.next()).value).toEqual({ event: 'runs' });
  stop.abort(new Error('enough'));
  await expect(changes.next()).rejects.toThrow('enough');
});

it('a stream that fails after its first event is opened again at growing intervals', async () => {
  const openedAtMs: number[] = [];
  const open = () => {
    openedAtMs.push(performance.now());
    return Promise.resolve(response([frame('runs'), frame('error')]));
  };
  const taken = take(followChanges(open, {}), 8);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await taken).toEqual(Array.from({ length: 4 }, () => ['any', 'lost']).flat());
  const [first = 0] = openedAtMs;
  expect(openedAtMs.map((at) => at - first)).toEqual([0, 250, 750, 1_750]);
});
