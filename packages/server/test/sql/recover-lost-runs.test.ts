import { expect, it } from 'vitest';
import { testDatabase } from '../database.ts';
import { ids, insert, laterRow, read, rolledBack, runningRow, type Row } from './rows.ts';
import { fixture } from '../fixture.ts';

const db = fixture(() => testDatabase());

interface Case {
  title: string;
  run?: Row;
  /** The worker of the run; null when it is unknown. Its lease has ended a minute ago. */
  worker?: Row | null;
  later?: Row;
  cancel?: 'interrupt';
  limit?: number;
  expected: {
    /** The run as the function returns it; none when the run is not lost. */
    returned: Row[];
    run: Row | 'deleted';
    /** The newest lost attempt. */
    loss?: Row;
    thread?: Row;
    later?: Row;
  };
}

const silent = { seen_at: '2000-01-01' };
const alive = {};
const message = (worker: string): unknown => expect.stringMatching(worker);
const losses = (count: number, entry: Row = {}): Row[] =>
  Array.from({ length: count }, (_, at) => ({
    charged: false,
    lease_token: at + 1,
    message: 'lost',
    ...entry,
  }));
const queued = { status: 'pending', waits_for: 'slot', lease_until: null, worker_id: null };
const lastAttempt = { ...runningRow, attempt: 3, lease_token: 3 };

const cases: Case[] = [
  {
    title: 'a run whose lease has not ended is not touched',
    run: { ...runningRow, lease_until: 'tomorrow' },
    expected: { returned: [], run: { status: 'running', lease_token: 1, lost_attempts: [] } },
  },
  {
    title: 'no more runs than the limit',
    limit: 0,
    expected: { returned: [], run: { status: 'running' } },
  },
  {
    title: 'a run of a worker that is alive is queued, and its attempt is not charged',
    worker: alive,
    expected: {
      returned: [queued],
      run: { ...queued, attempt: 0, lease_token: 1 },
      loss: { worker: 'alive', charged: false, attempt: 1, message: message('is alive, and was too slow') },
      thread: { status: 'busy' },
    },
  },
  {
    title: 'a lease that ends now has not ended yet',
    run: { ...runningRow, lease_until: 'now' },
    expected: { returned: [], run: { status: 'running' } },
  },
  {
    title: 'a run of a silent worker is queued, and its attempt is not charged',
    worker: silent,
    expected: {
      returned: [queued],
      run: { ...queued, attempt: 0 },
      loss: { worker: 'silent', charged: false, message: message('worker one last reported itself') },
    },
  },
  {
    title: 'a run of an unknown worker is queued, and its attempt is charged',
    worker: null,
    expected: {
      returned: [queued],
      run: { ...queued, attempt: 1 },
      loss: { worker: 'gone', charged: true, message: message(`${ids.worker} is unknown`) },
    },
  },
  {
    title: 'a run of an ended process is queued, and its attempt is charged',
    worker: { ended_at: 'now' },
    expected: {
      returned: [queued],
      run: { ...queued, attempt: 1 },
      loss: {
        worker: 'gone',
        charged: true,
        message: 'The process of worker one ended while it held lease 1',
      },
    },
  },
  {
    title: 'an attempt that has stored the work of a node is not charged',
    run: { ...runningRow, progress_token: 1 },
    worker: null,
    expected: { returned: [queued], run: { ...queued, attempt: 0 }, loss: { charged: false } },
  },
  {
    title: 'the sixth loss without progress is charged',
    run: { ...runningRow, lease_token: 6, lost_attempts: losses(5) },
    worker: alive,
    expected: { returned: [queued], run: { ...queued, attempt: 1 }, loss: { charged: true } },
  },
  {
    title: 'losses before the last progress do not count',
    run: { ...runningRow, lease_token: 6, progress_token: 1, lost_attempts: losses(5) },
    worker: alive,
    expected: { returned: [queued], run: { ...queued, attempt: 0 }, loss: { charged: false } },
  },
  {
    title: 'the last charged attempt ends the run with an error, and the next run of the thread is queued',
    run: lastAttempt,
    worker: { ended_at: 'now' },
    later: laterRow,
    expected: {
      returned: [{ status: 'error', error: message('AttemptsExhausted') }],
      run: {
        status: 'error',
        lease_token: 4,
        error: message('failed after 3 attempts. The last one: The process'),
      },
      thread: { status: 'error', settled_by: ids.run },
      later: { waits_for: 'slot' },
    },
  },
  {
    title: 'the last attempt is repeated when it is not charged',
    run: lastAttempt,
    worker: alive,
    expected: { returned: [queued], run: { ...queued, attempt: 2 } },
  },
  {
    title: 'a run that was cancelled ends, and its thread is free',
    cancel: 'interrupt',
    later: laterRow,
    worker: { ended_at: 'now' },
    expected: {
      returned: [{ status: 'interrupted', error: null }],
      run: { status: 'interrupted', cancel_reason: 'asked to', lease_token: 2 },
      thread: { status: 'busy', settled_status: 'idle', settled_by: ids.run },
      later: { waits_for: 'slot' },
    },
  },
  {
    title: 'a stateless run whose attempts are used up is deleted',
    run: { ...lastAttempt, temporary: true },
    worker: null,
    expected: { returned: [{ status: 'error' }], run: 'deleted' },
  },
];

it.each(cases.map((one) => [one.title, one] as const))(
  'recover_lost_runs(): %s',
  (_, { run = runningRow, worker = alive, later, cancel, ...call }) =>
    rolledBack(db, async (tx) => {
      const { expected, limit = 10 } = call;
      await insert(tx, 'assistants', { assistant_id: ids.assistant, graph_id: 'changed', name: 'agent' });
      await insert(tx, 'threads', { thread_id: ids.thread, blob_space: ids.thread, status: 'busy' });
      await insert(tx, 'runs', run);
      await read(
        tx,
        `update runs set lease_until = now() - interval '1 minute' where status = 'running' and lease_until is null`,
      );
      if (worker) {
        const row = {
          worker_id: ids.worker,
          name: 'one',
          slots: 1,
          running: 1,
          graphs: ['agent'],
          connections: 1,
        };
        await insert(tx, 'workers', { ...row, started_at: 'now', ...worker });
      }
      if (later) await insert(tx, 'runs', later);
      if (cancel) await insert(tx, 'run_cancels', { run_id: ids.run, action: cancel, reason: 'asked to' });

      expect(await read(tx, 'select * from recover_lost_runs($1, 3)', [limit])).toMatchObject(
        expected.returned,
      );

      const runs = await read(tx, 'select * from runs where run_id = $1', [ids.run]);
      expect(runs).toMatchObject(expected.run === 'deleted' ? [] : [expected.run]);
      const loss = 'select lost_attempts -> -1 as loss, graph_id from runs where run_id = $1';
      if (expected.loss)
        // A run that returns to the queue gets the graph that its assistant has by now.
        expect(await read(tx, loss, [ids.run])).toMatchObject([{ loss: expected.loss, graph_id: 'changed' }]);
      expect(await read(tx, 'select * from threads')).toMatchObject([expected.thread ?? {}]);
      if (expected.later)
        expect(await read(tx, 'select * from runs where run_id = $1', [ids.later])).toMatchObject([
          expected.later,
        ]);
    }),
);
