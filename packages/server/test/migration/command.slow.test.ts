// svc migrate-from as a process: its options, output and exit codes, beside a server, and after a kill.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { MemorySaver } from '@langchain/langgraph';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import pg from 'pg';
import { expect, it } from 'vitest';
import { openEmbedded } from '../../src/storage/embedded/embedded.ts';
import { createProject, runCli } from '../cli/cli-process.ts';
import { eventually } from '../eventually.ts';
import { DevServerData } from './dev-server-files.ts';
import { scaled } from '../speed.ts';

/** As the graph of the project. */
const reply = (saver: MemorySaver) =>
  new StateGraph(MessagesAnnotation)
    .addNode('reply', () => ({ messages: [{ role: 'assistant', content: 'hi' }] }))
    .addEdge('__start__', 'reply')
    .compile({ checkpointer: saver });
const hello = { messages: [{ role: 'user', content: 'hello' }] };

it(
  'reports what it does, and what it leaves out',
  async () => {
    using project = createProject();
    const svc = (...args: string[]) => runCli(['migrate-from', ...args], { cwd: project.dir }).exit;
    const data = new DevServerData();
    const good = await data.addConversation('agent', reply, [hello]);
    const other = await data.addConversation('removed', reply, [hello]);
    await using files = await data.write();

    const dry = await svc('langgraph-api', files.folder, '--dry-run');
    expect(dry).toMatchObject({ code: 1, stderr: '' });
    expect(dry.stdout).toContain('Threads     1 (3 checkpoints) to import, 0 here already, 1 left out');
    expect(dry.stdout).toContain('the configuration does not have its graph "removed"');
    expect(existsSync(join(project.dir, '.svc'))).toBe(false);

    const first = await svc('langgraph-api', files.folder);
    expect(first.code).toBe(1);
    expect(first.stdout).toContain(`  ${other}\n`);
    const again = await svc('langgraph-api', files.folder, '--any-graph', '--json');
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ threads: { imported: 1, existing: 1, left_out: 0 } });
    expect((await svc('langgraph-api', files.folder, '--any-graph', '--dry-run')).stdout).toContain(
      'Threads     0 (0 checkpoints) to import, 2 here already, 0 left out',
    );

    await using server = runCli(['start', '--port', '0'], { cwd: project.dir });
    const [url] = await server.prints(/http:\/\/127\.0\.0\.1:\d+/);
    const newer = await data.addConversation('agent', reply, [hello]);
    await using more = await data.write();
    expect(await svc('langgraph-api', more.folder, '--any-graph')).toMatchObject({ code: 0 });
    for (const id of [good, other, newer])
      expect((await fetch(`${url}/threads/${id}/state`)).status).toBe(200);
  },
  scaled(240_000),
);

it(
  'refuses wrong usage and folders without data',
  async () => {
    using project = createProject();
    const svc = (...args: string[]) => runCli(['migrate-from', ...args], { cwd: project.dir }).exit;
    expect(await svc('other', '.')).toMatchObject({ code: 2 });
    expect(await svc('langgraph-api')).toMatchObject({ code: 2 });
    const none = await svc('langgraph-api', '.');
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('holds no data') as string });
    expect(existsSync(join(project.dir, '.svc'))).toBe(false);
    const outside = await runCli(['migrate-from', 'langgraph-api', '.'], {
      cwd: join(project.dir, 'node_modules'),
    }).exit;
    expect(outside).toMatchObject({ code: 2, stderr: expect.stringContaining('--any-graph') as string });
  },
  scaled(120_000),
);

/** An advisory lock that nothing else uses. */
const importLock = 20;

/** Lets an import wait after this number of threads, until it is released. */
const holdImport = async (connection: pg.ClientConfig, threads: number) => {
  const client = new pg.Client(connection);
  await client.connect();
  await client.query(`select pg_advisory_lock(${importLock})`);
  await client.query(`
    create function public.hold_import() returns trigger language plpgsql as $$
    begin
      if (select count(*) from svc.threads) >= ${threads} then perform pg_advisory_xact_lock_shared(${importLock}); end if;
      return new;
    end $$;
    create trigger hold_import before insert on svc.threads for each row execute function public.hold_import()`);
  return {
    reached: () =>
      eventually(async () => {
        const { rows } = await client.query(
          `select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`,
        );
        expect(rows).toHaveLength(1);
      }, 120_000),
    release: () => client.query(`select pg_advisory_unlock(${importLock})`),
    [Symbol.asyncDispose]: () => client.end(),
  };
};

it(
  'is repeated after it was killed, and then every thread is complete',
  async () => {
    using project = createProject();
    const data = new DevServerData();
    const ids: string[] = [];
    for (let count = 0; count < 60; count++)
      ids.push(await data.addConversation('agent', reply, [hello, hello]));
    await using files = await data.write();
    await using server = runCli(['start', '--port', '0'], { cwd: project.dir });
    const [url] = await server.prints(/http:\/\/127\.0\.0\.1:\d+/);
    const countThreads = async (): Promise<number> => {
      const response = await fetch(`${url}/threads/count`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      });
      return Number(await response.text());
    };
    {
      await using database = await openEmbedded({ dataDir: join(project.dir, '.svc') });
      await using hold = await holdImport(database.connection, ids.length / 2);
      await using killed = runCli(['migrate-from', 'langgraph-api', files.folder], { cwd: project.dir });
      try {
        await hold.reached();
        process.kill(killed.pid, 'SIGKILL');
        expect(await countThreads()).toBe(ids.length / 2);
      } finally {
        await hold.release();
      }
    }
    const { stdout, code } = await eventually(async () => {
      const repeated = await runCli(['migrate-from', 'langgraph-api', files.folder, '--json'], {
        cwd: project.dir,
      }).exit;
      expect(repeated.code).toBe(0);
      return repeated;
    }, 120_000);
    expect(code).toBe(0);
    const { threads } = JSON.parse(stdout) as { threads: { imported: number; existing: number } };
    expect(threads.imported).toBeGreaterThan(0);
    expect(threads.imported + threads.existing).toBe(ids.length);
    for (const id of ids) {
      const history = (await (await fetch(`${url}/threads/${id}/history?limit=100`)).json()) as unknown[];
      expect(history).toHaveLength(6);
      const runs = (await (await fetch(`${url}/threads/${id}/runs`)).json()) as unknown[];
      expect(runs).toHaveLength(2);
    }
  },
  scaled(300_000),
);
