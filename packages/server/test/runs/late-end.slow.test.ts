// A stateless run's row is deleted when it ends. If the executor's report of the end is late, a renewal does not confirm the lease.
import { randomUUID } from 'node:crypto';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { scaled } from '../speed.ts';
import { startTestServer } from '../server.ts';
import { sharedFolder } from '../folders.ts';
import { fixture } from '../fixture.ts';

// A third of the lease passes before the renewal that finds it lost; an executor that is silent for 20 s would be killed as blocked before.
const server = fixture(() => startTestServer({ settings: { lease: `${Math.min(scaled(12), 30)}s` } }));
const dir = sharedFolder();

const run = (input: object) => ({ assistant_id: 'probe', input });

const executorPid = async (): Promise<number> => {
  const { body } = await server.call('POST', '/runs/wait', run({ do: 'pid' }));
  return (body as { out: number }).out;
};

const runRows = (): Promise<{ run_id: string }[]> =>
  server.database.query<{ run_id: string }>({ name: 'run_rows', text: 'select run_id from runs' }, []);

/** The commits of executors that wait for a lock. Renewals of the lease may wait too. */
const waitingCommits = (): Promise<object[]> => {
  const text = `select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%commit_batch%'`;
  return server.database.query({ name: 'waiting_commits', text }, []);
};

const leasesLost = async (): Promise<number> => {
  const { body } = await server.call('GET', '/metrics');
  return Number(/^svc_leases_lost_total\{reason="taken"\} (\d+)$/m.exec(String(body))?.[1] ?? 0);
};

/**
 * Lets the only run end, which waits for the file, and stops its executor after the end was sent to the database. Resolves when the lease
 * counts as lost.
 */
const stopAtTheEnd = async (pid: number, file: string): Promise<void> => {
  const lost = await leasesLost();
  await eventually(() => access(`${file}.begun`));
  await server.database.transact(async (tx) => {
    await tx.query({ name: 'hold_run', text: 'select 1 from runs for update' }, []);
    await writeFile(file, '');
    await eventually(async () => expect(await waitingCommits()).toHaveLength(1));
    process.kill(pid, 'SIGSTOP');
  });
  await eventually(async () => expect(await runRows()).toEqual([]));
  await eventually(async () => expect(await leasesLost()).toBe(lost + 1));
};

describe('a stateless run, when its executor reports the end late,', () => {
  it.each([
    ['/runs/wait', '{"do":"writeWhen","out":"wrote"}'],
    ['/runs/stream', 'event: custom'],
  ])('has its result: %s', async (path, expected) => {
    const pid = await executorPid();
    const file = join(dir, randomUUID());
    const body = { ...run({ do: 'writeWhen', out: file }), stream_mode: ['custom', 'values'] };
    const answer = server.call('POST', path, body);
    try {
      await stopAtTheEnd(pid, file);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    const { status, body: sent } = await answer;
    expect(status).toBe(200);
    const text = typeof sent === 'string' ? sent : JSON.stringify(sent);
    expect(text).not.toContain('RunDeleted');
    expect(text).toContain(expected);
    expect(text).toContain('wrote');
  });
});
