// A checker that cannot fail checks nothing: each finds nothing wrong with a sound database, and finds what is
// wrong with one that was broken by hand, or by a server that was.
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
import { holdingOf, leaks } from './invariants/conduct.ts';
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

/** What is broken by SQL is broken in a transaction, and whole again after the test. */
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

it('finds nothing wrong with what a sound server has stored', async () => {
  expect(await violations(evidence)).toEqual([]);
});

interface Broken {
  how: string;
  invariant: Invariant;
  /** SQL, in which $1 is the thread. */
  sql?: string;
  /** What a client claims beside it. */
  told?: () => Entry;
  finds: RegExp;
}

const newest = `(select checkpoint_id from checkpoint_heads where thread_id = $1 and checkpoint_ns = '')`;
const duplicate = (changes: string): string =>
  `insert into runs (run_id, thread_id, assistant_id, status, metadata, kwargs, attempt, lease_token)
   select gen_random_uuid(), thread_id, assistant_id, ${changes} from runs where thread_id = $1`;

const broken: Broken[] = [
  {
    how: 'a run that nobody ends',
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
    how: 'a run that failed after it was told to have succeeded',
    invariant: 'nothingAcknowledgedIsLost',
    sql: `update runs set status = 'error' where thread_id = $1`,
    finds: /is error/,
  },
  {
    how: 'a request that made two runs',
    invariant: 'everyRequestMadeOneRun',
    sql: duplicate(`'success', metadata, kwargs, 1, 1`),
    finds: /2 runs were made for the one request first/,
  },
  {
    how: 'a thread that is busy with nothing',
    invariant: 'noThreadIsStuck',
    sql: `update threads set status = 'busy' where thread_id = $1`,
    finds: /busy with nothing/,
  },
  {
    how: 'an idle thread with a run that goes on',
    invariant: 'noThreadIsStuck',
    sql: `update runs set status = 'running' where thread_id = $1`,
    finds: /idle while a run goes on/,
  },
  {
    how: 'a schema without the index of running runs',
    invariant: 'oneRunGoesOnPerThread',
    sql: `drop index runs_one_running`,
    finds: /nothing keeps two runs/,
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
    how: 'a checkpoint whose parent is gone',
    invariant: 'checkpointsAreOneChain',
    sql: `delete from checkpoints where thread_id = $1 and checkpoint_id =
          (select parent_id from checkpoints where thread_id = $1 and checkpoint_id = ${newest})`,
    finds: /is gone/,
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
    invariant: 'markersStandOnceAndInOrder',
    sql: `update runs set metadata = metadata || '{"steps": 3}' where thread_id = $1`,
    finds: /2 of its 3 steps/,
  },
  {
    how: 'a cancelled run that goes on to write',
    invariant: 'cancelledRunsStayQuiet',
    told: () => ({ op: 'cancelled', thread_id, run_id, checkpoints: 1 }),
    finds: /wrote 3 checkpoints after/,
  },
  {
    how: 'a cancelled run that never ends',
    invariant: 'cancelledRunsStayQuiet',
    sql: `update runs set status = 'pending' where thread_id = $1`,
    told: () => ({ op: 'cancelled', thread_id, run_id, checkpoints: 4 }),
    finds: /is pending/,
  },
  {
    how: 'a run that was taken back and is there',
    invariant: 'rollbackTakesBackOneRun',
    told: () => ({ op: 'rolled back', thread_id, run_id, before: [] }),
    finds: /has 4 checkpoints/,
  },
  {
    how: 'a rollback that takes too much',
    invariant: 'rollbackTakesBackOneRun',
    sql: 'delete from checkpoints where thread_id = $1',
    told: () => ({ op: 'rolled back', thread_id, run_id: thread_id, before: [run_id] }),
    finds: /took 1 older/,
  },
  {
    how: 'a deleted thread of which a run is left',
    invariant: 'deletedThreadsLeaveNothing',
    sql: 'delete from threads where thread_id = $1',
    told: () => ({ op: 'deleted', thread_id, run_ids: [run_id] }),
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
    sql: `update run_events set first_id = first_id + 1, last_id = last_id + 1 where last_id >= first_id and first_id > 0
          and run_id in (select run_id from runs where thread_id = $1)`,
    finds: /in its log in place of/,
  },
  {
    how: 'an answer with an internal error',
    invariant: 'nobodyWasToldNonsense',
    told: () => ({ op: 'failed', what: 'POST /threads', status: 500, detail: 'oh' }),
    finds: /answered with 500/,
  },
  {
    how: 'a refusal without a reason',
    invariant: 'nobodyWasToldNonsense',
    told: () => ({ op: 'failed', what: 'POST /threads', status: 409, detail: 'no' }),
    finds: /answered with 409/,
  },
];

describe('a checker finds', () => {
  for (const { how, invariant, sql, told, finds } of broken) {
    it(how, async () => {
      expect(await found(invariant)).toEqual([]);
      if (sql) await client.query(sql, sql.includes('$1') ? [thread_id] : []);
      if (told) history.add(told());
      expect(await found(invariant)).toContainEqual(expect.stringMatching(finds));
    });
  }

  it('rows of a deleted thread in a table that did not exist when the checker was written', async () => {
    await client.query('create table svc.novel (run_id uuid)');
    await client.query('insert into svc.novel values ($1)', [run_id]);
    const gone = '00000000-0000-4000-8000-000000000000';
    history.add({ op: 'deleted', thread_id: gone, run_ids: [run_id] });
    expect(await found('deletedThreadsLeaveNothing')).toContainEqual(expect.stringMatching(/left in novel/));
  });

  it('two runs that go on at once, and do not see each other', async () => {
    await client.query('drop index runs_one_running');
    for (let count = 0; count < 2; count++)
      await client.query(
        duplicate(`'running', '{}', kwargs, 1, 1`).replace(
          'from runs where',
          `from runs where status = 'success' and`,
        ),
        [thread_id],
      );
    expect(await found('oneRunGoesOnPerThread')).toContainEqual(
      expect.stringMatching(/2 runs go on at once/),
    );
  });

  it('a scenario in which little was served', async () => {
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
    const before = holdingOf(process.pid);
    const folder = await mkdtemp(join(tmpdir(), 'svc-held-'));
    const held = await Promise.all(
      Array.from({ length: 20 }, (_, index) => open(join(folder, String(index)), 'w')),
    );
    expect(leaks('it', before, holdingOf(process.pid))).toEqual([expect.stringMatching(/more files/)]);
    await Promise.all(held.map((file) => file.close()));
    expect(leaks('it', before, holdingOf(process.pid))).toEqual([]);
  });
});

describe('the checker of logs finds', () => {
  it('a run that was carried out twice', async () => {
    const thread = await createThread();
    await work(thread, 'twice');
    expect(await found('markersStandOnceAndInOrder')).toEqual([]);
    await work(thread, 'twice');
    expect(await found('markersStandOnceAndInOrder')).toContainEqual(
      expect.stringMatching(/wrote twice:0 twice:1 twice:0 twice:1/),
    );
    await server.call('DELETE', `/threads/${thread}`);
  });

  it('what no run of the thread has written', async () => {
    const thread = await createThread();
    await work(thread, 'known');
    await post(`/threads/${thread}/state`, { values: { log: ['stranger:0'] }, as_node: 'step' });
    expect(await found('markersStandOnceAndInOrder')).toEqual([
      expect.stringMatching(/nobody wrote stranger:0/),
    ]);
    await server.call('DELETE', `/threads/${thread}`);
  });
});

describe('the checker of fences finds', () => {
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

  it('nothing as long as a flush has to hold the newest token', async () => {
    expect(await stale()).toEqual([run_id]);
    expect(await found('onlyTheHolderWrote')).toEqual([]);
  });

  it('what a stale attempt writes once it does not', async () => {
    const { rows } = await client.query<{ definition: string }>(
      `select pg_get_functiondef(oid) as definition from pg_proc where proname = 'commit_batch'`,
    );
    const definition = rows[0]?.definition ?? '';
    const doctored = definition.replace('and r.lease_token = o.lease_token', '');
    expect(doctored).not.toBe(definition);
    await client.query(doctored);
    expect(await stale()).toEqual([]);
    expect(await found('onlyTheHolderWrote')).toEqual([expect.stringMatching(/slow wrote .* quick held/)]);
  });
});

describe('the checker of streams finds', () => {
  let whole: Segment;
  let streamed: string;
  beforeAll(async () => {
    ({ run_id: streamed, segment: whole } = await work(thread_id, 'streamed'));
  });

  const cut = (segments: Segment[]): Promise<string[]> => {
    history.add({ op: 'stream', thread_id, run_id: streamed, segments });
    return found('streamsAreWhole');
  };
  const part = (from: number, to: number, end: Segment['end']): Segment => ({
    frames: whole.frames.slice(from, to),
    end,
  });

  it('nothing when a stream was read in pieces that fit', async () => {
    expect(whole.frames.length).toBeGreaterThan(4);
    expect(await cut([part(0, 2, 'broken'), part(2, 3, 'left'), part(3, 99, 'clean')])).toEqual([]);
  });

  it('a gap', async () => {
    expect(await cut([part(0, 2, 'broken'), part(3, 99, 'clean')])).toContainEqual(
      expect.stringMatching(/goes on with 3 in place of 2/),
    );
  });

  it('a repetition', async () => {
    expect(await cut([part(0, 2, 'broken'), part(1, 99, 'clean')])).toContainEqual(
      expect.stringMatching(/goes on with 1 in place of 2/),
    );
  });

  it('another text than the log has', async () => {
    const frames = whole.frames.map((frame, index) => (index === 3 ? { ...frame, data: '{}' } : frame));
    expect(await cut([{ frames, end: 'clean' }])).toContainEqual(expect.stringMatching(/are kept/));
  });

  it('an end that never comes, and one that comes too early', async () => {
    expect(await cut([part(0, 99, 'broken')])).toContainEqual(expect.stringMatching(/never came to an end/));
    expect(await cut([part(0, 3, 'clean'), part(3, 99, 'clean')])).toContainEqual(
      expect.stringMatching(/too early/),
    );
  });

  it('events after an error', async () => {
    const frames = [{ id: '0', event: 'error', data: '{}' }, ...whole.frames.slice(1)];
    expect(await cut([{ frames, end: 'clean' }])).toContainEqual(expect.stringMatching(/after an error/));
  });
});

describe('a database that', () => {
  /** One thread after the other, each acknowledged, until PostgreSQL crashes. */
  const crash = async (durable: boolean): Promise<string[]> => {
    await using postgres = await startPostgres({ durable });
    const config = { ...postgres.connection(await postgres.createDatabase()), options: session };
    const writer = new pg.Client(config);
    writer.on('error', () => undefined);
    await writer.connect();
    const told = new History();
    for (let count = 0; count < 200; count++) {
      const { rows } = await writer.query<{ id: string }>(
        `insert into threads (thread_id, blob_space) values (gen_random_uuid(), gen_random_uuid()) returning thread_id as id`,
      );
      told.add({ op: 'thread', thread_id: rows[0]?.id ?? '' });
    }
    await postgres.restart('immediate');
    // Awaited here: the database goes when this returns.
    return await invariants.nothingAcknowledgedIsLost({
      ...evidence,
      history: told,
      query: (text, values) => queryOnce(config, text, values),
    });
  };

  it('syncs to the disk loses nothing in a crash', async () => {
    expect(await crash(true)).toEqual([]);
  });

  it('does not is found out', async () => {
    expect((await crash(false)).length).toBeGreaterThan(0);
  });
});
