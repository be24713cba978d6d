import { expect, it } from 'vitest';
import { testDatabase } from '../database.ts';
import { ids, insert, read, rolledBack, runningRow, type Row } from './rows.ts';
import { fixture } from '../fixture.ts';

const db = fixture(() => testDatabase());

interface Case {
  title: string;
  run?: Row;
  /** The lease that the caller releases; 1 by default. */
  token?: number;
  charge?: boolean;
  lost?: boolean;
  expected: Row;
}

const queued = {
  status: 'pending',
  waits_for: 'slot',
  lease_until: null,
  worker_id: null,
  graph_id: 'changed',
};
const loss = { lease_token: 1, charged: false, message: 'Lease 1 ended' };
const recovered = { ...runningRow, status: 'pending', waits_for: 'slot', attempt: 0, lost_attempts: [loss] };

const cases: Case[] = [
  {
    title: 'an attempt that is not lost is not counted',
    expected: { ...queued, attempt: 0, lease_token: 1, lost_attempts: [] },
  },
  {
    title: 'an attempt that is not lost is not charged',
    charge: true,
    expected: { ...queued, attempt: 0, lost_attempts: [] },
  },
  {
    title: 'an attempt that is lost is recorded with the reason',
    lost: true,
    expected: {
      ...queued,
      attempt: 0,
      lost_attempts: [{ attempt: 1, lease_token: 1, charged: false, worker: 'alive', message: 'stopped' }],
    },
  },
  {
    title: 'an attempt that may be the reason for its loss is charged',
    lost: true,
    charge: true,
    expected: { ...queued, attempt: 1, lost_attempts: [{ charged: true, message: 'stopped' }] },
  },
  {
    title: 'an attempt that has stored the work of a node is not charged',
    run: { ...runningRow, progress_token: 1 },
    lost: true,
    charge: true,
    expected: { ...queued, attempt: 0, lost_attempts: [{ charged: false }] },
  },
  {
    title: 'a run that was recovered stays queued, and its lost attempt gets the reason',
    run: recovered,
    lost: true,
    charge: true,
    expected: {
      status: 'pending',
      attempt: 0,
      lost_attempts: [{ ...loss, message: 'Lease 1 ended. It says: stopped', reason: 'stopped' }],
    },
  },
  {
    title: 'a run that another worker has claimed keeps its lease',
    run: { ...recovered, status: 'running', waits_for: null, lease_token: 2 },
    lost: true,
    expected: {
      status: 'running',
      lease_token: 2,
      worker_id: ids.worker,
      lost_attempts: [{ message: 'Lease 1 ended. It says: stopped' }],
    },
  },
  {
    title: 'the reason is added once',
    run: { ...recovered, lost_attempts: [{ ...loss, reason: 'stopped' }] },
    lost: true,
    expected: { lost_attempts: [{ ...loss, reason: 'stopped' }] },
  },
  {
    title: 'a message that already has such words gets the reason as well',
    run: { ...recovered, lost_attempts: [{ ...loss, message: 'Worker "It says:" is gone' }] },
    lost: true,
    expected: {
      lost_attempts: [{ message: 'Worker "It says:" is gone. It says: stopped', reason: 'stopped' }],
    },
  },
  {
    title: 'lost attempts of other leases stay as they are',
    run: {
      ...recovered,
      lease_token: 2,
      lost_attempts: [loss, { ...loss, lease_token: 2, message: 'Lease 2 ended' }],
    },
    token: 2,
    lost: true,
    expected: { lost_attempts: [loss, { message: 'Lease 2 ended. It says: stopped' }] },
  },
  {
    title: 'a lease that the run does not have yet changes nothing',
    token: 2,
    lost: true,
    expected: { status: 'running', lease_token: 1, attempt: 1, lost_attempts: [] },
  },
];

it.each(cases.map((one) => [one.title, one] as const))(
  'release_runs(): %s',
  (_, { run = runningRow, token = 1, charge = false, lost = false, expected }) =>
    rolledBack(db, async (tx) => {
      await insert(tx, 'assistants', { assistant_id: ids.assistant, graph_id: 'changed', name: 'agent' });
      await insert(tx, 'threads', { thread_id: ids.thread, blob_space: ids.thread, status: 'busy' });
      await insert(tx, 'runs', run);
      await read(tx, `select release_runs($1, $2, $3, 'stopped', $4)`, [[ids.run], [token], charge, lost]);
      expect(await read(tx, 'select * from runs')).toMatchObject([expected]);
    }),
);
