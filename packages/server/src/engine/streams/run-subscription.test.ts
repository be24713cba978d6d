// The logs are lists of rows in memory, in the form in which the storage returns them.
import { describe, expect, it } from 'vitest';
import type { LogRow, RunLogStorage } from '../../storage/deployment/runs/run-log.ts';
import { RunEventStream } from './run-event-hub.ts';
import type { MissedEvents, RunSubscription } from './run-subscription.ts';

const data = JSON.stringify('x'.repeat(1024 * 1024));

/** A log with the events of a run from `first` on, up to `count` of all. */
const logOf = (count: number, outcome: string | null = null, first = 0): RunLogStorage => {
  const ids = Array.from({ length: count - first }, (_, at) => first + at);
  const rows = ids.map((id) => ({
    run_id: 'run',
    first_id: id,
    last_id: id,
    events: `values\n${data}\n`,
    outcome: id === count - 1 ? outcome : null,
    age_ms: 0,
  }));
  return {
    page: (_: string, next_id: number): Promise<LogRow[]> =>
      Promise.resolve(rows.filter(({ last_id }) => last_id >= next_id).slice(0, 3)),
    findEnd: () => Promise.resolve(count === 0 ? undefined : count),
  } as unknown as RunLogStorage;
};

const streamOf = (log: RunLogStorage): RunEventStream => new RunEventStream('run', log, () => {});

/** Ids of the events that a reader gets, then how the stream ends. */
const read = (subscription: RunSubscription) => {
  const ids: number[] = [];
  const gaps: MissedEvents[] = [];
  const reader = {
    send: ({ id }: { id: number }) => ids.push(id) > 0,
    gap: (missed: MissedEvents) => void gaps.push(missed),
    drained: () => Promise.resolve(),
  };
  const ended = subscription.read(reader).then(String, (error: unknown) => (error as Error).message);
  return { ids, gaps, ended };
};

const push = (stream: RunEventStream, first: number, count: number): void =>
  stream.push(
    first,
    Array.from({ length: count }, () => ['values', data] as [string, string]),
  );

const success = { status: 'success', error: null } as const;

describe('a reader whose subscription dropped events before it was read', () => {
  it.each([undefined, -1])(
    'reads them from the log of a resumable run, and continues (after: %s)',
    async (after) => {
      const stream = streamOf(logOf(6));
      const subscription = stream.subscribe(after);
      push(stream, 0, 6);
      const { ids, ended } = read(subscription);
      await expect.poll(() => ids.length).toBe(6);
      push(stream, 6, 2);
      stream.end(success);
      expect(await ended).toBe('true');
      expect(ids).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    },
  );

  it('gets no event from before its subscription', async () => {
    const stream = streamOf(logOf(8, JSON.stringify({ ...success, values: null })));
    push(stream, 0, 2);
    const subscription = stream.subscribe();
    push(stream, 2, 6);
    const { ids, ended } = read(subscription);
    expect(await ended).toBe('true');
    expect(ids).toEqual([2, 3, 4, 5, 6, 7]);
  });

  it.each([undefined, -1])(
    'gets an error that says how to continue, if the run has no log (after: %s)',
    async (after) => {
      const stream = streamOf(logOf(0));
      const subscription = stream.subscribe(after);
      push(stream, 0, 6);
      const { ids, ended } = read(subscription);
      expect(await ended).toMatch(
        /^Events 0 to 5 of run run were dropped.*read its result with GET …\/runs\/\{run_id\}\/join/,
      );
      expect(ids).toEqual([]);
    },
  );

  it('gets this error also if only later events are in the log', async () => {
    const stream = streamOf(logOf(8, null, 6));
    const subscription = stream.subscribe();
    push(stream, 0, 6);
    const { ids, ended } = read(subscription);
    expect(await ended).toMatch(/^Events 0 to 5 of run run were dropped/);
    expect(ids).toEqual([]);
  });
});

describe('a reader of a log whose oldest events were deleted', () => {
  const outcome = JSON.stringify({ ...success, values: null });

  it.each([
    [-1, [{ from: 0, until: 6 }]],
    [2, [{ from: 3, until: 6 }]],
    [5, []],
    [6, []],
  ])('gets a report of the missing events after %i', async (after, missing) => {
    const { ids, gaps, ended } = read(streamOf(logOf(8, outcome, 6)).subscribe(after));
    expect(await ended).toBe('true');
    expect(gaps).toEqual(missing);
    expect(ids).toEqual(after === 6 ? [7] : [6, 7]);
  });

  it('gets a report of the missing events before the live ones', async () => {
    const stream = streamOf(logOf(0));
    push(stream, 0, 2);
    const { ids, gaps, ended } = read(stream.subscribe(-1));
    await new Promise(setImmediate);
    push(stream, 2, 1);
    push(stream, 5, 1);
    stream.end(success);
    expect(await ended).toBe('true');
    expect(gaps).toEqual([
      { from: 0, until: 2 },
      { from: 3, until: 5 },
    ]);
    expect(ids).toEqual([2, 5]);
  });

  it('is told nothing about events before its subscription, if it has not asked for them', async () => {
    const stream = streamOf(logOf(0));
    push(stream, 0, 2);
    const { ids, gaps, ended } = read(stream.subscribe());
    push(stream, 2, 1);
    stream.end(success);
    expect(await ended).toBe('true');
    expect(gaps).toEqual([]);
    expect(ids).toEqual([2]);
  });
});
