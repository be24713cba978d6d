// Jobs on many runs and threads: their preview, their rows, and what has changed meanwhile.
import { randomUUID } from 'node:crypto';
import { createClient, type Client, type Job } from '@svc/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { fixture } from '../fixture.ts';
import { startTestServer } from '../server.ts';

// Runs that wait for their time stay pending.
const server = fixture(() => startTestServer({ executors: 'none' }));
let client: Client;
beforeAll(() => {
  client = createClient({ apiUrl: server.url });
});

const batch = (): Record<string, string> => ({ batch: randomUUID() });

const thread = async (metadata: Record<string, string>): Promise<string> =>
  (await client.threads.create({ metadata })).thread_id;

/** Runs that wait for an executor, the oldest first. */
const pending = async (
  count: number,
  metadata: Record<string, string>,
  thread_id?: string,
): Promise<string[]> => {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const on = thread_id ?? (await thread(metadata));
    ids.push((await client.runs.create(on, 'chat', { input: {}, metadata, after_seconds: 3_600 })).run_id);
  }
  return ids;
};

const fail = (metadata: Record<string, string>): Promise<void> =>
  server.database.script(
    `update runs set status = 'error', updated_at = now() where metadata @> '${JSON.stringify(metadata)}'`,
  );

const untilEnded = async (job_id: string): Promise<Job> => {
  let job = await client.jobs.get(job_id);
  await eventually(async () => {
    job = await client.jobs.get(job_id);
    expect(job.ended_at).not.toBeNull();
  });
  return job;
};

const start = async (body: Parameters<Client['jobs']['create']>[0]): Promise<Job> => {
  const { job_id } = await client.jobs.create(body);
  await client.jobs.start(job_id);
  return untilEnded(job_id);
};

const statusesOf = async (metadata: Record<string, string>) =>
  (await client.runs.search({ metadata, limit: 100 })).map(({ status }) => status);

describe('a job', () => {
  it('is a preview until it is started, and then cancels the runs of the preview only', async () => {
    const metadata = batch();
    const ids = await pending(12, metadata);
    const preview = await client.jobs.create({ kind: 'cancel_runs', filter: { metadata } });
    expect(preview).toMatchObject({ state: 'preview', total: 12, done: 0, filter: { metadata } });
    expect(preview.rows.map(({ run_id }) => run_id)).toEqual(ids.toReversed().slice(0, 10));
    expect(preview.rows[0]).toMatchObject({ position: 1, status: 'pending', result: null, reason: null });
    await pending(1, metadata);
    expect(await client.jobs.start(preview.job_id)).toMatchObject({ state: 'running' });
    const job = await untilEnded(preview.job_id);
    expect(job).toMatchObject({ state: 'completed', total: 12, done: 12, failed: 0, skipped: 0 });
    expect((await statusesOf(metadata)).toSorted()).toEqual([
      ...Array.from({ length: 12 }, () => 'interrupted'),
      'pending',
    ]);
  });

  it('skips rows that have ended or are gone, with the reason', async () => {
    const metadata = batch();
    const threads = await Promise.all([thread(metadata), thread(metadata), thread(metadata)]);
    for (const id of threads) await pending(1, metadata, id);
    const { job_id } = await client.jobs.create({ kind: 'cancel_runs', filter: { metadata } });
    await client.threads.delete(threads[0]);
    const [ended] = await client.runs.list(threads[1]);
    await client.runs.cancel(threads[1], ended?.run_id ?? '');
    await client.jobs.start(job_id);
    expect(await untilEnded(job_id)).toMatchObject({ state: 'completed', done: 1, skipped: 2 });
    const { rows } = await client.jobs.rows(job_id, { result: ['skipped'] });
    expect(rows.map(({ thread_id, reason }) => [thread_id, reason])).toEqual([
      [threads[1], 'The run had already ended'],
      [threads[0], 'The run was not found'],
    ]);
  });

  it('retries failed runs with their input, the oldest of a thread first', async () => {
    const metadata = batch();
    const on = await thread(metadata);
    for (const n of [1, 2])
      await client.runs.create(on, 'chat', {
        input: { n },
        config: { tags: ['x'] },
        metadata,
        after_seconds: 3_600,
      });
    await fail(metadata);
    await pending(1, metadata, on);
    const job = await start({ kind: 'retry_runs', filter: { metadata } });
    expect(job).toMatchObject({ state: 'completed', total: 2, done: 2 });
    const [second, first] = await client.runs.list(on);
    expect([first, second].map((run) => run?.kwargs)).toMatchObject([
      { input: { n: 1 }, config: { tags: ['x'] } },
      { input: { n: 2 } },
    ]);
  });

  it('deletes threads, except those that have a new run', async () => {
    const metadata = batch();
    const threads = await Promise.all([thread(metadata), thread(metadata), thread(metadata)]);
    const { job_id, total } = await client.jobs.create({ kind: 'delete_threads', filter: { metadata } });
    expect(total).toBe(3);
    await pending(1, metadata, threads[1]);
    await client.jobs.start(job_id);
    expect(await untilEnded(job_id)).toMatchObject({ done: 2, skipped: 1 });
    const { rows } = await client.jobs.rows(job_id, { result: ['skipped'] });
    expect(rows).toMatchObject([{ thread_id: threads[1], run_id: null, reason: 'The thread has a new run' }]);
    expect(await client.threads.count({ metadata })).toBe(1);
  });

  it('prunes threads by their ids', async () => {
    const ids = [await thread({}), await thread({})];
    await pending(1, {}, ids[1]);
    const job = await start({ kind: 'prune_threads', ids: [...ids, randomUUID()] });
    expect(job).toMatchObject({ total: 2, done: 1, skipped: 1, filter: null });
  });

  it('without rows ends at once', async () => {
    expect(
      await start({ kind: 'retry_runs', filter: { metadata: batch(), status: 'success' } }),
    ).toMatchObject({
      state: 'completed',
      total: 0,
    });
  });
});

describe('a job in progress', () => {
  /** A job that no process works on, because its user is not known here. */
  const held = async (kind: 'cancel_runs' | 'retry_runs', metadata = batch()): Promise<string> => {
    const { job_id } = await client.jobs.create({ kind, filter: { metadata } });
    await server.database.script(
      `update jobs set state = 'running', sealed_user = 'x', turn_at = now() where job_id = '${job_id}'`,
    );
    return job_id;
  };
  const release = (job_id: string): Promise<void> =>
    server.database.script(
      `update jobs set sealed_user = null where job_id = '${job_id}'; update periodic_tasks set next_at = now()`,
    );

  it('is the only one of its kind', async () => {
    const filter = { metadata: batch() };
    const early = await client.jobs.create({ kind: 'retry_runs', filter });
    const live = await held('retry_runs');
    const conflict = { status: 409, message: expect.stringContaining(live) as string };
    await expect(client.jobs.create({ kind: 'retry_runs', filter })).rejects.toMatchObject(conflict);
    await expect(client.jobs.start(early.job_id)).rejects.toMatchObject(conflict);
    expect(await client.jobs.start(live)).toMatchObject({ state: 'running' });
    expect((await client.jobs.create({ kind: 'cancel_runs', filter })).state).toBe('preview');
    await release(live);
    await untilEnded(live);
    await client.jobs.start(early.job_id);
    await untilEnded(early.job_id);
  });

  it('is cancelled: rows without a result stay as they are', async () => {
    const metadata = batch();
    await pending(3, metadata);
    const job_id = await held('cancel_runs', metadata);
    expect(await client.jobs.cancel(job_id)).toMatchObject({ state: 'cancelling' });
    await release(job_id);
    expect(await untilEnded(job_id)).toMatchObject({ state: 'cancelled', done: 0 });
    expect(await client.jobs.cancel(job_id)).toMatchObject({ state: 'cancelled' });
    await expect(client.jobs.start(job_id)).rejects.toMatchObject({ status: 409 });
    expect(await statusesOf(metadata)).toEqual(['pending', 'pending', 'pending']);
  });
});

describe('the list of jobs', () => {
  it('has the newest first, without previews that were cancelled or have expired', async () => {
    const body = { kind: 'prune_threads', filter: { metadata: batch() } } as const;
    const [first, second, third] = [
      await client.jobs.create(body),
      await client.jobs.create(body),
      await client.jobs.create(body),
    ];
    await client.jobs.cancel(second.job_id);
    const listed = await client.jobs.list({ limit: 2 });
    expect(listed.map(({ job_id }) => job_id)).toEqual([third.job_id, first.job_id]);
    const page = await server.call('GET', '/jobs?limit=1&offset=1');
    expect(page.body).toMatchObject([{ job_id: first.job_id }]);
    await server.database.script(`update jobs set expires_at = now() where job_id = '${first.job_id}'`);
    await expect(client.jobs.get(first.job_id)).rejects.toMatchObject({ status: 404 });
    await expect(client.jobs.start(first.job_id)).rejects.toMatchObject({ status: 404 });
  });

  it('keeps the newest ten previews', async () => {
    const body = { kind: 'prune_threads', filter: { metadata: batch() } } as const;
    const ids: string[] = [];
    for (let n = 0; n < 11; n++) ids.push((await client.jobs.create(body)).job_id);
    await expect(client.jobs.get(ids[0] ?? '')).rejects.toMatchObject({ status: 404 });
    expect((await client.jobs.get(ids[1] ?? '')).state).toBe('preview');
  });

  it('has the rows of a job in pages, also those with one result', async () => {
    const metadata = batch();
    const ids = await pending(5, metadata);
    const job = await start({ kind: 'cancel_runs', ids });
    const seen: (string | null)[] = [];
    let after: number | undefined;
    do {
      const page = await client.jobs.rows(job.job_id, { result: ['done'], limit: 2, after });
      seen.push(...page.rows.map(({ run_id }) => run_id));
      after = page.next;
    } while (after !== undefined);
    expect(seen).toEqual(ids.toReversed());
    expect((await client.jobs.rows(job.job_id, { result: ['failed'] })).rows).toEqual([]);
  });
});

it.each([
  [{ kind: 'cancel_runs' }, 'needs either filter or ids'],
  [{ kind: 'cancel_runs', filter: {}, ids: [randomUUID()] }, 'needs either filter or ids'],
  [{ kind: 'cancel_runs', filter: { stauts: 'pending' } }, 'stauts'],
  [{ kind: 'delete_threads', filter: { graph_id: 'chat' } }, 'graph_id'],
  [{ kind: 'retry_runs', filter: { created_after: 'monday' } }, 'created_after'],
  [{ kind: 'retry_runs', filter: {}, arguments: { action: 'rollback' } }, 'action'],
  [{ kind: 'delete_assistants', filter: {} }, 'kind'],
])('%j is refused', async (body, text) => {
  const answer = await server.call('POST', '/jobs', body);
  expect(answer.status).toBe(422);
  expect(JSON.stringify(answer.body)).toContain(text);
});
