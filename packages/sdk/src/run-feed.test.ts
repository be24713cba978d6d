import { expect, it, vi } from 'vitest';
import { ApiError } from './api-error.ts';
import { followFeed, type RunFeedEvent } from './run-feed.ts';

const frame = (event: string, id: string | undefined, data: unknown = {}): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** A response of these frames, which then ends, or stays silent until its request is aborted. */
const response = (frames: string[], { silent }: { silent?: AbortSignal } = {}): Response =>
  new Response(
    new ReadableStream({
      start: (controller) => {
        for (const text of frames) controller.enqueue(new TextEncoder().encode(text));
        if (silent) silent.addEventListener('abort', () => controller.error(silent.reason));
        else controller.close();
      },
    }),
  );

/** Reads until this many events have come. */
const take = async (feed: AsyncGenerator<RunFeedEvent>, count: number): Promise<string[]> => {
  const taken: string[] = [];
  for await (const change of feed) {
    taken.push(change.event === 'run' ? change.run.run_id : change.event);
    if (taken.length === count) return taken;
  }
  return taken;
};

it('a feed continues after its last event when the server ends it', async () => {
  const opened: (string | undefined)[] = [];
  const parts = [
    [frame('position', 'p1'), frame('run', undefined, { run_id: 'a' }), frame('run', 'p2', { run_id: 'b' })],
    [frame('gap', 'p3'), frame('run', 'p4', { run_id: 'c' })],
  ];
  const open = (after: string | undefined) => {
    opened.push(after);
    return Promise.resolve(response(parts[opened.length - 1] ?? []));
  };
  expect(await take(followFeed(open, {}), 6)).toEqual(['position', 'a', 'b', 'lost', 'gap', 'c']);
  expect(opened).toEqual([undefined, 'p2']);
});

it('a feed in which nothing comes is opened again', async () => {
  const opened: (string | undefined)[] = [];
  const open = (after: string | undefined, silent: AbortSignal) => {
    opened.push(after);
    return Promise.resolve(response([frame('position', `p${opened.length}`)], { silent }));
  };
  expect(await take(followFeed(open, { silenceMs: 20 }), 3)).toEqual(['position', 'lost', 'position']);
  expect(opened).toEqual([undefined, 'p1']);
});

it('a feed that the server refuses throws, and one that it cannot serve now does not', async () => {
  const refuse = (status: number) => Promise.reject(new ApiError(status, { message: 'no' }, undefined));
  await expect(
    take(
      followFeed(() => refuse(403), {}),
      1,
    ),
  ).rejects.toThrow('no');
  for (const status of [429, 502, 503])
    expect(
      await take(
        followFeed(() => refuse(status), {}),
        1,
      ),
    ).toEqual(['lost']);
});

it('a feed ends when it is aborted', async () => {
  const stop = new AbortController();
  const open = (_: string | undefined, silent: AbortSignal) =>
    Promise.resolve(response([frame('position', 'p1')], { silent }));
  const feed = followFeed(open, { signal: stop.signal });
  expect((await feed.next()).value).toMatchObject({ event: 'position' });
  stop.abort(new Error('enough'));
  await expect(feed.next()).rejects.toThrow('enough');
});

it('a feed that fails after its first position is opened again at growing intervals', async () => {
  vi.useFakeTimers();
  try {
    const openedAtMs: number[] = [];
    const open = () => {
      openedAtMs.push(performance.now());
      return Promise.resolve(response([frame('position', 'p1'), frame('error', undefined)]));
    };
    const taken = take(followFeed(open, {}), 8);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await taken).toEqual(Array.from({ length: 4 }, () => ['position', 'lost']).flat());
    const [first = 0] = openedAtMs;
    expect(openedAtMs.map((at) => at - first)).toEqual([0, 250, 750, 1_750]);
  } finally {
    vi.useRealTimers();
  }
});
