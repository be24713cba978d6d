// Stock tracers: traceable functions, LangChain callbacks of a graph, attachments, and every transport.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { deflateSync, gzipSync } from 'node:zlib';
import { HumanMessage } from '@langchain/core/messages';
import { LangChainTracer } from '@langchain/core/tracers/tracer_langchain';
import type { Project } from '@svc/contract';
import { Client, type Run, RunTree } from 'langsmith';
import { traceable } from 'langsmith/traceable';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { agent } from '../../../../examples/agent/agent.ts';
import { fixture } from '../fixture.ts';
import { startPlatform } from './platform-server.ts';
import { clientCalls, type Ids, otherMethods, resourceCalls } from './stock-reads.ts';

const platform = fixture(() => startPlatform());

const newClient = (): Client =>
  new Client({ apiUrl: platform.apiUrl, apiKey: platform.key, autoBatchTracing: true });

const readTrace = async (trace: string): Promise<Run[]> => {
  const { body } = await platform.call('POST', '/runs/query', { json: { trace, limit: 100 } });
  return (body as { runs: Run[] }).runs.toReversed();
};

describe('LangChain callbacks', () => {
  it('trace every step of an agent as the tracer saw it', async () => {
    const client = newClient();
    const tracer = new LangChainTracer({ client, projectName: 'agents' });
    const sent = new Map<string, Record<string, unknown>>();
    const note = (run: object & { id?: string }): void => {
      const known = Object.entries(run).filter(([, value]) => value !== undefined);
      // The tracer continues to change these objects.
      const copy = JSON.parse(JSON.stringify(Object.fromEntries(known))) as Record<string, unknown>;
      sent.set(run.id ?? '', { ...sent.get(run.id ?? ''), ...copy });
    };
    const create = client.createRun.bind(client);
    const update = client.updateRun.bind(client);
    client.createRun = (run, options) => (note(run), create(run, options));
    client.updateRun = (id, run, options) => (note({ ...run, id }), update(id, run, options));
    const run_id = randomUUID();
    await agent.invoke(
      { messages: [new HumanMessage('what is 6 times 7?')] },
      { callbacks: [tracer], runId: run_id, metadata: { thread_id: 'conversation-7' } },
    );
    await client.awaitPendingTraceBatches();
    const runs = await readTrace(run_id);
    expect(sent.size).toBeGreaterThan(4);
    expect(runs.map((run) => run.id).toSorted()).toEqual([...sent.keys()].toSorted());
    for (const run of runs) {
      const { name, run_type, inputs, outputs, parent_run_id = null, dotted_order } = sent.get(run.id) ?? {};
      expect(run).toMatchObject({ name, run_type, inputs, outputs, parent_run_id, dotted_order });
      expect(run).toMatchObject({ status: 'success', trace_id: run_id, thread_id: 'conversation-7' });
    }
    expect(runs[0]?.id).toBe(run_id);
    expect(runs.map((run) => run.run_type)).toContain('llm');
  });
});

describe('traceable functions', () => {
  it('are stored with their errors and their callers', async () => {
    const client = newClient();
    let trace = '';
    const inner = traceable(() => Promise.reject(new Error('inner broke')), {
      name: 'inner',
      client,
      tracingEnabled: true,
    });
    const outer = traceable(
      async (question: string) => {
        await inner().catch(() => undefined);
        return { answer: question.length };
      },
      {
        name: 'outer',
        client,
        tracingEnabled: true,
        tags: ['t'],
        on_end: (run: RunTree) => (trace = run.trace_id),
      },
    );
    await outer('why?');
    await client.awaitPendingTraceBatches();
    const [first, second] = await readTrace(trace);
    expect(first).toMatchObject({ name: 'outer', status: 'success', outputs: { answer: 4 }, tags: ['t'] });
    expect(second).toMatchObject({ name: 'inner', status: 'error', parent_run_id: first?.id });
    expect(second?.error).toContain('inner broke');
  });
});

describe('attachments', () => {
  it('read back byte for byte', async () => {
    const client = newClient();
    const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256);
    const run = new RunTree({
      name: 'with a file',
      inputs: {},
      client,
      attachments: { picture: ['image/png', bytes], empty: ['text/plain', new Uint8Array()] },
    });
    await run.end({});
    await run.postRun();
    await client.awaitPendingTraceBatches();
    const { body } = await platform.call('GET', `/runs/${run.id}/attachments/picture`);
    expect(body).toMatchObject({ name: 'picture', content_type: 'image/png' });
    expect(Buffer.from((body as { content: string }).content, 'base64').equals(bytes)).toBe(true);
    expect((await platform.call('GET', `/runs/${run.id}/attachments/empty`)).body).toMatchObject({
      content: '',
    });
    expect((await platform.call('GET', `/runs/${run.id}/attachments/none`)).status).toBe(404);
  });
});

describe('a compressed body', () => {
  const body = (id: string): Buffer =>
    Buffer.from(
      `--b\r\nContent-Disposition: form-data; name="post.${id}"\r\n\r\n{"id":"${id}","name":"packed","start_time":"2026-11-20T00:00:00Z"}\r\n--b--\r\n`,
    );

  it.each(['gzip', 'deflate', 'zlib', 'zstd'])('in %s is accepted', async (coding) => {
    const id = randomUUID();
    const packed = { gzip: gzipSync, zstd: rawZstd }[coding] ?? deflateSync;
    const headers = { 'content-type': 'multipart/form-data; boundary=b', 'content-encoding': coding };
    expect(await platform.call('POST', '/runs/multipart', { body: packed(body(id)), headers })).toMatchObject(
      {
        status: 202,
      },
    );
    expect((await platform.call('GET', `/runs/${id}`)).body).toMatchObject({ name: 'packed' });
  });
});

/** One zstd frame with one uncompressed block. */
const rawZstd = (content: Buffer): Buffer => {
  const head = Buffer.alloc(3);
  head.writeUIntLE(content.length * 8 + 1, 0, 3);
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 10 << 3]), head, content]);
};

// The fields that models of stock clients require, and the forms in which stock clients send requests. The Python client validates every
// response against its models: a missing field fails the call.

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

// Every read of the stock client against a server: it works, or it answers 501 on purpose. docs/stock-tracers.md lists the result.

const resources = [
  'runs',
  'traces',
  'threads',
  'sessions',
  'public',
  'datasets',
  'annotationQueues',
  'evaluators',
  'agents',
  'sandboxes',
] as const;

const client = fixture(
  () =>
    new Client({
      apiUrl: platform.apiUrl,
      apiKey: platform.key,
      fetchImplementation: recordingFetch,
      callerOptions: { maxRetries: 0 },
    }),
);

let ids: Ids;

/** Requests of the current call, with their status. */
let sent: { request: string; status: number; message: string }[] = [];

const pathOf = (url: string): string =>
  new URL(url).pathname
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '{id}')
    .replace('/talk/', '/{id}/');

const recordingFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const url = input instanceof Request ? input.url : String(input);
  const request = `${(init?.method ?? 'get').toUpperCase()} ${pathOf(url)}`;
  const message =
    response.status === 501 ? ((await response.clone().json()) as { message: string }).message : '';
  if (!request.endsWith('/info')) sent.push({ request, status: response.status, message });
  return response;
};

beforeAll(async () => {
  const run = randomUUID();
  const json = {
    id: run,
    name: 'x',
    start_time: Date.now(),
    session_name: 'read',
    extra: { metadata: { thread_id: 'talk' } },
  };
  const address = {
    id: randomUUID(),
    name: 'y',
    start_time: Date.now(),
    address: 'lrn:agents/support/environments/local',
  };
  await platform.call('POST', '/runs/batch', { json: { post: [json, address] } });
  const { body: projects } = await platform.call('GET', '/sessions?name=read');
  const { body: feedback } = await platform.call('POST', '/feedback', {
    json: { run_id: run, key: 'kind', score: 1 },
  });
  ids = {
    run,
    project: (projects as Project[])[0]?.id ?? '',
    thread: 'talk',
    feedback: (feedback as { id: string }).id,
    none: randomUUID(),
  };
});

/** Waits for the result, and reads lists to their end. */
const drain = async (result: unknown): Promise<void> => {
  const value =
    typeof result === 'object' && result !== null && Symbol.asyncIterator in result ? result : await result;
  if (typeof value !== 'object' || value === null || !(Symbol.asyncIterator in value)) return;
  const items = value as AsyncIterable<unknown>;
  for await (const _ of items);
};

interface Outcome {
  method: string;
  request: string;
  /** `works`, 501, or another status. */
  result: 'works' | number;
  /** Of a refusal. */
  message: string;
  error: unknown;
}

const outcomeOf = async (method: string, call: () => unknown): Promise<Outcome> => {
  sent = [];
  const error = await drain((async () => call())().then((result) => drain(result))).then(
    () => undefined,
    (error: unknown) => error,
  );
  const failed = sent.find(({ status }) => status >= 300);
  const request = (failed ?? sent.at(-1))?.request ?? 'no request';
  return { method, request, result: failed?.status ?? 'works', message: failed?.message ?? '', error };
};

interface Resource {
  [name: string]: unknown;
}

const isResource = (value: unknown): value is Resource =>
  typeof value === 'object' && value !== null && '_client' in value;

/** Methods of a resource and of those within it, with their names. */
const methodsOf = (resource: Resource, path: string): [string, (...args: unknown[]) => unknown][] => {
  const names = [...Object.getOwnPropertyNames(Object.getPrototypeOf(resource)), ...Object.keys(resource)];
  return names
    .filter((name) => !name.startsWith('_') && name !== 'constructor')
    .flatMap((name) => {
      const value = resource[name];
      if (isResource(value)) return methodsOf(value, `${path}.${name}`);
      if (typeof value !== 'function') return [];
      return [
        [`${path}.${name}`, (...args) => (value as (...args: unknown[]) => unknown).apply(resource, args)],
      ];
    });
};

const allOutcomes = async (): Promise<Outcome[]> => {
  const outcomes: Outcome[] = [];
  for (const [name, call] of Object.entries(clientCalls))
    outcomes.push(await outcomeOf(name, () => call(client, ids)));
  client['openAPIClient'].maxRetries = 0;
  const any = {
    project_id: ids.project,
    queue_id: ids.none,
    share_token: ids.none,
    dataset_id: ids.none,
    box_id: ids.none,
  };
  for (const name of resources)
    for (const [method, call] of methodsOf(client[name] as unknown as Resource, name)) {
      const known = resourceCalls[method];
      outcomes.push(await outcomeOf(method, () => (known ? known(client, ids) : call(ids.none, any))));
    }
  return outcomes;
};

/** Rows of a table: each key with its methods. */
const tableOf = (entries: readonly (readonly [key: string, method: string])[]): string => {
  const methods = new Map<string, Set<string>>();
  for (const [key, method] of entries)
    methods.set(key, (methods.get(key) ?? new Set<string>()).add(`\`${method}\``));
  return [...methods].map(([key, names]) => `| ${key} | ${[...names].join(' ')} |\n`).join('');
};

const worksTable = (outcomes: readonly Outcome[]): string =>
  tableOf(
    outcomes
      .filter(({ result }) => result === 'works')
      .map(({ method, request }) => [`\`${request}\``, method]),
  );

/** Methods of a resource, none of which works, are one entry: `sandboxes.*`. */
const refusedTable = (outcomes: readonly Outcome[]): string => {
  const shown = (method: string): string => {
    const parts = method.split('.');
    const resources = parts.slice(1).map((_, index) => `${parts.slice(0, index + 1).join('.')}.`);
    const whole = resources.find((resource) =>
      outcomes.every((other) => !other.method.startsWith(resource) || other.result === 501),
    );
    return whole === undefined ? method : `${whole}*`;
  };
  return tableOf(
    outcomes
      .filter(({ result }) => result === 501)
      .map(({ method, message }) => [
        message.replace('This server does not have ', '').replace(/\.$/, ''),
        shown(method),
      ]),
  );
};

describe('the stock client', () => {
  it('has no method that is missing here', () => {
    const descriptors = Object.entries(Object.getOwnPropertyDescriptors(Client.prototype));
    const methods = descriptors
      .filter(
        ([name, { value }]) => typeof value === 'function' && !name.startsWith('_') && name !== 'constructor',
      )
      .map(([name]) => name);
    expect([...Object.keys(clientCalls), ...otherMethods].toSorted()).toEqual(methods.toSorted());
  });

  it('gets an answer or 501 from every method, as docs/stock-tracers.md says', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const outcomes = await allOutcomes();
    const others = outcomes.filter(
      ({ result, error }) => result !== 501 && (result !== 'works' || error !== undefined),
    );
    expect(others).toEqual([]);
    const warnings = warn.mock.calls.map(([text]) => String(text));
    warn.mockRestore();
    expect(warnings.filter((text) => text.includes('Backend version'))).toEqual([]);
    const page = readFileSync(new URL('../../../../docs/stock-tracers.md', import.meta.url), 'utf8');
    expect(page).toContain(`| request | methods |\n|---|---|\n${worksTable(outcomes)}\n`);
    expect(page).toContain(`| feature | methods |\n|---|---|\n${refusedTable(outcomes)}\n`);
  });
});

describe('a path that the server does not have on purpose', () => {
  it('answers 501 with every method, and other unknown paths 404', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      expect(await platform.call(method, `/datasets/${randomUUID()}`)).toMatchObject({
        status: 501,
        body: {
          code: 'not_supported',
          message: 'This server does not have datasets, examples and experiments.',
        },
      });
    }
    expect((await platform.call('GET', '/runs/rules')).status).toBe(501);
    expect((await platform.call('PUT', `/runs/${randomUUID()}/share`)).status).toBe(501);
    expect((await platform.call('GET', '/datasetsx')).status).toBe(404);
  });
});
