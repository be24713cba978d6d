// A connection pooler between the server and PostgreSQL: the server refuses to start behind an unsupported one.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../cli/cli-process.ts';
import { sendOnce } from './caller.ts';
import { startNode } from './node-process.ts';
import { type PoolerOptions, requirePooler, startPooler } from './pooler.ts';
import { queryOnce, startPostgres, type FaultyPostgres } from './postgres.ts';
import { sharedFolder } from '../folders.ts';

const project = fileURLToPath(new URL('./graphs/svc.json', import.meta.url));
/** Startup parameters of the server's connections. */
const parameters = ['options', 'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
const settings = 'set search_path=svc; set datestyle=ISO; set timezone=UTC; set jit=off';

let postgres: FaultyPostgres;
let database: string;
const dataDir = sharedFolder();
beforeAll(async () => {
  requirePooler();
  postgres = await startPostgres();
  database = await postgres.createDatabase();
});
afterAll(async () => {
  await postgres?.[Symbol.asyncDispose]();
});

/** Runs `svc start` behind such a pooler; returns how it ends. */
const startThrough = async (options: Omit<PoolerOptions, 'port'>) => {
  await using pooler = await startPooler({ port: postgres.port, ...options });
  const databaseUri = `postgresql://svc@127.0.0.1:${pooler.port}/${database}`;
  await using svc = runCli(['start', '--config', project, '--port', '0', '--data-dir', dataDir], {
    cwd: dataDir,
    env: { SVC_DATABASE_URI: databaseUri, SVC_LOG_LEVEL: 'warn' },
  });
  const serves = svc.prints(/^svc \d/m).then(
    () => ({ code: undefined, stderr: 'it serves' }),
    () => svc.exit,
  );
  return await serves;
};

describe('a PgBouncer', () => {
  it.each(['transaction', 'statement'] as const)('in %s mode is rejected with a remedy', async (mode) => {
    const { code, stderr } = await startThrough({ mode, ignored: parameters, connectQuery: settings });
    expect(stderr).toMatch(
      /connection pooler in transaction mode.*Point it to PostgreSQL itself.*set SVC_DATABASE_LISTEN_URI/s,
    );
    expect(code).toBe(1);
  });

  it('that rejects startup parameters is named in the error', async () => {
    const { code, stderr } = await startThrough({ mode: 'session' });
    expect(stderr).toMatch(
      /connection pooler that rejects.*unsupported startup parameter.*PostgreSQL itself.*set SVC_DATABASE_LISTEN_URI/s,
    );
    expect(code).toBe(1);
  });

  it('that drops the settings of a session is rejected', async () => {
    const { code, stderr } = await startThrough({ mode: 'session', ignored: parameters });
    expect(stderr).toMatch(/ignores the startup parameter "options": point SVC_DATABASE_URI to PostgreSQL/);
    expect(code).toBe(1);
  });

  it('in session mode works when the role has the settings', async () => {
    for (const setting of ['search_path = svc', `datestyle = 'ISO, MDY'`, 'timezone = UTC'])
      await queryOnce(postgres.connection(database), `alter role svc in database ${database} set ${setting}`);
    await using pooler = await startPooler({ port: postgres.port, mode: 'session', ignored: parameters });
    const databaseUri = `postgresql://svc@127.0.0.1:${pooler.port}/${database}`;
    await using node = await startNode({ name: 'pooled', databaseUri });
    const body = { assistant_id: 'journal', input: { marker: 'pooled', steps: 3, ms: 1, taken: 0 } };
    const results = await Promise.all(
      Array.from({ length: 8 }, () => sendOnce(node.url, { method: 'POST', path: '/runs/wait', body })),
    );
    expect(results.map(({ status }) => status)).toEqual(results.map(() => 200));
  });
});
