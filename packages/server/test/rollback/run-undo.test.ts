// Rows that are restored when a run is removed. Each test scripts what the executors store.
import { beforeAll, describe, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import { noItems } from '../../src/engine/checkpoints/commit-queue.ts';
import { createStorage } from '../../src/storage/storage.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { testDatabase } from '../database.ts';
import { newAssistant } from '../runs/run-rows.ts';
import { at, ScriptedThread, type Stored } from './scripted-thread.ts';
import { threadRows } from './thread-rows.ts';
import { fixture } from '../fixture.ts';

const db = fixture(() => testDatabase());
let assistant_id: string;
beforeAll(async () => {
  assistant_id = await newAssistant(db);
});

const newThread = () => new ScriptedThread(db, assistant_id);
const question = { 'task-1': [{ id: 'q', value: 'which?' }] };
const interrupting = { status: 'success', ending: 'interrupted', interrupts: JSON.stringify(question) };
const succeeds = { status: 'success', ending: null };
const fails = { status: 'error', ending: 'error', error: '{"error":"E","message":"m"}' };
const interrupt = { task: 'task-1', channel: '__interrupt__', idx: -3 };
const answer = { task: 'task-1', channel: '__resume__', idx: -4 };
const result = { task: 'task-1', channel: 'log', idx: 0 };

/** A run that ends in the same flush in which it stores everything. */
const ended = async (thread: ScriptedThread, stored: Stored): Promise<string> => {
  const run_id = await thread.run();
  await thread.flush(run_id, { ends: succeeds, ...stored });
  return run_id;
};
/** A run that raises an interrupt at checkpoint 1. */
const interruptedRun = (thread: ScriptedThread): Promise<string> =>
  ended(thread, {
    checkpoints: [{ id: at(1), after: null, tasks: ['task-1'] }],
    writes: [{ on: at(1), ...interrupt, value: 0 }],
    ends: interrupting,
  });
const statusOf = async (thread: ScriptedThread) => (await thread.rows()).thread;
const headOf = async (thread: ScriptedThread, ns = '') =>
  (await thread.rows()).heads.find(({ checkpoint_ns }) => checkpoint_ns === ns)?.checkpoint_id;

describe('a drained run that is cancelled', () => {
  it('does not restore the earlier error and interrupts', async () => {
    const thread = newThread();
    await interruptedRun(thread);
    await ended(thread, { checkpoints: [{ id: at(2), after: at(1), tasks: ['task-2'] }], ends: fails });
    const run_id = await thread.run();
    await thread.flush(run_id, { checkpoints: [{ id: at(3), after: at(2), tasks: ['task-3'] }] });
    await thread.release(run_id, 1, false);
    await thread.cancel(run_id, 'interrupt');
    expect(await statusOf(thread)).toEqual({ status: 'interrupted', interrupts: '{}', error: null });
  });

  it('leaves the thread as it was when it is rolled back', async () => {
    const thread = newThread();
    await interruptedRun(thread);
    const before = await thread.rows();
    const run_id = await thread.run();
    await thread.flush(run_id, {
      writes: [{ on: at(1), ...answer, value: ['a'] }],
      checkpoints: [{ id: at(2), after: at(1) }],
    });
    await thread.release(run_id, 1, false);
    await thread.cancel(run_id, 'rollback');
    expect(await thread.rows()).toEqual(before);
  });

  it('leaves the thread as it was when it had not started', async () => {
    const thread = newThread();
    await interruptedRun(thread);
    const before = await thread.rows();
    for (const action of ['interrupt', 'rollback'] as const) {
      await thread.cancel(await thread.run({ claim: false }), action);
      expect(await thread.rows()).toEqual(before);
    }
  });
});

describe('a run without attempts left', () => {
  it('does not leave the interrupts of earlier runs', async () => {
    const thread = newThread();
    await interruptedRun(thread);
    const run_id = await thread.run({ claim: false });
    for (let attempt = 1; attempt <= 3; attempt++) {
      const lease_token = await thread.claim(run_id);
      if (attempt === 1)
        await thread.flush(run_id, { checkpoints: [{ id: at(2), after: at(1), tasks: ['task-2'] }] });
      await thread.release(run_id, lease_token, true);
    }
    await thread.claim(run_id);
    expect(await statusOf(thread)).toMatchObject({ status: 'error', interrupts: '{}' });
    await thread.delete(run_id);
    expect(await statusOf(thread)).toEqual({
      status: 'interrupted',
      interrupts: JSON.stringify(question),
      error: null,
    });
  });
});

describe('a lost attempt', () => {
  it('keeps its results and removes its answers and interrupts of the unfinished step', async () => {
    const thread = newThread();
    await interruptedRun(thread);
    const run_id = await thread.run({ claim: false });
    const lease_token = await thread.claim(run_id);
    const before = await thread.rows();
    const done = { on: at(1), ...result, task: 'task-2', value: 'done' };
    await thread.flush(run_id, {
      writes: [{ on: at(1), ...answer, value: ['a'] }, { on: at(1), ...interrupt, value: 1 }, done],
    });
    await thread.release(run_id, lease_token, true);
    await thread.claim(run_id);
    const { writes } = await thread.rows();
    expect(writes.filter(({ task_id }) => task_id === 'task-1')).toEqual(before.writes);
    expect(writes.filter(({ task_id }) => task_id === 'task-2')).toHaveLength(1);
  });
});

describe('the head after a rollback', () => {
  it('is the head that the run found, not the checkpoint with the highest id', async () => {
    const thread = newThread();
    await ended(thread, {
      checkpoints: [
        { id: at(1), after: null },
        { id: at(50), after: at(1) },
      ],
    });
    // A fork, made on a node whose clock is behind.
    await ended(thread, { checkpoints: [{ id: at(10), after: at(1) }] });
    const run_id = await thread.run();
    await thread.flush(run_id, { checkpoints: [{ id: at(60), after: at(10) }] });
    await thread.cancel(run_id, 'rollback');
    await thread.flush(run_id, { ends: { status: 'interrupted', ending: 'interrupted' } });
    expect(await headOf(thread)).toBe(at(10));
  });

  it('is the head that the run found when it started from an earlier checkpoint', async () => {
    const thread = newThread();
    await ended(thread, {
      checkpoints: [
        { id: at(1), after: null },
        { id: at(50), after: at(1) },
      ],
    });
    const run_id = await ended(thread, { checkpoints: [{ id: at(60), after: at(1) }] });
    await thread.delete(run_id);
    expect(await headOf(thread)).toBe(at(50));
  });

  it('is the head that the run found inside a subgraph', async () => {
    const thread = newThread();
    const ns = 'inner';
    await ended(thread, {
      checkpoints: [
        { id: at(1), after: null, ns },
        { id: at(50), after: at(1), ns },
      ],
    });
    await ended(thread, { checkpoints: [{ id: at(10), after: at(1), ns }], found: { [ns]: at(50) } });
    const run_id = await ended(thread, {
      checkpoints: [{ id: at(60), after: at(1), ns }],
      found: { [ns]: at(10) },
    });
    await thread.delete(run_id);
    expect(await headOf(thread, ns)).toBe(at(10));
  });

  it('is the head before a run that was deleted meanwhile', async () => {
    const thread = newThread();
    await ended(thread, {
      checkpoints: [
        { id: at(1), after: null },
        { id: at(50), after: at(1) },
      ],
    });
    const fork = await ended(thread, { checkpoints: [{ id: at(70), after: at(1) }] });
    const last = await ended(thread, { checkpoints: [{ id: at(80), after: at(70) }] });
    await thread.delete(fork);
    await thread.delete(last);
    expect(await headOf(thread)).toBe(at(50));
  });
});

describe('a deleted run', () => {
  it('that is followed by a state update changes only the history', async () => {
    const thread = newThread();
    await interruptedRun(thread);
    const run_id = await ended(thread, {
      writes: [{ on: at(1), ...answer, value: ['a'] }],
      checkpoints: [{ id: at(2), after: at(1), tasks: ['task-2'] }],
      ends: fails,
    });
    await thread.update(at(3), at(2));
    const before = await thread.rows();
    await thread.delete(run_id);
    expect(await headOf(thread)).toBe(at(3));
    expect(await statusOf(thread)).toEqual(before.thread);
    const { checkpoints } = await thread.rows();
    expect(checkpoints).toMatchObject([{ checkpoint_id: at(1) }, { checkpoint_id: at(3), parent_id: at(1) }]);
  });

  it('is removed completely when the next run has stored nothing', async () => {
    const thread = newThread();
    const { heads, checkpoints, writes } = await thread.rows();
    const interruptedRunId = await interruptedRun(thread);
    await ended(thread, { ends: fails });
    await thread.delete(interruptedRunId);
    expect(await thread.rows()).toMatchObject({ heads, checkpoints, writes });
  });

  it('whose answer was replaced leaves its rows to the run that replaced it', async () => {
    const thread = newThread();
    const empty = await thread.rows();
    const interruptedRunId = await interruptedRun(thread);
    const first = await ended(thread, {
      writes: [{ on: at(1), ...answer, value: ['a'] }],
      ends: interrupting,
    });
    const answered = await thread.rows();
    const second = await ended(thread, {
      writes: [{ on: at(1), ...answer, value: ['a', 'b'] }],
      ends: interrupting,
    });
    await thread.delete(interruptedRunId);
    await thread.delete(second);
    expect(await thread.rows()).toEqual(answered);
    await thread.delete(first);
    const { heads, checkpoints, writes } = empty;
    expect(await thread.rows()).toMatchObject({ heads, checkpoints, writes });
  });

  it('leaves its rows to the first later run, even if that run stored nothing', async () => {
    const thread = newThread();
    const empty = await thread.rows();
    const interruptedRunId = await interruptedRun(thread);
    const failed = await ended(thread, { ends: fails });
    const before = await thread.rows();
    const last = await ended(thread, {
      writes: [{ on: at(1), ...answer, value: ['a'] }],
      ends: interrupting,
    });
    await thread.delete(interruptedRunId);
    await thread.delete(last);
    expect(await thread.rows()).toEqual(before);
    await thread.delete(failed);
    const { heads, checkpoints, writes } = empty;
    expect(await thread.rows()).toMatchObject({ heads, checkpoints, writes });
  });

  it('leaves the rows that a still running later run found', async () => {
    const thread = newThread();
    await interruptedRun(thread);
    const first = await ended(thread, {
      writes: [{ on: at(1), ...answer, value: ['a'] }],
      ends: interrupting,
    });
    const found = await thread.rows();
    const second = await thread.run();
    expect(await thread.delete(first)).toBe('deleted');
    await thread.flush(second, { writes: [{ on: at(1), ...answer, value: ['a', 'b'] }] });
    await thread.cancel(second, 'rollback');
    await thread.flush(second, { ends: { status: 'interrupted', ending: 'interrupted' } });
    expect(await thread.rows()).toEqual(found);
  });

  it('in the middle of a chain of answers keeps the last answer, whose deletion restores the first', async () => {
    const thread = newThread();
    await interruptedRun(thread);
    const states = [await thread.rows()];
    const runs: string[] = [];
    for (const value of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
      runs.push(await ended(thread, { writes: [{ on: at(1), ...answer, value }], ends: interrupting }));
      states.push(await thread.rows());
    }
    const [first, second, third] = runs as [string, string, string];
    await thread.delete(second);
    expect(await thread.rows()).toEqual(states[3]);
    await thread.delete(third);
    expect(await thread.rows()).toEqual(states[1]);
    await thread.delete(first);
    expect(await thread.rows()).toEqual(states[0]);
  });

  it('leaves what remains after the thread was pruned', async () => {
    const thread = newThread();
    await interruptedRun(thread);
    const run_id = await ended(thread, {
      writes: [{ on: at(1), ...answer, value: ['a'] }],
      checkpoints: [{ id: at(2), after: at(1) }],
    });
    const { pruning } = createStorage(db);
    const mark = (await pruning.findMark(thread.thread_id, everyRow)) ?? '';
    const kept = [{ checkpoint_ns: '', checkpoint_id: at(2) }];
    expect(await pruning.prune(thread.thread_id, { mark, kept }, 100)).toBe('done');
    await thread.delete(run_id);
    expect(await thread.rows()).toEqual({
      thread: { status: 'idle', interrupts: '{}', error: null },
      heads: [],
      checkpoints: [],
      writes: [],
    });
  });
});

describe('a copied thread', () => {
  it('has its own answers, and restores the rows it was created with', async () => {
    const thread = newThread();
    await interruptedRun(thread);
    await ended(thread, { writes: [{ on: at(1), ...answer, value: ['a'] }], ends: interrupting });
    const source = await thread.rows();
    const copy = newThread();
    const { threads } = createStorage(db);
    const to = { thread_id: copy.thread_id, access: everyRow, metadata: {} };
    const from = { thread_id: thread.thread_id, access: everyRow };
    expect(await threads.copy(from, to, 1_000)).toBe('copied');
    expect(await copy.rows()).toEqual(source);
    const run_id = await ended(copy, {
      writes: [{ on: at(1), ...answer, value: ['a', 'b'] }],
      ends: interrupting,
    });
    await copy.delete(run_id);
    expect(await copy.rows()).toEqual(source);
    expect(await thread.rows()).toEqual(source);
  });
});

describe('a state update', () => {
  it('that read writes of a run deleted meanwhile is rejected', async () => {
    const thread = newThread();
    await interruptedRun(thread);
    const run_id = await ended(thread, {
      writes: [{ on: at(1), ...answer, value: ['a'] }],
      ends: interrupting,
    });
    const { threads, checkpoints } = createStorage(db);
    const removals = (await threads.find(thread.thread_id, everyRow))?.removals ?? 0;
    await thread.delete(run_id);
    const owner = { owner: randomUUID(), thread_id: thread.thread_id, removals };
    expect(await checkpoints.commit({ ...noItems(), owners: [owner] })).toEqual([owner.owner]);
    expect(await threadRows(db, thread.thread_id)).toBeTruthy();
  });
});
