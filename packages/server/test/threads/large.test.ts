// Threads of any size: deleted and pruned in batches, copied completely or not at all.
import { randomUUID } from 'node:crypto';
import { createClient } from '@svc/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { copiedRowsMax } from '../../src/deployment/threads/thread-service.ts';
import { ThreadDeletion } from '../../src/deployment/threads/thread-deletion.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { createStorage } from '../../src/storage/storage.ts';
import { eventually } from '../eventually.ts';
import { untilOneWaits } from '../lock-waiters.ts';
import { startTestServer } from '../server.ts';
import { countDeletions, makeLargeThread, rowsLeft } from './large-thread.ts';
import { fixture } from '../fixture.ts';

const server = fixture(() => startTestServer());
const storage = fixture(() => createStorage(server.database));
const client = fixture(() => createClient({ apiUrl: server.url }));
let checkpointDeletions: () => Promise<number[]>;
let writeDeletions: () => Promise<number[]>;
beforeAll(async () => {
  await suspendSweeps();
  checkpointDeletions = await countDeletions(server.database, 'checkpoints');
  writeDeletions = await countDeletions(server.database, 'checkpoint_writes');
});

/** No round of the periodic task starts after this, which would delete rows that a test still expects. */
const suspendSweeps = async (): Promise<void> => {
  const { name } = new ThreadDeletion(storage).task();
  const suspend = {
    name: 'suspend_sweeps',
    text: `update periodic_tasks set next_at = 'infinity' where name = $1 and next_at > now() and lease_until is null returning name`,
  };
  await eventually(async () => expect(await server.database.query(suspend, [name])).toHaveLength(1));
};

const size = { checkpoints: 6_000, writes: 2 };
const left = (thread_id: string) => rowsLeft(server.database, thread_id);
const create = (thread_id: string) => storage.threads.create({ thread_id, metadata: {}, config: {} });

describe('a thread with a long history', () => {
  it('is deleted in batches', async () => {
    const thread_id = await makeLargeThread(server.database, size);
    await client.threads.delete(thread_id);
    await eventually(async () => expect(await left(thread_id)).toEqual({}));
    expect(Math.max(...(await checkpointDeletions()), ...(await writeDeletions()))).toBeLessThanOrEqual(
      5_000,
    );
  });

  it('is pruned in batches', async () => {
    const thread_id = await makeLargeThread(server.database, size);
    const before = await client.threads.getState(thread_id);
    expect(await client.threads.prune([thread_id], { strategy: 'keep_latest' })).toEqual({ pruned_count: 1 });
    expect(await left(thread_id)).toMatchObject({ threads: 1, checkpoints: 1, checkpoint_writes: 2 });
    const { parent_checkpoint: _, parent_checkpoint_id: _id, ...state } = before;
    expect(await client.threads.getState(thread_id)).toMatchObject(state);
    expect(Math.max(...(await checkpointDeletions()), ...(await writeDeletions()))).toBeLessThanOrEqual(
      5_000,
    );
  });

  it('expires in batches, and does not wait for its ended runs', async () => {
    const thread_id = await makeLargeThread(server.database, size);
    const { run_id } = await client.runs.create(thread_id, 'chat', { input: { messages: [] } });
    await client.runs.join(thread_id, run_id);
    await server.database.script(
      `update threads set ttl_strategy = 'delete', ttl_minutes = 1, ttl_since = 'epoch', state_updated_at = 'epoch' where thread_id = '${thread_id}'`,
    );
    await server.database.transact(async (tx) => {
      await tx.query({ name: 'hold_run', text: 'select 1 from runs where run_id = $1 for update' }, [run_id]);
      expect(await storage.expiry.deleteThread(thread_id)).toBe(true);
    });
    await expect(client.threads.get(thread_id)).rejects.toMatchObject({ status: 404 });
    while (await storage.threads.sweep(thread_id, 5_000));
    expect(await left(thread_id)).toEqual({});
    expect(Math.max(...(await checkpointDeletions()), ...(await writeDeletions()))).toBeLessThanOrEqual(
      5_000,
    );
  });

  it('is not copied above the limit, and the attempt leaves nothing behind', async () => {
    const writes = Math.ceil(copiedRowsMax / size.checkpoints);
    const thread_id = await makeLargeThread(server.database, { ...size, writes, values: false });
    const before = await client.threads.count();
    await expect(client.threads.copy(thread_id)).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining(`more than ${copiedRowsMax} checkpoints and writes`) as string,
    });
    expect(await client.threads.count()).toBe(before);
  });
});

describe('a deleted thread', () => {
  it('is not found at once, and its id is reserved until all of its rows are deleted', async () => {
    const thread_id = await makeLargeThread(server.database, size);
    expect(await storage.threads.delete(thread_id, everyRow)).toBe(true);
    expect(await left(thread_id)).toMatchObject({ deleted_threads: 1 });
    await expect(client.threads.get(thread_id)).rejects.toMatchObject({ status: 404 });
    await expect(client.threads.getHistory(thread_id)).rejects.toMatchObject({ status: 404 });
    await expect(client.threads.create({ threadId: thread_id })).rejects.toMatchObject({ status: 409 });
    const body = { assistant_id: 'chat', input: { messages: [] }, if_not_exists: 'create' };
    expect((await server.call('POST', `/threads/${thread_id}/runs`, body)).status).toBe(404);
    while (await storage.threads.sweep(thread_id, 5_000));
    expect(await left(thread_id)).toEqual({});
    await client.threads.create({ threadId: thread_id });
    expect(await client.threads.getHistory(thread_id)).toEqual([]);
  });

  it('is not found while its runs are still to be deleted', async () => {
    const thread_id = await makeLargeThread(server.database, size);
    const { run_id } = await client.runs.create(thread_id, 'chat', { input: { messages: [] } });
    await client.runs.join(thread_id, run_id);
    await server.database.script(`insert into webhook_deliveries (run_id, thread_id, url, status, run)
      values ('${run_id}', '${thread_id}', 'http://127.0.0.1/', 'delivered', '{}')`);
    expect(await storage.threads.delete(thread_id, everyRow)).toBe(true);
    expect(await left(thread_id)).toMatchObject({ runs: 1 });
    const answersOf = async (thread: string, run: string) => {
      const runs = `/threads/${thread}/runs`;
      const requests: [method: string, path: string, body?: object][] = [
        ['GET', runs],
        ['GET', `${runs}/${run}`],
        ['DELETE', `${runs}/${run}`],
        ['POST', `${runs}/${run}/cancel`],
        ['GET', `${runs}/${run}/join`],
        ['GET', `${runs}/${run}/stream`],
        ['GET', `${runs}/${run}/webhooks`],
        ['POST', '/runs/cancel', { thread_id: thread, run_ids: [run] }],
        ['POST', runs, { assistant_id: 'chat', input: { messages: [] } }],
        ['GET', `/threads/${thread}/state`],
        ['GET', `/threads/${thread}/state/value`],
        ['POST', `/threads/${thread}/state`, { values: { messages: [] } }],
        ['GET', `/threads/${thread}/history`],
        ['GET', `/threads/${thread}/stream`],
        ['PATCH', `/threads/${thread}`, { metadata: {} }],
        ['POST', `/threads/${thread}/copy`],
        ['POST', '/threads/prune', { thread_ids: [thread], strategy: 'keep_latest' }],
        ['DELETE', `/threads/${thread}`],
      ];
      return Promise.all(
        requests.map(async ([method, path, body]) => {
          const { status, body: answer } = await server.call(method, path, body);
          const text = JSON.stringify(answer)
            .replaceAll(thread, '<thread>')
            .replaceAll(run, '<run>')
            .replace(/"request_id":"[^"]*"/, '');
          return [method, path.replace(thread, '<thread>').replace(run, '<run>'), status, text];
        }),
      );
    };
    expect(await answersOf(thread_id, run_id)).toEqual(await answersOf(randomUUID(), randomUUID()));
    expect(await left(thread_id)).toMatchObject({ runs: 1 });
  });

  it('that a crash has left partly deleted is removed by the periodic task', async () => {
    const thread_id = await makeLargeThread(server.database, size);
    await storage.threads.delete(thread_id, everyRow);
    await new ThreadDeletion(storage).task().work(new AbortController().signal);
    expect(await left(thread_id)).toEqual({});
  });

  it('is not created again by a request that has waited for the deletion', async () => {
    const thread_id = await makeLargeThread(server.database, size);
    let creating: ReturnType<typeof create> | undefined;
    await server.database.transact(async (tx) => {
      await createStorage(tx).threads.delete(thread_id, everyRow);
      creating = create(thread_id);
      await untilOneWaits(server.database);
    });
    expect(await creating).toBeUndefined();
    while (await storage.threads.sweep(thread_id, 5_000));
    expect(await left(thread_id)).toEqual({});
  });

  it('leaves its values to its copies, and the last copy deletes them', async () => {
    const thread_id = await makeLargeThread(server.database, { checkpoints: 50, writes: 2 });
    const copy = (await client.threads.copy(thread_id)).thread_id;
    await client.threads.delete(thread_id);
    expect(await left(thread_id)).toEqual({ blobs: 150 });
    expect((await client.threads.getHistory(copy, { limit: 100 })).length).toBe(50);
    await client.threads.delete(copy);
    expect(await left(thread_id)).toEqual({});
    expect(await left(copy)).toEqual({});
  });

  it('with values that are being deleted is not created again in their place', async () => {
    const thread_id = await makeLargeThread(server.database, { checkpoints: 50, writes: 2 });
    const copy = (await client.threads.copy(thread_id)).thread_id;
    await client.threads.delete(thread_id);
    await server.database.query({ name: 'delete_only', text: 'select delete_thread($1, p_count => 10)' }, [
      copy,
    ]);
    expect(await create(thread_id)).toBeUndefined();
    while (await storage.threads.sweep(copy, 100));
    expect(await create(thread_id)).toBeDefined();
    expect(await left(thread_id)).toEqual({ threads: 1 });
  });
});

describe('an assistant that is deleted with its threads', () => {
  const newAssistant = async () =>
    (await client.assistants.create({ graph_id: 'chat', name: 'of this test' })).assistant_id;
  const threadsOf = async (assistant_id: string): Promise<number> =>
    client.threads.count({ metadata: { assistant_id } });

  it('is deleted after its threads, and can be deleted again after an interruption', async () => {
    const assistant_id = await newAssistant();
    const made = await Promise.all(
      Array.from({ length: 8 }, () => client.threads.create({ metadata: { assistant_id } })),
    );
    await server.database.script(`
      create function refuse_deletion() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$;
      create trigger refuse_deletion before delete on threads for each row
        when (old.thread_id = '${made[0]?.thread_id}') execute function refuse_deletion();`);
    await expect(client.assistants.delete(assistant_id, { deleteThreads: true })).rejects.toMatchObject({
      status: 500,
    });
    expect(await client.assistants.get(assistant_id)).toMatchObject({ assistant_id });
    await server.database.script('drop trigger refuse_deletion on threads');
    await client.assistants.delete(assistant_id, { deleteThreads: true });
    expect(await threadsOf(assistant_id)).toBe(0);
    await expect(client.assistants.get(assistant_id)).rejects.toMatchObject({ status: 404 });
  });

  it('deletes the threads in separate transactions', async () => {
    const threadDeletions = await countDeletions(server.database, 'threads');
    const assistant_id = await newAssistant();
    for (let n = 0; n < 30; n++) await client.threads.create({ metadata: { assistant_id } });
    await client.assistants.delete(assistant_id, { deleteThreads: true });
    expect(await threadDeletions()).toEqual(Array.from({ length: 30 }, () => 1));
  });

  it('keeps all threads while one of its runs is in flight', async () => {
    const assistant_id = await newAssistant();
    const { thread_id } = await client.threads.create({ metadata: { assistant_id } });
    const other = await client.threads.create();
    await client.runs.create(other.thread_id, assistant_id, {
      input: { messages: [] },
      after_seconds: 3_600,
    });
    await expect(client.assistants.delete(assistant_id, { deleteThreads: true })).rejects.toMatchObject({
      status: 409,
    });
    expect(await client.threads.get(thread_id)).toMatchObject({ thread_id });
  });
});
