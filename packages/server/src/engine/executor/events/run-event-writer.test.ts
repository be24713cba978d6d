// Waiting events of runs are bounded, whether or not they are consumed.
import { describe, expect, it } from 'vitest';
import { LeaseLost } from '../../checkpoints/commit-queue.ts';
import type { FromExecutor } from '../../dispatch/protocol.ts';
import { EventBudget } from './event-budget.ts';
import { RunEventWriter } from './run-event-writer.ts';

const kb = 1024;
const mb = 1024 * kb;
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A run whose messages the test consumes. */
const openRun = (budget: EventBudget, run_id = 'run') => {
  const messages: FromExecutor[] = [];
  let acknowledged = 0;
  let commits = 0;
  const events = new RunEventWriter({
    owner: { owner: run_id, lease_token: 1 },
    firstId: 0,
    budget,
    commit: () => {
      commits += 1;
      return Promise.resolve();
    },
    send: (message) => void messages.push(message),
    onFailure: (error) => {
      throw error;
    },
  });
  return {
    events,
    messages,
    commits: () => commits,
    emit: (count: number, bytes = kb) => {
      for (let at = 0; at < count; at++) events.emit('custom', 'x'.repeat(bytes - 'custom'.length - 32));
    },
    /** The server process acknowledges everything that is sent, until nothing more arrives. */
    takeAll: () => {
      for (; acknowledged < messages.length; acknowledged++) {
        const message = messages[acknowledged];
        if (message?.kind === 'events' && message.ack !== undefined) events.acknowledge(message.ack);
      }
    },
    ids: () =>
      messages.flatMap((message) =>
        message.kind === 'events' ? message.events.map((_, at) => message.first_id + at) : [],
      ),
    bytes: () =>
      messages.reduce(
        (sum, message) =>
          message.kind === 'events' ? message.events.reduce((all, [, data]) => all + data.length, sum) : sum,
        0,
      ),
  };
};

describe('a run whose events the server process does not consume', () => {
  it('sends a little, buffers up to the budget, and drops its oldest events', async () => {
    const budget = new EventBudget(4 * mb);
    const run = openRun(budget);
    for (let turn = 0; turn < 20; turn++) {
      run.emit(1_000);
      await nextTurn();
    }
    expect(run.bytes()).toBeLessThanOrEqual(384 * kb);
    expect(budget.peakBytes).toBeLessThanOrEqual(4 * mb);
    expect(budget.bytes).toBeGreaterThan(3 * mb);
    run.takeAll();
    await run.events.deliver(new AbortController().signal);
    expect(budget.bytes).toBe(0);
    const ids = run.ids();
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(ids[0]).toBe(0);
    expect(ids.at(-1)).toBe(19_999);
    expect(ids.length).toBeLessThan(5_000);
  });

  it('loses nothing that fits the budget', async () => {
    const run = openRun(new EventBudget(4 * mb));
    run.emit(3_000);
    await nextTurn();
    run.takeAll();
    await run.events.deliver(new AbortController().signal);
    expect(run.ids()).toEqual(Array.from({ length: 3_000 }, (_, at) => at));
  });

  it('sends the rest when its readers have timed out', async () => {
    const budget = new EventBudget(4 * mb);
    const run = openRun(budget);
    run.emit(3_000);
    await run.events.deliver(AbortSignal.abort());
    expect(run.ids()).toEqual(Array.from({ length: 3_000 }, (_, at) => at));
    expect(budget.bytes).toBe(0);
  });

  it('does not cost other runs an event', async () => {
    const budget = new EventBudget(4 * mb);
    const quiet = openRun(budget, 'quiet');
    const flood = openRun(budget, 'flood');
    quiet.emit(100);
    for (let turn = 0; turn < 20; turn++) {
      flood.emit(1_000);
      quiet.emit(1);
      await nextTurn();
    }
    expect(budget.peakBytes).toBeLessThanOrEqual(4 * mb);
    quiet.takeAll();
    await quiet.events.deliver(new AbortController().signal);
    expect(quiet.ids()).toEqual(Array.from({ length: 120 }, (_, at) => at));
  });

  it('keeps one event that is larger than the budget', async () => {
    const run = openRun(new EventBudget(mb));
    run.emit(10);
    run.emit(1, 2 * mb);
    await nextTurn();
    run.takeAll();
    await run.events.deliver(new AbortController().signal);
    expect(run.ids().at(-1)).toBe(10);
  });

  it('releases its budget when there are no readers, and when it ends', () => {
    const budget = new EventBudget(4 * mb);
    const unread = openRun(budget);
    unread.emit(1_000);
    unread.events.dropUnlogged();
    expect(budget.bytes).toBe(0);
    const over = openRun(budget);
    over.emit(1_000);
    over.events.close();
    expect(budget.bytes).toBe(0);
  });
});

describe('a logged run', () => {
  const openLogged = (budget: EventBudget) => {
    const run = openRun(budget);
    run.events.log();
    return run;
  };

  it('stores a burst of events in pieces, and events of writes with the events after them', () => {
    const budget = new EventBudget(64 * mb);
    const run = openLogged(budget);
    run.emit(10_000);
    run.events.emit('updates', '{}');
    run.emit(6_000);
    expect(run.commits()).toBe(1);
    const flushes: number[][] = [];
    while (run.events.goesAhead)
      flushes.push(run.events.drainAhead().events.flatMap(({ first_id, last_id }) => [first_id, last_id]));
    for (const ids of flushes) expect((ids.at(-1) ?? 0) - (ids[0] ?? 0)).toBeLessThanOrEqual(4_300);
    expect(flushes[0]?.[0]).toBe(0);
    expect(flushes.at(-1)?.at(-1)).toBe(9_999);
    const rows = run.events.drain().events;
    expect(rows[0]?.first_id).toBe(10_000);
    expect(rows.at(-1)?.last_id).toBe(16_000);
    for (const { events } of rows) expect(events.length).toBeLessThanOrEqual(128 * kb);
    expect(budget.bytes).toBe(0);
  });

  it('delays its checkpoints for a burst only for a limited number of flushes', () => {
    const run = openLogged(new EventBudget(64 * mb));
    let ahead = 0;
    for (run.emit(6_000); run.events.goesAhead; ahead++) {
      run.events.drainAhead();
      run.emit(6_000);
    }
    expect(ahead).toBe(16);
  });

  it.each(['values', 'updates', 'updates|node:task', 'checkpoints', 'tasks', 'debug', 'custombed'])(
    'stores %s events with checkpoints only',
    (event) => {
      const run = openLogged(new EventBudget(64 * mb));
      run.events.emit(event, '{}');
      run.emit(10_000);
      expect(run.events.goesAhead).toBe(false);
    },
  );

  it.each(['custom', 'custom|node:task', 'messages/partial', 'messages|node:task', 'events'])(
    'stores a burst that starts with %s events before checkpoints',
    (event) => {
      const run = openLogged(new EventBudget(64 * mb));
      run.events.emit(event, '{}');
      run.emit(10_000);
      expect(run.events.goesAhead).toBe(true);
    },
  );

  it('leaves stored and unsent events to its log when its end is stored', async () => {
    const budget = new EventBudget(4 * mb);
    const run = openLogged(budget);
    run.emit(1_000);
    await run.events.deliver(new AbortController().signal);
    run.events.drain();
    run.events.settled(undefined);
    run.events.leaveRestToLog();
    expect(run.bytes()).toBeLessThanOrEqual(384 * kb);
    expect(run.messages.at(-1)?.kind).toBe('log_only');
    expect(budget.bytes).toBe(0);
  });

  it('sends everything when all of it fits', async () => {
    const run = openLogged(new EventBudget());
    run.emit(10);
    run.events.drain();
    run.events.settled(undefined);
    run.events.leaveRestToLog();
    expect(run.ids()).toHaveLength(10);
    expect(run.messages.map(({ kind }) => kind)).not.toContain('log_only');
  });

  it('releases its budget when it is closed before its last flush is acknowledged', () => {
    const budget = new EventBudget(64 * mb);
    const run = openLogged(budget);
    run.emit(1_000);
    run.events.drain();
    run.events.close();
    run.events.settled(undefined);
    expect(budget.bytes).toBe(0);
    expect(run.messages).toEqual([]);
  });

  it('sends only what is stored', () => {
    const run = openLogged(new EventBudget());
    run.emit(2);
    run.events.drain();
    run.emit(1);
    run.events.drain();
    expect(run.messages).toEqual([]);
    run.events.settled(undefined);
    expect(run.ids()).toEqual([0, 1]);
    run.events.settled(new LeaseLost('run'));
    expect(run.ids()).toEqual([0, 1]);
  });

  it('is left to its log when the server process is too slow', () => {
    const budget = new EventBudget(4 * mb);
    const run = openLogged(budget);
    for (let flush = 0; flush < 30; flush++) {
      run.emit(1_000);
      run.events.drain();
      run.events.settled(undefined);
    }
    expect(run.bytes()).toBeLessThanOrEqual(384 * kb);
    expect(run.messages.map(({ kind }) => kind).filter((kind) => kind === 'log_only')).toHaveLength(1);
    expect(run.messages.at(-1)?.kind).toBe('log_only');
    expect(budget.peakBytes).toBeLessThanOrEqual(4 * mb);
  });
});
