// Tests of the checkers themselves: each finds nothing in a consistent database, and finds the error in a database that was corrupted on
// purpose.
import { mkdtemp, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';
import { audit } from './audit.ts';
import { readStream } from './caller.ts';
import { History, type Entry, type Segment } from './history.ts';
import { resourcesOf, leaks } from './invariants/conduct.ts';
import type { Evidence } from './invariants/evidence.ts';
import { invariants, violations, type Invariant } from './invariants/invariants.ts';
import { queryOnce, startPostgres } from './postgres.ts';

const project = fileURLToPath(new URL('./graphs/svc.json', import.meta.url));
const session = '-c search_path=svc -c timezone=UTC';

let server: TestServer;
let client: pg.Client;
let thread_id: string;
let run_id: string;
let history: History;
let evidence: Evidence;

const post = async (path: string, body: unknown): Promise<unknown> =>
  (await server.call('POST', path, body)).body;

/** Two steps, which leave two markers. */
const work = async (thread: string, marker: string): Promise<{ run_id: string; segment: Segment }> => {
  let found = '';
  const { frames, end } = await readStream(
    server.url,
    {
      method: 'POST',
      path: `/threads/${thread}/runs/stream`,
      body: {
        assistant_id: 'journal',
        input: { marker, steps: 2, ms: 0, taken: 0 },
        metadata: { marker, steps: 2 },
        stream_resumable: true,
        stream_mode: ['custom', 'updates', 'values'],
      },
    },
    { onOpen: ({ headers }) => (found = headers.get('content-location')?.split('/')[4] ?? '') },
  );
  return { run_id: found, segment: { frames, end } };
};

const createThread = async (): Promise<string> =>
  ((await post('/threads', {})) as { thread_id: string }).thread_id;

beforeAll(async () => {
  server = await startTestServer({ project });
  client = new pg.Client({ connectionString: server.database.uri, options: session });
  await client.connect();
  await client.query(audit);
  thread_id = await createThread();
  await work(thread_id, 'first');
});
afterAll(async () => {
  await client.end();
  await server[Symbol.asyncDispose]();
});

/** Corruptions by SQL are made in a transaction, which is rolled back after the test. */
beforeEach(async () => {
  history = new History();
  evidence = {
    query: async <Row extends object>(text: string, values?: unknown[]) =>
      (await client.query<Row>(text, values)).rows,
    history,
    get: (path) => server.call('GET', path),
    readLog: async (path) =>
      (await readStream(server.url, { method: 'GET', path, headers: { 'last-event-id': '-1' } })).frames,
  };
  history.add({ op: 'thread', thread_id });
  const [run] = await evidence.query<{ run_id: string }>('select run_id from runs where thread_id = $1', [
    thread_id,
  ]);
  run_id = run?.run_id ?? '';
  history.add({ op: 'run', thread_id, run_id, marker: 'first', steps: 2, strategy: 'enqueue' });
  history.add({ op: 'result', thread_id, run_id, marker: 'first', log: ['first:0', 'first:1'] });
  await client.query('begin');
});
afterEach(async () => {
  await client.query('rollback');
});

const found = (name: Invariant): Promise<string[]> => invariants[name](evidence);

it('find nothing wrong in the data of a correct server', async () => {
  expect(await violations(evidence)).toEqual([]);
});

interface Broken {
  how: string;
  invariant: Invariant;
  /** SQL, in which $1 is the thread. */
  sql?: string;
  /** An additional entry of the history. */
  claimed?: () => Entry;
  finds: RegExp;
}

const newest = `(select checkpoint_id from checkpoint_heads where thread_id = $1 and checkpoint_ns = '')`;
const duplicate = (changes: string): string =>
  `insert into runs (run_id, thread_id, assistant_id, status, metadata, kwargs, attempt, lease_token)
   select gen_random_uuid(), thread_id, assistant_id, ${changes} from runs where thread_id = $1`;

const broken: Broken[] = [
  {
    how: 'a run that never ends',
    invariant: 'everythingHasEnded',
    sql: `update runs set status = 'pending' where thread_id = $1`,
    finds: /still pending/,
  },
  {
    how: 'a run that was lost',
    invariant: 'nothingAcknowledgedIsLost',
    sql: 'delete from runs where thread_id = $1',
    finds: /^run .* lost/,
  },
  {
    how: 'a thread that was lost',
    invariant: 'nothingAcknowledgedIsLost',
    sql: 'delete from threads where thread_id = $1',
    finds: /^thread .* lost/,
  },
  {
    how: 'a run that failed after the client got a success',
    invariant: 'nothingAcknowledgedIsLost',
    sql: `update runs set status = 'error' where thread_id = $1`,
    finds: /is error/,
  },
  {
    how: 'a request that made two runs',
    invariant: 'everyRequestCreatedOneRun',
    sql: duplicate(`'success', metadata, kwargs, 1, 1`),
    finds: /2 runs were created for the one request first/,
  },
  {
    how: 'a busy thread without a run',
    invariant: 'noThreadIsStuck',
    sql: `update threads set status = 'busy' where thread_id = $1`,
    finds: /busy without a run/,
  },
  {
    how: 'an idle thread with a running run',
    invariant: 'noThreadIsStuck',
    sql: `update runs set status = 'running' where thread_id = $1`,
    finds: /idle with a running run/,
  },
  {
    how: 'a schema without the index of running runs',
    invariant: 'oneRunningRunPerThread',
    sql: `drop index runs_one_running`,
    finds: /no index prevents two runs/,
  },
  {
    how: 'a checkpoint with two children',
    invariant: 'checkpointsAreOneChain',
    sql: `insert into checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_id, run_id, metadata, body, channels)
          select thread_id, checkpoint_ns, gen_random_uuid(), parent_id, run_id, metadata, body, channels
          from checkpoints where thread_id = $1 and checkpoint_id = ${newest}`,
    finds: /2 children/,
  },
  {
    how: 'a checkpoint that sorts before its parent',
    invariant: 'checkpointsAreOneChain',
    sql: `update checkpoints set checkpoint_id = '00000000-0000-6000-8000-000000000000'
          where thread_id = $1 and checkpoint_id = ${newest}`,
    finds: /before its parent/,
  },
  {
    how: 'a checkpoint whose parent is missing',
    invariant: 'checkpointsAreOneChain',
    sql: `delete from checkpoints where thread_id = $1 and checkpoint_id =
          (select parent_id from checkpoints where thread_id = $1 and checkpoint_id = ${newest})`,
    finds: /is missing/,
  },
  {
    how: 'a head that stayed behind',
    invariant: 'headsAreNewest',
    sql: `update checkpoint_heads set checkpoint_id =
            (select parent_id from checkpoints where thread_id = $1 and checkpoint_id = ${newest})
          where thread_id = $1`,
    finds: /not its newest/,
  },
  {
    how: 'a run that was cut short and called a success',
    invariant: 'markersAppearOnceInOrder',
    sql: `update runs set metadata = metadata || '{"steps": 3}' where thread_id = $1`,
    finds: /2 of its 3 steps/,
  },
  {
    how: 'a cancelled run that still writes',
    invariant: 'cancelledRunsWriteNothing',
    claimed: () => ({ op: 'cancelled', thread_id, run_id, checkpoints: 1 }),
    finds: /wrote 3 checkpoints after/,
  },
  {
    how: 'a cancelled run that never ends',
    invariant: 'cancelledRunsWriteNothing',
    sql: `update runs set status = 'pending' where thread_id = $1`,
    claimed: () => ({ op: 'cancelled', thread_id, run_id, checkpoints: 4 }),
    finds: /is pending/,
  },
  {
    how: 'a run that was taken back and is there',
    invariant: 'rollbackRemovesOneRun',
    claimed: () => ({ op: 'rolled back', thread_id, run_id, before: [] }),
    finds: /has 4 checkpoints/,
  },
  {
    how: 'a rollback that takes too much',
    invariant: 'rollbackRemovesOneRun',
    sql: 'delete from checkpoints where thread_id = $1',
    claimed: () => ({ op: 'rolled back', thread_id, run_id: thread_id, before: [run_id] }),
    finds: /deleted 1 older/,
  },
  {
    how: 'a deleted thread of which a run is left',
    invariant: 'deletedThreadsLeaveNothing',
    sql: 'delete from threads where thread_id = $1',
    claimed: () => ({ op: 'deleted', thread_id, run_ids: [run_id] }),
    finds: /left in runs/,
  },
  {
    how: 'a committed step that the log omits',
    invariant: 'logsMatchCheckpoints',
    sql: `update run_events set events = replace(events, E'updates\n{"step":{"taken":2', E'custom\n{"step":{"taken":2')
          where run_id in (select run_id from runs where thread_id = $1)`,
    finds: /has committed step after 1 updates, and its log has nothing/,
  },
  {
    how: 'a step in the log that never committed',
    invariant: 'logsMatchCheckpoints',
    sql: `delete from checkpoint_writes where thread_id = $1 and checkpoint_id =
          (select parent_id from checkpoints where thread_id = $1 and checkpoint_id = ${newest})`,
    finds: /has step in its log, which never committed/,
  },
  {
    how: 'a step whose values the log omits',
    invariant: 'logsMatchCheckpoints',
    sql: `update run_events set events = replace(events, E'values\n', E'custom\n')
          where run_id in (select run_id from runs where thread_id = $1)`,
    finds: /has no values after the step of step/,
  },
  {
    how: 'a log with a gap',
    invariant: 'logsMatchCheckpoints',
    // Not between two rows of the server, because a fast one stores all events in one row.
    sql: `insert into run_events (run_id, first_id, last_id, events)
          select run_id, last_id + 2, last_id + 2 + (last_id - first_id), events from run_events
          where last_id >= first_id and run_id in (select run_id from runs where thread_id = $1)
          order by last_id desc limit 1`,
    finds: /in its log instead of/,
  },
  {
    how: 'an answer with an internal error',
    invariant: 'noUnexpectedErrors',
    claimed: () => ({ op: 'failed', what: 'POST /threads', status: 500, detail: 'oh' }),
    finds: /answered with 500/,
  },
  {
    how: 'a refusal without a reason',
    invariant: 'noUnexpectedErrors',
    claimed: () => ({ op: 'failed', what: 'POST /threads', status: 409, detail: 'no' }),
    finds: /answered with 409/,
  },
];

describe('a checker finds', () => {
  for (const { how, invariant, sql, claimed, finds } of broken) {
    it(how, async () => {
      expect(await found(invariant)).toEqual([]);
      if (sql) await client.query(sql, sql.includes('$1') ? [thread_id] : []);
      if (claimed) history.add(claimed());
      expect(await found(invariant)).toContainEqual(expect.stringMatching(finds));
    });
  }

  it('rows of a deleted thread in a table that the checker does not know', async () => {
    await client.query('create table svc.novel (run_id uuid)');
    await client.query('insert into svc.novel values ($1)', [run_id]);
    const deleted = '00000000-0000-4000-8000-000000000000';
    history.add({ op: 'deleted', thread_id: deleted, run_ids: [run_id] });
    expect(await found('deletedThreadsLeaveNothing')).toContainEqual(expect.stringMatching(/left in novel/));
  });

  it('two concurrent runs of a thread without the index', async () => {
    await client.query('drop index runs_one_running');
    for (let count = 0; count < 2; count++)
      await client.query(
        duplicate(`'running', '{}', kwargs, 1, 1`).replace(
          'from runs where',
          `from runs where status = 'success' and`,
        ),
        [thread_id],
      );
    expect(await found('oneRunningRunPerThread')).toContainEqual(
      expect.stringMatching(/2 runs execute at once/),
    );
  });

  it('a scenario in which few requests were served', async () => {
    for (let count = 0; count < 10; count++)
      history.add({ op: 'failed', what: 'GET /', status: 503, detail: 'away' });
    expect(await found('mostRequestsWereServed')).toEqual(['only 23 % of the requests were served']);
  });

  it('readers that disagree', async () => {
    const stale: Evidence = {
      ...evidence,
      get: async (path) => {
        const answer = await evidence.get(path);
        return path.endsWith(thread_id) ? { ...answer, body: { values: { log: [] } } } : answer;
      },
    };
    expect(await invariants.readersAgree(evidence)).toEqual([]);
    expect(await invariants.readersAgree(stale)).toContainEqual(expect.stringMatching(/other values/));
  });

  it('files that stay open', async () => {
    const before = resourcesOf(process.pid);
    const folder = await mkdtemp(join(tmpdir(), 'svc-held-'));
    const held = await Promise.all(
      Array.from({ length: 20 }, (_, index) => open(join(folder, String(index)), 'w')),
    );
    expect(leaks('it', before, resourcesOf(process.pid))).toEqual([expect.stringMatching(/more files/)]);
    await Promise.all(held.map((file) => file.close()));
    expect(leaks('it', before, resourcesOf(process.pid))).toEqual([]);
  });
});

describe('the checker of logs finds', () => {
  it('a run that was executed twice', async () => {
    const thread = await createThread();
    await work(thread, 'twice');
    expect(await found('markersAppearOnceInOrder')).toEqual([]);
    await work(thread, 'twice');
    expect(await found('markersAppearOnceInOrder')).toContainEqual(
      expect.stringMatching(/wrote twice:0 twice:1 twice:0 twice:1/),
    );
    await server.call('DELETE', `/threads/${thread}`);
  });

  it('markers that no run of the thread has written', async () => {
    const thread = await createThread();
    await work(thread, 'known');
    await post(`/threads/${thread}/state`, { values: { log: ['stranger:0'] }, as_node: 'step' });
    expect(await found('markersAppearOnceInOrder')).toEqual([
      expect.stringMatching(/no run wrote stranger:0/),
    ]);
    await server.call('DELETE', `/threads/${thread}`);
  });
});

describe('the checker of leases finds', () => {
  const stale = async (): Promise<string[]> => {
    await client.query(`set local application_name = 'slow'`);
    await client.query(`update runs set status = 'running', lease_token = 7 where run_id = $1`, [run_id]);
    await client.query(`set local application_name = 'quick'`);
    await client.query(`update runs set lease_token = 8 where run_id = $1`, [run_id]);
    await client.query(`set local application_name = 'slow'`);
    const id = 'ffffffff-ffff-6fff-8fff-ffffffffffff';
    const item = { owner: run_id, thread_id, checkpoint_ns: '', checkpoint_id: id, run_id };
    const checkpoint = { ...item, metadata: '{}', body: '{}', channels: '{}' };
    const owners = JSON.stringify([{ owner: run_id, lease_token: 7 }]);
    const given: Record<string, string> = { p_owners: owners, p_checkpoints: JSON.stringify([checkpoint]) };
    const [batch] = await evidence.query<{ names: string[] }>(
      `select proargnames as names from pg_proc where proname = 'commit_batch'`,
    );
    const names = batch?.names ?? [];
    const { rows } = await client.query<{ lost: string[] }>(
      `select commit_batch(${names.map((name, index) => `${name} => $${index + 1}`).join(', ')}) as lost`,
      names.map((name) => given[name] ?? '[]'),
    );
    return rows[0]?.lost ?? [];
  };

  it('nothing while a flush needs the newest token', async () => {
    expect(await stale()).toEqual([run_id]);
    expect(await found('onlyLeaseHoldersWrote')).toEqual([]);
  });

  it('the write of a stale attempt when it does not', async () => {
    const { rows } = await client.query<{ definition: string }>(
      `select pg_get_functiondef(oid) as definition from pg_proc where proname = 'lock_batch_runs'`,
    );
    const definition = rows[0]?.definition ?? '';
    const doctored = definition.replace('and r.lease_token = o.lease_token', '');
    expect(doctored).not.toBe(definition);
    await client.query(doctored);
    expect(await stale()).toEqual([]);
    expect(await found('onlyLeaseHoldersWrote')).toEqual([expect.stringMatching(/slow wrote .* quick held/)]);
  });
});

describe('the checker of streams finds', () => {
  let complete: Segment;
  let streamed: string;
  beforeAll(async () => {
    ({ run_id: streamed, segment: complete } = await work(thread_id, 'streamed'));
  });

  const cut = (segments: Segment[]): Promise<string[]> => {
    history.add({ op: 'stream', thread_id, run_id: streamed, segments });
    return found('streamsAreComplete');
  };
  const part = (from: number, to: number, end: Segment['end']): Segment => ({
    frames: complete.frames.slice(from, to),
    end,
  });

  it('nothing when a stream was read in consecutive parts', async () => {
    expect(complete.frames.length).toBeGreaterThan(4);
    expect(await cut([part(0, 2, 'broken'), part(2, 3, 'disconnected'), part(3, 99, 'clean')])).toEqual([]);
  });

  it('a gap', async () => {
    expect(await cut([part(0, 2, 'broken'), part(3, 99, 'clean')])).toContainEqual(
      expect.stringMatching(/continues with 3 instead of 2/),
    );
  });

  it('a repetition', async () => {
    expect(await cut([part(0, 2, 'broken'), part(1, 99, 'clean')])).toContainEqual(
      expect.stringMatching(/continues with 1 instead of 2/),
    );
  });

  it('a difference from the log', async () => {
    const frames = complete.frames.map((frame, index) => (index === 3 ? { ...frame, data: '{}' } : frame));
    expect(await cut([{ frames, end: 'clean' }])).toContainEqual(expect.stringMatching(/are kept/));
  });

  it('a missing end, and an end that is too early', async () => {
    expect(await cut([part(0, 99, 'broken')])).toContainEqual(expect.stringMatching(/never came to an end/));
    expect(await cut([part(0, 3, 'clean'), part(3, 99, 'clean')])).toContainEqual(
      expect.stringMatching(/too early/),
    );
  });

  it('events after an error', async () => {
    const frames = [{ id: '0', event: 'error', data: '{}' }, ...complete.frames.slice(1)];
    expect(await cut([{ frames, end: 'clean' }])).toContainEqual(expect.stringMatching(/after an error/));
  });
});

describe('a database that', () => {
  /** Creates acknowledged threads until PostgreSQL crashes. */
  const crash = async (durable: boolean): Promise<string[]> => {
    await using postgres = await startPostgres({ durable });
    const config = { ...postgres.connection(await postgres.createDatabase()), options: session };
    const writer = new pg.Client(config);
    writer.on('error', () => undefined);
    await writer.connect();
    const claimed = new History();
    for (let count = 0; count < 200; count++) {
      const { rows } = await writer.query<{ id: string }>(
        `insert into threads (thread_id, blob_space) values (gen_random_uuid(), gen_random_uuid()) returning thread_id as id`,
      );
      claimed.add({ op: 'thread', thread_id: rows[0]?.id ?? '' });
    }
    await postgres.restart('immediate');
    // Awaited here, because the database is deleted when this returns.
    return await invariants.nothingAcknowledgedIsLost({
      ...evidence,
      history: claimed,
      query: (text, values) => queryOnce(config, text, values),
    });
  };

  it('syncs to disk loses nothing in a crash', async () => {
    expect(await crash(true)).toEqual([]);
  });

  it('does not sync loses acknowledged data, which the checker finds', async () => {
    expect((await crash(false)).length).toBeGreaterThan(0);
  });
});
