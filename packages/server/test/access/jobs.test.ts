// Jobs act as the user who started them: the auth handlers decide about each row.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Job, JobRow } from '@svc/sdk';
import { eventually } from '../eventually.ts';
import { fixture } from '../fixture.ts';
import type { TestServer } from '../server.ts';
import { authProjects } from './auth-projects.ts';

/** Nobody deletes or cancels what is locked, and only who has signed in again after a promotion deletes what is kept. */
const auth = `const locked = new Set();
export const auth = new Auth()
  .authenticate((request) => ({
    identity: request.headers.get('x-user') ?? 'anonymous',
    permissions: request.headers.get('x-role') === null ? [] : ['all'],
  }))
  .on('assistants', () => true)
  .on('threads:update', ({ user, value }) => {
    if (value.metadata?.locked) locked.add(value.thread_id);
    else if (locked.has(value.thread_id)) throw new HTTPException(403, { message: 'This thread is locked' });
    return { owner: user.identity };
  })
  .on('threads:delete', ({ user }) => ({ owner: user.identity, ...(user.permissions.includes('all') ? {} : { kept: 'no' }) }))
  .on('*', ({ event, value, user }) => {
    if (/:create|:create_run/.test(event)) value.metadata = { ...value.metadata, owner: user.identity };
    return { owner: user.identity };
  });`;

const projects = fixture(() => authProjects());
let server: TestServer;
beforeAll(async () => {
  server = await projects.serve(auth);
});
afterAll(() => server[Symbol.asyncDispose]());

const as = (user: string, role?: string) => async (method: string, path: string, body?: unknown) => {
  const answer = await server.call(method, path, body, {
    'x-user': user,
    ...(role === undefined ? {} : { 'x-role': role }),
  });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};

const thread = async (user: string, metadata: object = {}): Promise<string> =>
  ((await as(user)('POST', '/threads', { metadata })) as JobRow).thread_id;

const untilEnded = async (user: string, job_id: string): Promise<{ job: Job; rows: JobRow[] }> => {
  const job = await eventually(async () => {
    const found = (await as(user)('GET', `/jobs/${job_id}`)) as Job;
    expect(found.ended_at).not.toBeNull();
    return found;
  });
  return { job, rows: (await as(user)('GET', `/jobs/${job_id}/rows?limit=100`)) as JobRow[] };
};

const start = async (user: string, body: object, role?: string) => {
  const { job_id } = (await as(user)('POST', '/jobs', body)) as Job;
  await as(user, role)('POST', `/jobs/${job_id}/start`);
  return untilEnded(user, job_id);
};

it('a row that a handler refuses fails with the message of the handler, and the others are done', async () => {
  const [open, locked] = [await thread('ann'), await thread('ann')];
  const run = { assistant_id: 'probe', input: { action: 'user' }, after_seconds: 3_600 };
  for (const id of [open, locked]) await as('ann')('POST', `/threads/${id}/runs`, run);
  await as('ann')('PATCH', `/threads/${locked}`, { metadata: { locked: true } });
  const { job, rows } = await start('ann', { kind: 'cancel_runs', filter: {} });
  expect(job).toMatchObject({ state: 'completed', total: 2, done: 1, failed: 1 });
  expect(rows).toMatchObject([
    { thread_id: locked, result: 'failed', reason: 'This thread is locked' },
    { thread_id: open, result: 'done', reason: null },
  ]);
});

it('a row that the filter of a handler hides is skipped', async () => {
  const ids = [await thread('ben', { kept: 'no' }), await thread('ben', { kept: 'yes' })];
  const { rows } = await start('ben', { kind: 'delete_threads', ids });
  expect(rows.map(({ result, reason }) => [result, reason])).toEqual([
    ['done', null],
    ['skipped', 'The thread was not found'],
  ]);
});

it('the user who counts is the one of the start', async () => {
  const ids = [await thread('cleo', { kept: 'yes' })];
  const { job } = await start('cleo', { kind: 'delete_threads', ids }, 'admin');
  expect(job).toMatchObject({ done: 1 });
  const [row] = await server.database.query<{ sealed_user: string | null }>(
    { text: `select sealed_user from jobs where job_id = '${job.job_id}'` },
    [],
  );
  expect(row).toEqual({ sealed_user: null });
});

it('a retried run executes as the user', async () => {
  const id = await thread('dora');
  await as('dora')('POST', `/threads/${id}/runs/wait`, { assistant_id: 'probe', input: { action: 'user' } });
  await server.database.script(`update runs set status = 'error' where thread_id = '${id}'`);
  const { job } = await start('dora', { kind: 'retry_runs', filter: { thread_id: id } });
  expect(job).toMatchObject({ done: 1 });
  await eventually(async () => {
    const [newest, oldest] = (await as('dora')('GET', `/threads/${id}/runs`)) as { status: string }[];
    expect([newest?.status, oldest?.status]).toEqual(['success', 'error']);
  });
  const state = (await as('dora')('GET', `/threads/${id}/state`)) as { values: { answer: object } };
  expect(state.values.answer).toMatchObject({ svc_auth_user_id: 'dora' });
});

it('two users have a job of the same kind at the same time', async () => {
  const jobs: string[] = [];
  for (const user of ['eve', 'finn']) {
    const body = { kind: 'prune_threads', ids: [await thread(user)] };
    jobs.push(((await as(user)('POST', '/jobs', body)) as Job).job_id);
  }
  await as('eve')('POST', `/jobs/${jobs[0]}/start`);
  await as('finn')('POST', `/jobs/${jobs[1]}/start`);
  expect((await untilEnded('eve', jobs[0] ?? '')).job).toMatchObject({ done: 1 });
  expect((await untilEnded('finn', jobs[1] ?? '')).job).toMatchObject({ done: 1 });
});
