// A connection pooler in transaction mode, with a direct connection for notifications: servers work as they do on PostgreSQL itself.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../cli/cli-process.ts';
import { eventually } from '../eventually.ts';
import { type RequestSpec, readStream, sendOnce } from './caller.ts';
import { startLongRun, untilOver } from './long-run.ts';
import { type NodeOptions, startNode, type SvcNode } from './node-process.ts';
import { type Pooler, requirePooler, startPooler } from './pooler.ts';
import { queryOnce, startPostgres, type FaultyPostgres } from './postgres.ts';
import { sharedFolder } from '../folders.ts';

const project = fileURLToPath(new URL('./graphs/svc.json', import.meta.url));
const key = `test-${randomUUID()}`;

let postgres: FaultyPostgres;
let database: string;
let pooler: Pooler;
const dataDir = sharedFolder();
beforeAll(async () => {
  requirePooler();
  postgres = await startPostgres();
  database = await postgres.createDatabase();
  // Fewer connections to PostgreSQL than concurrent runs, and than connections of one server.
  pooler = await startPooler({ port: postgres.port, mode: 'transaction', poolSize: 4 });
});
afterAll(async () => {
  await pooler?.[Symbol.asyncDispose]();
  await postgres?.[Symbol.asyncDispose]();
});

const uriOf = (port: number, name = database): string => `postgresql://svc@127.0.0.1:${port}/${name}`;
const direct = (name = database): string => uriOf(postgres.port, name);

const cli = async (args: string[], uris: { pooled?: string; listen: string }) => {
  await using svc = runCli(args, {
    cwd: dataDir,
    env: {
      SVC_DATABASE_URI: uris.pooled ?? uriOf(pooler.port),
      SVC_DATABASE_LISTEN_URI: uris.listen,
      SVC_LOG_LEVEL: 'warn',
    },
  });
  return await svc.exit;
};

/** `svc start`, which has to fail. */
const start = (uris: { pooled?: string; listen: string }) =>
  cli(['start', '--config', project, '--port', '0', '--data-dir', dataDir], uris);

const execute = async (statements: readonly string[]): Promise<void> => {
  for (const statement of statements) await queryOnce(postgres.connection(database), statement);
};

const startPooled = (options: Pick<NodeOptions, 'name' | 'role'>): Promise<SvcNode> =>
  startNode({
    ...options,
    databaseUri: uriOf(pooler.port),
    // No lease is lost on a busy machine. A killed worker on this machine is noticed before its lease ends.
    env: { SVC_DATABASE_LISTEN_URI: direct(), SVC_BOOTSTRAP_API_KEY: key, SVC_LEASE: '30s' },
  });

describe('the start of a server behind a pooler in transaction mode', () => {
  it('is refused until the statements that the error names are executed', async () => {
    const { code, stderr } = await start({ listen: direct() });
    expect(code).toBe(1);
    const statements = [...stderr.matchAll(/ALTER ROLE .*?;/g)].map(([statement]) => statement);
    // A new cluster may already have the expected datestyle and timezone.
    expect(statements.length).toBeGreaterThanOrEqual(6);
    expect(stderr).toContain(`ALTER ROLE "svc" IN DATABASE "${database}" SET search_path = 'svc';`);
    for (const name of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'])
      expect(stderr).toContain(`ALTER ROLE "svc" IN DATABASE "${database}" SET ${name} = `);
    expect(stderr).toContain('RECONNECT');
    await execute(statements);
    // Sessions have the settings of the time when they were opened.
    await queryOnce({ ...postgres.connection('pgbouncer'), port: pooler.port }, 'RECONNECT');
    await using node = await startPooled({ name: 'mended' });
    await eventually(async () => {
      expect((await sendOnce(node.url, { method: 'GET', path: '/ready' })).status).toBe(200);
    });
    // Other servers log a warning when they find that a server was killed.
    node.terminate();
    expect(await node.exit).toMatchObject({ code: 0 });
  });

  it('is refused when the direct connection leads to another database, or to the pooler', async () => {
    const other = await postgres.createDatabase();
    const elsewhere = await start({ listen: direct(other) });
    expect(elsewhere.stderr).toContain('does not receive the notifications');
    expect(elsewhere.code).toBe(1);
    const pooled = await start({ listen: uriOf(pooler.port) });
    expect(pooled.stderr).toMatch(/SVC_DATABASE_LISTEN_URI points to a connection pooler/);
    expect(pooled.code).toBe(1);
    const nowhere = await start({ listen: uriOf(1) });
    expect(nowhere.stderr).toMatch(/SVC_DATABASE_LISTEN_URI cannot be used: .*ECONNREFUSED/);
  });

  it('is refused in statement mode', async () => {
    await using statements = await startPooler({ port: postgres.port, mode: 'statement' });
    const { stderr } = await start({ pooled: uriOf(statements.port), listen: direct() });
    expect(stderr).toMatch(/rejects transactions.*pool_mode = transaction/s);
  });
});

describe('servers behind a pooler in transaction mode', () => {
  let api: SvcNode;
  let worker: SvcNode;
  beforeAll(async () => {
    [api, worker] = await Promise.all([
      startPooled({ name: 'api', role: 'api' }),
      startPooled({ name: 'worker', role: 'worker' }),
    ]);
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
    await worker?.[Symbol.asyncDispose]();
  });

  const call = async (method: RequestSpec['method'], path: string, body?: unknown): Promise<unknown> => {
    const request = { method, path, body, headers: { 'x-api-key': key }, tryMs: 60_000 };
    const answer = await sendOnce(api.url, request);
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const newThread = async (): Promise<string> =>
    ((await call('POST', '/threads', {})) as { thread_id: string }).thread_id;
  const journal = (marker: string, steps = 3) => ({
    assistant_id: 'journal',
    input: { marker, steps, ms: 1, taken: 0 },
  });

  it('execute runs that another process waits for, streams and joins', async () => {
    const thread_id = await newThread();
    const waited = await call('POST', `/threads/${thread_id}/runs/wait`, journal('a'));
    expect(waited).toMatchObject({ taken: 3 });
    const streamed = await readStream(api.url, {
      method: 'POST',
      path: `/threads/${thread_id}/runs/stream`,
      body: { ...journal('b'), stream_mode: ['values', 'custom'] },
    });
    expect(streamed).toMatchObject({ status: 200, end: 'clean' });
    expect(streamed.frames.filter(({ event }) => event === 'custom')).toHaveLength(3);
    const run = (await call('POST', `/threads/${thread_id}/runs`, journal('c'))) as { run_id: string };
    await call('GET', `/threads/${thread_id}/runs/${run.run_id}/join`);
    expect(await call('GET', `/threads/${thread_id}/state`)).toMatchObject({ values: { marker: 'c' } });
  });

  it('interrupt and resume, and update the state', async () => {
    const thread_id = await newThread();
    const path = `/threads/${thread_id}`;
    await call('POST', `${path}/runs/wait`, { assistant_id: 'interrupter', input: {} });
    expect(await call('GET', path)).toMatchObject({ status: 'interrupted' });
    await call('POST', `${path}/runs/wait`, { assistant_id: 'interrupter', command: { resume: 'blue' } });
    expect(await call('GET', `${path}/state`)).toMatchObject({ values: { log: ['blue'] } });
    await call('POST', `${path}/state`, { values: { log: ['by hand'] } });
    expect(await call('GET', `${path}/state`)).toMatchObject({ values: { log: ['blue', 'by hand'] } });
  });

  it('store traces and find them', async () => {
    const id = randomUUID();
    const session_name = `pooled-${id}`;
    await call('POST', '/api/v1/runs', {
      id,
      trace_id: id,
      name: 'chain',
      run_type: 'chain',
      session_name,
      start_time: new Date().toISOString(),
      inputs: { question: 'x'.repeat(100_000) },
    });
    await call('PATCH', `/api/v1/runs/${id}`, { end_time: new Date().toISOString(), outputs: { answer: 1 } });
    const [projectFound] = (await call('GET', `/api/v1/sessions?name=${session_name}`)) as { id: string }[];
    const found = await call('POST', '/api/v1/runs/query', {
      session: [projectFound?.id],
      filter: 'eq(name, "chain")',
    });
    expect((found as { runs: unknown[] }).runs).toMatchObject([{ id, outputs: { answer: 1 } }]);
  });

  it('serve many clients with fewer connections to PostgreSQL than runs', async () => {
    const results = await Promise.all(
      Array.from({ length: 30 }, async (_, at) => {
        const thread_id = await newThread();
        const values = await call('POST', `/threads/${thread_id}/runs/wait`, journal(`many-${at}`, 10));
        const state = await call('GET', `/threads/${thread_id}/state`);
        return [values, state];
      }),
    );
    for (const [values, state] of results) {
      expect(values).toMatchObject({ taken: 10 });
      expect(state).toMatchObject({ values });
    }
    const [sessions] = await queryOnce<{ count: number }>(
      postgres.connection(database),
      `select count(*)::integer from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()`,
      [database],
    );
    // Those of the pooler, and one of each server for notifications.
    expect(sessions?.count).toBeLessThanOrEqual(4 + 2);
  });

  it('have logged no warning until here', () => {
    const lines = [api, worker].flatMap((node) => node.output().split('\n'));
    expect(lines.filter((line) => /"level":[456]0/.test(line))).toEqual([]);
  });

  it('continue the run of a worker that was killed', async () => {
    const run = await startLongRun(api, 30);
    await worker.kill();
    worker = await startPooled({ name: 'successor', role: 'worker' });
    const { attempt, lost_attempts } = await untilOver(api, run);
    expect({ attempt, lost: lost_attempts.length }).toEqual({ attempt: 1, lost: 1 });
  });

  it.each([
    ['PostgreSQL crashes', () => postgres.restart('immediate')],
    ['the pooler is killed', () => pooler.restart()],
  ])(
    'continue a run when %s and starts again, and lose nothing that was acknowledged',
    async (what, restart) => {
      const run = await startLongRun(api, 30);
      const threads: string[] = [];
      let isOver = false;
      let storedMs = performance.now();
      let gapMs = 0;
      const writing = (async () => {
        while (!isOver) {
          const { status, body } = await sendOnce(api.url, { method: 'POST', path: '/threads', body: {} });
          expect([200, 503]).toContain(status);
          if (status !== 200) continue;
          threads.push((body as { thread_id: string }).thread_id);
          gapMs = Math.max(gapMs, performance.now() - storedMs);
          storedMs = performance.now();
        }
      })();
      try {
        await eventually(() => expect(threads.length).toBeGreaterThan(10));
        await restart();
        const before = threads.length;
        await eventually(() => expect(threads.length).toBeGreaterThan(before + 10));
      } finally {
        isOver = true;
        await writing;
      }
      expect(await untilOver(api, run)).toMatchObject({ attempt: 1 });
      for (const thread_id of threads)
        expect(await call('GET', `/threads/${thread_id}`)).toMatchObject({ thread_id });
      // A figure, which depends on the machine.
      process.stderr.write(
        `${what}: ${threads.length} threads stored, longest gap ${Math.round(gapMs)} ms\n`,
      );
    },
  );
});

describe('commands behind a pooler in transaction mode', () => {
  it('migrate through it, and back up over the direct connection', async () => {
    const migrated = await cli(['migrate', '--config', project, '--data-dir', dataDir], { listen: direct() });
    expect(migrated.code).toBe(0);
    const folder = join(dataDir, 'backup');
    const { code, stderr } = await cli(['backup', folder, '--config', project, '--data-dir', dataDir], {
      listen: direct(),
    });
    expect({ code, stderr }).toMatchObject({ code: 0 });
  });

  it('svc doctor checks both connections', async () => {
    const { stdout } = await cli(['doctor', '--config', project, '--data-dir', dataDir], {
      listen: direct(),
    });
    expect(stdout).toMatch(/direct connection.*keeps its session/s);
    expect(stdout).toMatch(/connections to the pooler/);
    const other = await postgres.createDatabase();
    const wrong = await cli(['doctor', '--config', project, '--data-dir', dataDir], {
      listen: direct(other),
    });
    expect(wrong.stdout).toMatch(/does not receive the notifications.*the database of DATABASE_URI/s);
    expect(wrong.code).toBe(1);
  });
});
