// The fields that models of stock clients require, and the forms in which stock clients send requests. The Python client validates every
// response against its models: a missing field fails the call.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPlatform, type PlatformServer } from './platform-server.ts';

let platform: PlatformServer;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform[Symbol.asyncDispose]());

type Fields = Record<string, unknown>;

const ok = async (method: string, path: string, json?: unknown): Promise<unknown> => {
  const { status, body } = await platform.call(method, path, { json });
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body;
};

describe('a project', () => {
  it('has reference_dataset_id on every route', async () => {
    const made = (await ok('POST', '/sessions?upsert=True', { name: 'models' })) as Fields;
    const { id } = made;
    const again = await ok('POST', '/sessions?upsert=True', { name: 'models' });
    const [listed] = (await ok('GET', '/sessions?name=models&include_stats=False')) as Fields[];
    const got = await ok('GET', `/sessions/${String(id)}`);
    const changed = await ok('PATCH', `/sessions/${String(id)}`, { description: 'd' });
    const typed = (await ok('GET', '/api/v2/sessions?name=models')) as { items: Fields[] };
    for (const project of [made, again, listed, got, changed, typed.items[0]])
      expect(project).toMatchObject({ id, reference_dataset_id: null });
  });
});

/** Stores a run in a new project. */
const stored = async (more: Fields = {}): Promise<{ id: string; session_id: string }> => {
  const id = randomUUID();
  const json = { id, name: 'n', run_type: 'llm', start_time: Date.now(), session_name: id, ...more };
  await ok('POST', '/runs', json);
  const { session_id } = (await ok('GET', `/runs/${id}`)) as { session_id: string };
  return { id, session_id };
};

const query = async (json: Fields): Promise<Fields[]> =>
  ((await ok('POST', '/runs/query', json)) as { runs: Fields[] }).runs;

describe('a query of runs', () => {
  it('accepts one id where it accepts a list, and the project as session_id', async () => {
    const { id, session_id } = await stored({ reference_example_id: randomUUID() });
    const { reference_example_id } = (await ok('GET', `/runs/${id}`)) as Fields;
    for (const condition of [
      { session: session_id },
      { session_id },
      { session_id: [session_id] },
      { id },
      { session: session_id, reference_example: reference_example_id },
    ])
      expect((await query(condition)).map((run) => run['id'])).toEqual([id]);
    const elsewhere = randomUUID();
    expect(await query({ session: elsewhere })).toEqual([]);
    expect(await query({ session_id: elsewhere })).toEqual([]);
    expect(await ok('POST', '/runs/stats', { session_id: elsewhere })).toMatchObject({ run_count: 0 });
    expect(await ok('POST', '/runs/stats', { session_id })).toMatchObject({ run_count: 1 });
    expect(await ok('POST', '/runs/stats/series', { session_id: elsewhere })).toMatchObject({
      points: expect.any(Array) as unknown[],
    });
    const { items } = (await ok('POST', '/api/v2/runs/query', { project_ids: session_id })) as {
      items: Fields[];
    };
    expect(items).toEqual([{ id }]);
  });

  it.each([
    [{ session: 'x' }, /session: must be a UUID or a list of UUIDs/],
    [{ session_id: randomUUID(), session: randomUUID() }, /session_id and session are the same condition/],
  ])('is refused with %j', async (condition, message) => {
    const { status, body } = await platform.call('POST', '/runs/query', { json: condition });
    expect(status).toBe(422);
    expect((body as { message: string }).message).toMatch(message);
  });
});

describe('a row of a run', () => {
  /** What the stock API and its Python client require, whatever is selected. */
  const required = [
    'id',
    'name',
    'run_type',
    'start_time',
    'trace_id',
    'dotted_order',
    'status',
    'session_id',
    'app_path',
  ];

  it('has the fields that clients require, also when others are selected', async () => {
    const { id, session_id } = await stored({ inputs: { q: 1 } });
    const [byProject] = await query({ session: session_id, select: ['inputs'] });
    const [byId] = await query({ id: [id], select: ['inputs'] });
    for (const row of [byProject, byId]) {
      expect(Object.keys(row ?? {}).toSorted()).toEqual([...required, 'inputs'].toSorted());
      expect(row).toMatchObject({
        id,
        name: 'n',
        run_type: 'llm',
        trace_id: id,
        session_id,
        status: 'pending',
      });
    }
  });

  it('has a start while only a patch has arrived: its end, or its arrival', async () => {
    const [ended, open] = [randomUUID(), randomUUID()];
    const end_time = '2026-11-21T08:00:00.000000Z';
    await ok('PATCH', `/runs/${ended}`, { end_time });
    await ok('PATCH', `/runs/${open}`, { outputs: {} });
    expect(await ok('GET', `/runs/${ended}`)).toMatchObject({ start_time: end_time });
    const { start_time } = (await ok('GET', `/runs/${open}`)) as { start_time: string };
    expect(start_time).toMatch(/^\d{4}-\d\d-\d\dT/);
    const rows = await query({ id: [ended, open], select: ['name'] });
    expect(new Set(rows.map((row) => row['start_time']))).toEqual(new Set([end_time, start_time]));
  });
});

describe('feedback', () => {
  it('may be on a project, and on a trace', async () => {
    const { id, session_id } = await stored();
    const onProject = (await ok('POST', '/feedback', {
      run_id: null,
      session_id,
      key: 'k',
      score: 1,
    })) as Fields;
    expect(onProject).toMatchObject({ run_id: null, session_id, key: 'k', score: 1 });
    const onTrace = (await ok('POST', '/feedback', { trace_id: id, key: 'k' })) as Fields;
    expect(onTrace).toMatchObject({ run_id: id, trace_id: id, session_id });
    expect(await ok('GET', `/feedback/${String(onProject['id'])}`)).toEqual(onProject);
    expect(await ok('GET', `/feedback?session=${session_id}`)).toEqual([onTrace, onProject]);
    expect(await ok('GET', `/feedback?session=${session_id}&run=${id}`)).toEqual([onTrace]);
    expect(await ok('GET', `/feedback?session=${randomUUID()}`)).toEqual([]);
    const again = { id: onProject['id'], session_id, key: 'k', score: 0 };
    expect(await ok('POST', '/feedback', again)).toMatchObject({ run_id: null, score: 0 });
  });

  it('is refused without a run, a trace or a project, and on a project that does not exist', async () => {
    const nowhere = await platform.call('POST', '/feedback', { json: { key: 'k' } });
    expect(nowhere).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'run_id'] }] } });
    const json = { session_id: randomUUID(), key: 'k' };
    expect(await platform.call('POST', '/feedback', { json })).toMatchObject({ status: 404 });
  });
});

describe('tokens', () => {
  const usage_metadata = {
    input_tokens: 10,
    output_tokens: 5,
    total_tokens: 15,
    input_token_details: { cache_read: 4 },
    output_token_details: { reasoning: 2 },
  };

  it('are read from a PATCH with run_type null, and their details come with them', async () => {
    const { id } = await stored();
    const patch = { run_type: null, end_time: Date.now(), outputs: { usage_metadata } };
    await ok('PATCH', `/runs/${id}`, patch);
    const wanted = { prompt_tokens: 10, prompt_token_details: { cache_read: 4 } };
    expect(await query({ id, select: ['prompt_tokens'] })).toMatchObject([wanted]);
    const [row] = await query({ id, select: ['completion_tokens'] });
    expect(row).toMatchObject({ completion_tokens: 5, completion_token_details: { reasoning: 2 } });
    expect(row).not.toHaveProperty('prompt_token_details');
  });
});

describe('requests of stock clients', () => {
  it('with execution_order 1 are about roots', async () => {
    const { id, session_id } = await stored();
    await stored({ parent_run_id: id, session_name: id });
    expect((await query({ session_id, execution_order: 1 })).map((run) => run['id'])).toEqual([id]);
    const json = { session_id, execution_order: 2 };
    expect(await platform.call('POST', '/runs/query', { json })).toMatchObject({ status: 422 });
  });

  it('create a run without an id', async () => {
    const session_name = randomUUID();
    await ok('POST', '/runs', { name: 'nameless', run_type: 'chain', start_time: Date.now(), session_name });
    const [project] = (await ok('GET', `/sessions?name=${session_name}`)) as Fields[];
    expect(await query({ session_id: project?.['id'] })).toMatchObject([{ name: 'nameless' }]);
  });
});

describe('attachments', () => {
  it('are listed by name, and read by any name', async () => {
    const { id } = await stored();
    expect(await ok('GET', `/runs/${id}/attachments`)).toEqual([]);
    const part = (name: string): string =>
      `--b\r\nContent-Disposition: form-data; name="attachment.${id}.${name}"\r\nContent-Type: text/plain\r\n\r\nhello\r\n`;
    const body = `${part('plain')}${part('dir/one.txt')}--b--\r\n`;
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    expect((await platform.call('POST', '/runs/multipart', { body, headers })).status).toBe(202);
    const named = (name: string): object => ({ name, content_type: 'text/plain', bytes: 5 });
    expect(await ok('GET', `/runs/${id}/attachments`)).toEqual([named('dir/one.txt'), named('plain')]);
    const content = Buffer.from('hello').toString('base64');
    expect(await ok('GET', `/runs/${id}/attachments?name=dir%2Fone.txt`)).toEqual([
      { ...named('dir/one.txt'), content },
    ]);
    const none = `/runs/${id}/attachments?name=none`;
    expect(await platform.call('GET', none)).toMatchObject({ status: 404 });
    const unknown = `/runs/${randomUUID()}/attachments`;
    expect(await platform.call('GET', unknown)).toMatchObject({ status: 404 });
  });
});
