// A graph that ignores the abort signal has its executor killed, and the other runs of the executor continue elsewhere. A graph that obeys
// has not, however long the outcome takes to be stored.
import { randomUUID } from 'node:crypto';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, type Client } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, until } from '../eventually.ts';
import { untilOneWaits } from '../lock-waiters.ts';
import { scaled } from '../speed.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { sharedFolder } from '../folders.ts';

let server: TestServer;
let client: Client;
const dir = sharedFolder();
beforeAll(async () => {
  // The loss of a lease is noticed after two fifths of it at most, which is before the end of the grace period.
  const settings = { executors: '1', lease: `${scaled(5)}s`, cancelGraceMs: scaled(4_000) };
  server = await startTestServer({ settings });
  client = createClient({ apiUrl: server.url });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const metric = async (name: string, server: TestServer): Promise<number> => {
  const { body } = await server.call('GET', '/metrics');
  const line = String(body)
    .split('\n')
    .find((text) => text.startsWith(`${name} `));
  return Number(line?.split(' ')[1]);
};

/** A run that waits until its file exists. */
const waitingRun = async (client: Client) => {
  const file = join(dir, randomUUID());
  const { thread_id } = await client.threads.create();
  const { run_id } = await client.runs.create(thread_id, 'probe', { input: { do: 'writeWhen', out: file } });
  await eventually(() => access(`${file}.begun`));
  return { thread_id, run_id, file };
};

describe('a graph that never yields, whose thread is deleted,', () => {
  it('has its executor killed after the grace period, also when the loss of the lease is noticed before', async () => {
    const other = await waitingRun(client);
    const { thread_id } = await client.threads.create();
    // The file never exists.
    const input = { do: 'spinUntil', out: join(dir, 'never') };
    await client.runs.create(thread_id, 'probe', { input });
    await eventually(async () => expect(await metric('svc_running_runs', server)).toBe(2));
    await client.threads.delete(thread_id);
    await eventually(async () =>
      expect(await metric('svc_leases_lost_total{reason="taken"}', server)).toBe(1),
    );

    await eventually(async () => expect(await metric('svc_executor_kills_total', server)).toBe(1));
    expect(await metric('svc_executor_exits_total', server)).toBe(0);
    await writeFile(other.file, '');
    expect(await client.runs.join(other.thread_id, other.run_id)).toMatchObject({ out: 'wrote' });
    const moved = await client.runs.get(other.thread_id, other.run_id);
    expect(moved).toMatchObject({
      status: 'success',
      attempt: 1,
      lost_attempts: [
        { charged: false, message: expect.stringMatching(/^its executor was killed: run .* did not stop/) },
      ],
    });
  });
});

describe('a cancelled run whose graph obeys, while its end cannot be stored,', () => {
  const graceMs = scaled(2_000);

  it('keeps its executor, so that other runs of the executor are not executed again', async () => {
    await using server = await startTestServer({
      settings: { executors: '1', lease: '2m', cancelGraceMs: graceMs },
    });
    const client = createClient({ apiUrl: server.url });
    const other = await waitingRun(client);
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, 'probe', { input: { do: 'waitForAbort' } });
    await eventually(async () => expect(await metric('svc_running_runs', server)).toBe(2));
    await server.database.transact(async (tx) => {
      await tx.query({ name: 'hold', text: 'select 1 from runs where run_id = $1 for update' }, [run_id]);
      await client.runs.cancel(thread_id, run_id);
      await untilOneWaits(server.database);
      const storesSinceMs = performance.now();
      await until(() => performance.now() > storesSinceMs + 2 * graceMs);
      expect(await metric('svc_executor_kills_total', server)).toBe(0);
    });
    await writeFile(other.file, '');
    expect(await client.runs.join(other.thread_id, other.run_id)).toMatchObject({ out: 'wrote' });
    expect(await client.runs.get(other.thread_id, other.run_id)).not.toHaveProperty('lost_attempts');
    expect(await client.runs.get(thread_id, run_id)).toMatchObject({ status: 'interrupted' });
  });
});

describe('a run whose events the database refuses, and whose graph factory never returns,', () => {
  it('ends with the error after the grace period', async () => {
    await server.database.script(`
      create function refuse_events() returns trigger language plpgsql as $$
        begin raise exception 'refused' using errcode = 'check_violation'; end $$;
      create trigger refuse_events before insert on run_events for each row
        when (new.outcome is null) execute function refuse_events()`);
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, 'chat-factory', {
      input: { messages: [] },
      config: { configurable: { hangs: true } },
      stream_resumable: true,
    });
    await eventually(async () =>
      expect(await client.runs.get(thread_id, run_id)).toMatchObject({
        status: 'error',
        error: { error: 'CheckpointNotStored', message: expect.stringContaining('refused by the database') },
      }),
    );
    await server.database.script('drop trigger refuse_events on run_events');
  });
});
