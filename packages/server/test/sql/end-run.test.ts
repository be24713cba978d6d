import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/storage/postgres/database.ts';
import { testDatabase } from '../database.ts';
import {
  ids,
  insert,
  insertHead,
  laterRow,
  pendingRow,
  read,
  rolledBack,
  runningRow,
  type Row,
} from './rows.ts';
import { fixture } from '../fixture.ts';

const db = fixture(() => testDatabase());

interface Case {
  title: string;
  run?: Row;
  thread?: Row;
  /** A run that waits on the same thread. */
  later?: Row;
  /** The thread has a checkpoint of the run with a remaining task. */
  hasHead?: boolean;
  cancel?: 'interrupt' | 'rollback';
  /** Arguments; without them the run succeeds. */
  call?: Row;
  expected: { run: Row | 'deleted'; thread?: Row; later?: Row; log?: Row[]; webhooks?: Row[] };
}

const error = '{"error": "Failed", "message": "no"}';
const temporary = { ...runningRow, temporary: true };
const ended = (status: string, message: string | null, values: string | null = null) =>
  JSON.stringify({ status, error: message, values });

const threadCases: Case[] = [
  {
    title: 'a success makes the thread idle, and replaces its error and interrupts',
    thread: { settled_status: 'error', error, interrupts: '{"a": []}' },
    expected: {
      run: { status: 'success', error: null, lease_until: null, final_head: null, cancel_reason: null },
      thread: { status: 'idle', settled_status: 'idle', settled_by: ids.run, error: null, interrupts: '{}' },
    },
  },
  {
    title: 'an error is recorded on the run and the thread; the stack only on the run',
    call: { status: 'error', ending: 'error', error, stack: '{"stack": "at"}' },
    expected: {
      run: { status: 'error', error, error_stack: '{"stack": "at"}' },
      thread: { status: 'error', settled_status: 'error', error },
    },
  },
  {
    title: 'interrupts make the thread interrupted',
    call: { ending: 'interrupted', interrupts: '{"a": [1]}' },
    expected: { run: { status: 'success' }, thread: { status: 'interrupted', interrupts: '{"a": [1]}' } },
  },
  {
    title: 'a success leaves the thread busy while another run waits, and queues that run',
    later: laterRow,
    expected: {
      run: { status: 'success' },
      thread: { status: 'busy', settled_status: 'idle' },
      later: { status: 'pending', waits_for: 'slot' },
    },
  },
  {
    title: 'an error is the status of the thread even while another run waits',
    later: laterRow,
    call: { status: 'error', ending: 'error', error },
    expected: { run: { status: 'error' }, thread: { status: 'error' }, later: { waits_for: 'slot' } },
  },
  {
    title: 'a run that waits for its due time does not get the free thread',
    later: { ...laterRow, waits_for: 'time' },
    expected: { run: { status: 'success' }, thread: { status: 'busy' }, later: { waits_for: 'time' } },
  },
  {
    title: 'the end of a run that waits for the thread does not queue another one',
    run: { ...pendingRow, waits_for: 'thread' },
    later: laterRow,
    call: { status: 'interrupted', ending: 'as_stored' },
    expected: { run: { status: 'interrupted' }, later: { waits_for: 'thread' } },
  },
  {
    title: 'a run that was never claimed restores what earlier runs have left',
    run: pendingRow,
    thread: { settled_status: 'error', error },
    hasHead: true,
    call: { status: 'interrupted', ending: 'as_stored' },
    expected: {
      run: { status: 'interrupted', final_head: null },
      thread: { status: 'error', settled_status: 'error', settled_by: null, error },
    },
  },
  {
    title: 'a cancelled run leaves the thread interrupted when its checkpoint has tasks',
    hasHead: true,
    cancel: 'interrupt',
    call: { status: 'interrupted' },
    expected: {
      run: { status: 'interrupted', cancel_reason: 'asked to', final_head: ids.checkpoint },
      thread: { status: 'interrupted', settled_status: 'interrupted', settled_by: ids.run },
    },
  },
  {
    title: 'a cancelled run without a checkpoint leaves the thread idle',
    cancel: 'interrupt',
    call: { status: 'interrupted' },
    expected: { run: { status: 'interrupted' }, thread: { status: 'idle', settled_by: ids.run } },
  },
  {
    title: 'a success that a cancel did not stop has no reason of a cancel',
    cancel: 'interrupt',
    expected: { run: { status: 'success', cancel_reason: null }, thread: { status: 'idle' } },
  },
  {
    title: 'a rollback removes the run and restores the state that it found',
    run: {
      ...runningRow,
      found_status: 'interrupted',
      found_interrupts: '{"a": [1]}',
      log: 'outcome',
    },
    hasHead: true,
    later: laterRow,
    cancel: 'rollback',
    call: { status: 'interrupted' },
    expected: {
      run: 'deleted',
      thread: { status: 'busy', settled_status: 'interrupted', settled_by: null, interrupts: '{"a": [1]}' },
      later: { waits_for: 'slot' },
      log: [{ first_id: 0, last_id: -1, events: '', outcome: ended('interrupted', null) }],
    },
  },
];

const logCases: Case[] = [
  {
    title: 'a stateless run without a log is deleted',
    run: temporary,
    expected: { run: 'deleted' },
  },
  {
    title: 'a stateless run with a log is kept',
    run: { ...temporary, log: 'outcome' },
    call: { values: '{"a":1}' },
    expected: {
      run: { status: 'success' },
      log: [{ first_id: 0, last_id: -1, events: '', outcome: ended('success', null, '{"a":1}') }],
    },
  },
  {
    title: 'the log gets the error as its last event',
    run: { ...temporary, log: 'events' },
    call: { status: 'error', ending: 'error', error },
    expected: {
      run: { status: 'error' },
      log: [{ first_id: 0, last_id: 0, events: `error\n${error}\n`, outcome: ended('error', error) }],
    },
  },
  {
    title: 'the log does not get an error that it contains',
    run: { ...temporary, log: 'events' },
    call: { status: 'error', ending: 'error', error, told: true },
    expected: {
      run: { status: 'error' },
      log: [{ first_id: 0, last_id: -1, events: '', outcome: ended('error', error) }],
    },
  },
  {
    title: 'a webhook is queued with the values, also for a stateless run that is deleted',
    run: { ...temporary, webhook: 'https://example.com/hook' },
    call: { values: '{"a":1}' },
    expected: { run: 'deleted', webhooks: [{ status: 'pending', run_status: 'success', values: '{"a":1}' }] },
  },
];

const endRun = (tx: Database, call: Row = {}) =>
  read(
    tx,
    `select end_run(p_run_id => $1, p_status => $2, p_ending => $3, p_interrupts => $4, p_error => $5, p_values => $6,
      p_told => $7, p_stack => $8)`,
    [
      ids.run,
      call['status'] ?? 'success',
      call['ending'] ?? null,
      call['interrupts'] ?? null,
      call['error'] ?? null,
      call['values'] ?? null,
      call['told'] ?? false,
      call['stack'] ?? null,
    ],
  );

describe('end_run(): the cron of a run that is deleted', () => {
  const cron_id = '00000000-0000-4000-8000-00000000000c';
  it.each([
    ['keeps the error of the run', { status: 'error', ending: 'error', error }, 'The run failed: no'],
    ['has no error after a success', {}, null],
  ])('%s', (_, call, last_error) =>
    rolledBack(db, async (tx) => {
      await insert(tx, 'assistants', { assistant_id: ids.assistant, graph_id: 'agent', name: 'agent' });
      await insert(tx, 'crons', {
        cron_id,
        assistant_id: ids.assistant,
        schedule: '* * * * *',
        payload: '{}',
      });
      await insert(tx, 'cron_ticks', { cron_id, scheduled_for: '2026-01-01T00:00:00Z', run_id: ids.run });
      await insert(tx, 'runs', temporary);
      await endRun(tx, call);
      expect(await read(tx, 'select last_error from crons')).toEqual([{ last_error }]);
    }),
  );
});

/** The result column that is JSON text, written as JSON.stringify() writes it. */
const compact = (row: Row): Row => ({ ...row, outcome: JSON.stringify(JSON.parse(String(row['outcome']))) });

describe.each([
  ['the thread', threadCases],
  ['the log and the webhook', logCases],
])('end_run(): %s', (_, cases) => {
  it.each(cases.map((one) => [one.title, one] as const))(
    '%s',
    (__, { run = runningRow, thread, later, hasHead, cancel, call, expected }) =>
      rolledBack(db, async (tx) => {
        await insert(tx, 'threads', {
          thread_id: ids.thread,
          blob_space: ids.thread,
          status: 'busy',
          ...thread,
        });
        await insert(tx, 'runs', run);
        await insert(tx, 'run_users', { run_id: ids.run, sealed: 'user' });
        if (later) await insert(tx, 'runs', later);
        if (hasHead) await insertHead(tx);
        if (cancel) await insert(tx, 'run_cancels', { run_id: ids.run, action: cancel, reason: 'asked to' });

        await endRun(tx, call);

        const runs = await read(tx, 'select * from runs where run_id = $1', [ids.run]);
        expect(runs).toMatchObject(expected.run === 'deleted' ? [] : [expected.run]);
        expect(await read(tx, 'select * from threads')).toMatchObject([expected.thread ?? {}]);
        if (expected.later)
          expect(await read(tx, 'select * from runs where run_id = $1', [ids.later])).toMatchObject([
            expected.later,
          ]);
        const log = await read(tx, 'select first_id, last_id, events, outcome from run_events');
        expect(log.map(compact)).toEqual(expected.log ?? []);
        const webhooks = `select status, run::json ->> 'status' as run_status, values from webhook_deliveries`;
        expect(await read(tx, webhooks)).toEqual(expected.webhooks ?? []);
        expect(await read(tx, 'select 1 from run_users union all select 1 from run_cancels')).toEqual([]);
      }),
  );
});
