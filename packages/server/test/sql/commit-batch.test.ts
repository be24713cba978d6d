import { afterAll, beforeAll, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../database.ts';
import { ids, insert, insertHead, read, rolledBack, runningRow, type Row } from './rows.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db[Symbol.asyncDispose]());

/** The kinds of items, in the order of the parameters. */
const kinds = ['owners', 'heads', 'blobs', 'checkpoints', 'writes', 'shapes', 'events', 'endings'] as const;

type Batch = Partial<Record<(typeof kinds)[number], Row[]>>;

const commit = async (tx: TestDatabase | Parameters<typeof read>[0], batch: Batch): Promise<unknown> => {
  const lists = kinds.map((kind) => JSON.stringify(batch[kind] ?? []));
  const [row] = await read(tx, 'select commit_batch($1, $2, $3, $4, $5, $6, $7, $8) as lost', lists);
  return row?.['lost'];
};

const next = '00000000-0000-4000-8000-000000000007';
const update = '00000000-0000-4000-8000-000000000008';
const hash = '00000000-0000-4000-8000-000000000009';
const key = { thread_id: ids.thread, checkpoint_ns: '' };

const ofRun = { owner: ids.run, lease_token: 1 };
const ofUpdate = { owner: update, thread_id: ids.thread };
const head = { owner: ids.run, ...key, checkpoint_id: next, expected: ids.checkpoint };
const checkpoint = {
  ...head,
  run_id: ids.run,
  parent_id: ids.checkpoint,
  metadata: '{}',
  body: '{}',
  channels: '{}',
};
const write = {
  owner: ids.run,
  ...key,
  checkpoint_id: ids.checkpoint,
  task_id: 't',
  idx: 0,
  channel: 'c',
  ref: 'r',
};
const events = { owner: ids.run, first_id: 1, last_id: 2, events: 'a\n1' };
const end = { owner: ids.run, thread_id: ids.thread, status: 'success', ending: 'idle', interrupts: '{}' };

/** Everything of one step of a run. */
const step: Batch = {
  owners: [ofRun],
  heads: [head],
  blobs: [{ owner: ids.run, space: ids.thread, hash, refs: [], payload: '1' }],
  checkpoints: [checkpoint],
  writes: [write],
  events: [events],
};

interface Case {
  title: string;
  run?: Row;
  thread?: Row;
  batch: Batch;
  /** The same flush was sent before, and its response was lost. */
  repeated?: boolean;
  lost: string[];
  expected: Partial<Record<string, Row[]>>;
}

const untouched = {
  checkpoint_heads: [{ checkpoint_id: ids.checkpoint }],
  blobs: [],
  checkpoints: [{ checkpoint_id: ids.checkpoint }],
  checkpoint_writes: [],
  run_events: [],
};

const cases: Case[] = [
  {
    title: 'a step of a run stores all its rows, and moves the head',
    batch: step,
    lost: [],
    expected: {
      checkpoint_heads: [{ checkpoint_id: next }],
      blobs: [{ space: ids.thread, hash, payload: '1' }],
      checkpoints: [{ checkpoint_id: ids.checkpoint }, { checkpoint_id: next, parent_id: ids.checkpoint }],
      checkpoint_writes: [{ checkpoint_id: ids.checkpoint, ref: 'r', run_id: null }],
      run_events: [{ first_id: 1, last_id: 2 }],
      runs: [{ status: 'running', progress_token: 0 }],
    },
  },
  {
    title: 'a repeated step changes nothing',
    batch: step,
    repeated: true,
    lost: [],
    expected: { checkpoint_heads: [{ checkpoint_id: next }], run_events: [{ first_id: 1 }] },
  },
  {
    title: 'a run that has lost its lease stores nothing',
    batch: { ...step, owners: [{ ...ofRun, lease_token: 0 }] },
    lost: [ids.run],
    expected: untouched,
  },
  {
    title: 'a run that does not execute any more stores nothing',
    run: { ...runningRow, status: 'interrupted' },
    batch: step,
    lost: [ids.run],
    expected: untouched,
  },
  {
    title: 'a run whose head was moved by another stores nothing',
    batch: { ...step, heads: [{ ...head, expected: hash }] },
    lost: [ids.run],
    expected: untouched,
  },
  {
    title: 'a run with several heads moves none of them when one was moved by another',
    batch: {
      ...step,
      heads: [head, { ...head, checkpoint_ns: 'sub', expected: hash }],
    },
    lost: [ids.run],
    expected: untouched,
  },
  {
    title: 'a run with several heads moves them all',
    batch: { ...step, heads: [head, { ...head, checkpoint_ns: 'sub', expected: null }] },
    lost: [],
    expected: {
      checkpoint_heads: [
        { checkpoint_ns: '', checkpoint_id: next },
        { checkpoint_ns: 'sub', checkpoint_id: next },
      ],
    },
  },
  {
    title: 'a run that has stored the work of a node records its progress',
    batch: { owners: [{ ...ofRun, progress: true }] },
    lost: [],
    expected: { runs: [{ progress_token: 1 }] },
  },
  {
    title: 'a summary replaces that of a stored checkpoint',
    batch: {
      owners: [ofRun],
      shapes: [{ owner: ids.run, ...key, checkpoint_id: ids.checkpoint, shape: '{"next":[]}', wrote: null }],
    },
    lost: [],
    expected: { checkpoints: [{ shape: '{"next":[]}' }] },
  },
  {
    title: 'events before keep_from are deleted from the log',
    batch: {
      owners: [ofRun],
      events: [events, { ...events, first_id: 3, last_id: 4, keep_from: 3 }],
    },
    lost: [],
    expected: { run_events: [{ first_id: 3 }] },
  },
  {
    title: 'the end of a run is stored with its last checkpoint',
    batch: { ...step, endings: [end] },
    lost: [],
    expected: {
      checkpoint_heads: [{ checkpoint_id: next }],
      runs: [{ status: 'success' }],
      threads: [{ status: 'idle' }],
    },
  },
  {
    title: 'the end of a run is stored once, and its owner is not lost when the flush is repeated',
    batch: { ...step, endings: [end] },
    repeated: true,
    lost: [],
    expected: { runs: [{ status: 'success' }], threads: [{ status: 'idle' }] },
  },
  {
    title: 'the end of a run that has lost its lease is not stored',
    batch: { ...step, owners: [{ ...ofRun, lease_token: 0 }], endings: [end] },
    lost: [ids.run],
    expected: { ...untouched, runs: [{ status: 'running' }], stored_endings: [] },
  },
  {
    title: 'a state update is not stored while a run is in flight',
    batch: { owners: [ofUpdate], heads: [{ ...head, owner: update }] },
    lost: [update],
    expected: untouched,
  },
  {
    title: 'a state update stores its checkpoint and the status of its thread',
    run: { ...runningRow, status: 'success' },
    batch: {
      owners: [{ ...ofUpdate, removals: 0 }],
      heads: [{ ...head, owner: update }],
      checkpoints: [{ ...checkpoint, owner: update, run_id: null }],
      endings: [
        { owner: update, thread_id: ids.thread, status: null, ending: 'interrupted', interrupts: '{"a":[]}' },
      ],
    },
    lost: [],
    expected: {
      checkpoint_heads: [{ checkpoint_id: next }],
      threads: [{ status: 'interrupted', settled_status: 'interrupted', settled_by: null }],
    },
  },
  {
    title: 'a state update that began before a removal is not stored',
    run: { ...runningRow, status: 'success' },
    thread: { removals: 1 },
    batch: { owners: [{ ...ofUpdate, removals: 0 }], heads: [{ ...head, owner: update }] },
    lost: [update],
    expected: untouched,
  },
];

it.each(cases.map((one) => [one.title, one] as const))(
  'commit_batch(): %s',
  (_, { run = runningRow, thread, batch, repeated = false, lost, expected }) =>
    rolledBack(db, async (tx) => {
      await insert(tx, 'assistants', { assistant_id: ids.assistant, graph_id: 'agent', name: 'agent' });
      await insert(tx, 'threads', {
        thread_id: ids.thread,
        blob_space: ids.thread,
        status: 'busy',
        ...thread,
      });
      await insert(tx, 'runs', run);
      await insertHead(tx);
      if (repeated) await commit(tx, batch);
      expect(await commit(tx, batch)).toEqual(lost);
      for (const [table, rows] of Object.entries(expected))
        expect(await read(tx, `select * from ${table} order by 1, 2, 3`), table).toMatchObject(rows ?? []);
    }),
);
