import type { Run } from '@langchain/core/tracers/base';
import { describe, expect, it } from 'vitest';
import { TraceOutbox } from './trace-outbox.ts';
import type { TracedRun } from './traced-run.ts';

const traced = (id: string, inputs = '{}'): TracedRun => ({
  run: { id, events: [], extra: {} } as unknown as Run,
  keys: {},
  project: 'default',
  inputs,
  outputs: undefined,
  isEnded: true,
  isKnown: false,
  isStoredPending: false,
  write: '0',
});

const recorded = (bytesMax?: number) => {
  const stored: string[] = [];
  const warnings: string[] = [];
  const state = { isAway: false, onStore: (): void => undefined };
  const outbox = new TraceOutbox({
    store: (runs) => {
      if (state.isAway) return Promise.reject(new Error('away'));
      stored.push(...runs.map(({ id }) => id));
      state.onStore();
      state.onStore = () => undefined;
      return Promise.resolve();
    },
    warn: (text) => void warnings.push(text),
    ...(bytesMax === undefined ? {} : { bytesMax }),
  });
  return { outbox, stored, warnings, state };
};

describe('a trace outbox', () => {
  it('stores a run once, however often it is updated', async () => {
    const { outbox, stored } = recorded();
    const one = traced('a');
    outbox.add(one, false);
    outbox.add(one, true);
    await outbox.flush();
    await outbox.flush();
    expect(stored).toEqual(['a']);
  });

  it('keeps what cannot be stored, in order, and logs that', async () => {
    const { outbox, stored, warnings, state } = recorded();
    state.isAway = true;
    outbox.add(traced('a'), true);
    await outbox.flush();
    outbox.add(traced('b'), true);
    state.isAway = false;
    await outbox.flush();
    expect(stored).toEqual(['a', 'b']);
    expect(warnings).toEqual(['failed to store traces, retrying: Error: away']);
  });

  it('stores a run again that changes while it is stored', async () => {
    const { outbox, stored, state } = recorded();
    const one = traced('a');
    state.onStore = () => outbox.add(one, true);
    outbox.add(one, false);
    await outbox.flush();
    expect(stored).toEqual(['a', 'a']);
  });

  it('skips a run that JSON cannot represent, and stores the others', async () => {
    const { outbox, stored, warnings } = recorded();
    const odd = traced('odd');
    odd.run.events = [{ name: 'text', time: '2026-01-01T00:00:00Z', kwargs: { count: 1n } }];
    outbox.add(odd, false);
    outbox.add(traced('plain'), true);
    await outbox.flush();
    expect(stored).toEqual(['plain']);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('trace run odd cannot be written as JSON');
  });

  it('drops the oldest runs when it is full, and counts them', async () => {
    const { outbox, stored, warnings } = recorded(5_000);
    for (const id of ['a', 'b', 'c', 'd']) outbox.add(traced(id, 'x'.repeat(1_000)), false);
    await outbox.flush();
    expect(stored).toEqual(['c', 'd']);
    expect(warnings).toEqual(['1 trace runs were dropped so far']);
  });
});
