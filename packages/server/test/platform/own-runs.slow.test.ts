// Traces of the server's own runs: the steps of their graphs, their user, and no secrets.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { eventually } from '../eventually.ts';
import { tracePartitionStorage } from '../../src/storage/tracing/trace-partitions.ts';
import { startTestServer, type TestServer } from '../server.ts';

interface Traced {
  id: string;
  name: string;
  run_type: string;
  status: string;
  start_time: string;
  end_time: string | null;
  first_token_time: string | null;
  error: string | null;
  inputs: unknown;
  outputs: unknown;
  thread_id: string;
  dotted_order: string;
  parent_run_ids: string[];
  session_id: string;
  extra: { metadata: Record<string, unknown> };
}

const key = 'a-key-for-own-traces-0123456789-0123';
const withUsers = fileURLToPath(new URL('../access/project/svc.json', import.meta.url));

const start = (settings: object = {}, project?: string): Promise<TestServer> =>
  startTestServer({
    settings: { bootstrapApiKey: key, tracing: 'on', ...settings },
    ...(project === undefined ? {} : { project }),
  });

const platform = (server: TestServer, method: string, path: string, body?: unknown) =>
  server.call(method, `/api/v1${path}`, body, { 'x-api-key': key });

/** The runs of a trace, in the order of its tree. */
const traceOf = async (server: TestServer, trace: string): Promise<Traced[]> => {
  const { body } = await platform(server, 'POST', '/runs/query', { trace });
  return (body as { runs: Traced[] }).runs.toSorted((a, b) => (a.dotted_order < b.dotted_order ? -1 : 1));
};

/** The trace of a run, once it has ended. */
const ended = (server: TestServer, run_id: string): Promise<Traced[]> =>
  eventually(async () => {
    const runs = await traceOf(server, run_id);
    expect(runs.find(({ id }) => id === run_id)?.status).toMatch(/success|error/);
    return runs;
  });

const run = async (
  server: TestServer,
  assistant_id: string,
  body: object,
  { thread, headers = {} }: { thread?: string; headers?: Record<string, string> } = {},
) => {
  const made = thread ?? (await server.call('POST', '/threads', {}, headers)).body;
  const thread_id = typeof made === 'string' ? made : (made as { thread_id: string }).thread_id;
  const created = await server.call('POST', `/threads/${thread_id}/runs`, { assistant_id, ...body }, headers);
  const { run_id } = created.body as { run_id: string };
  await server.call('GET', `/threads/${thread_id}/runs/${run_id}/join`, undefined, headers);
  return { thread_id, run_id, assistant_id: (created.body as { assistant_id: string }).assistant_id };
};

const shape = (runs: Traced[]): string[] =>
  runs.map(
    ({ name, run_type, status, parent_run_ids }) =>
      `${'  '.repeat(parent_run_ids.length)}${name} ${run_type} ${status}`,
  );

describe('a run with tracing on', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await start({ tracingProject: 'shop' });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('has a trace with the steps of its graph and the id of the run as its root', async () => {
    const input = { messages: [{ role: 'user', content: 'hi' }] };
    const { run_id, thread_id, assistant_id } = await run(server, 'chat', { input });
    const runs = await ended(server, run_id);
    expect(shape(runs)).toEqual([
      'chat chain success',
      '  answer chain success',
      '    FakeListChatModel llm success',
    ]);
    expect(runs[0]).toMatchObject({ id: run_id, inputs: input });
    expect(JSON.stringify(runs[2]?.inputs)).toContain('"content":"hi"');
    expect(runs[2]?.outputs).toMatchObject({ generations: [[{ text: 'echo hi' }]] });
    expect(JSON.stringify(runs[0]?.outputs)).toContain('"content":"echo hi"');
    for (const one of runs) {
      expect(one.extra.metadata).toMatchObject({ run_id, thread_id, assistant_id, graph_id: 'chat' });
      expect(one.thread_id).toBe(thread_id);
    }
    const { body: project } = await platform(server, 'GET', '/sessions?name=shop');
    expect((project as { id: string }[])[0]?.id).toBe(runs[0]?.session_id);
  });

  it('that is interrupted has not failed, and its resumption is a trace of its own', async () => {
    const first = await run(server, 'nested', { input: {} });
    const interruptedTrace = await ended(server, first.run_id);
    expect(shape(interruptedTrace)).toEqual([
      'nested chain success',
      '  inner chain success',
      '    LangGraph chain success',
      '      deep chain success',
      '      ask chain success',
    ]);
    expect(interruptedTrace.at(-1)?.outputs).toMatchObject({ __interrupt__: [{ value: 'deep question' }] });
    const second = await run(server, 'nested', { command: { resume: 'yes' } }, { thread: first.thread_id });
    const answered = await ended(server, second.run_id);
    expect(answered[0]).toMatchObject({ inputs: { resume: 'yes' }, thread_id: first.thread_id });
    expect(answered.at(-1)).toMatchObject({ name: 'ask', outputs: { log: ['asked yes'] } });
  });

  it('that fails has the error and its step in the trace, also when its graph never started', async () => {
    const thrown = await ended(server, (await run(server, 'probe', { input: { do: 'throw' } })).run_id);
    expect(shape(thrown)).toEqual(['probe chain error', '  act chain error']);
    expect(thrown[1]?.error).toMatch(/^the graph failed on purpose\n/);
    const [broken] = await ended(server, (await run(server, 'broken', { input: { a: 1 } })).run_id);
    expect(broken).toMatchObject({ name: 'broken', inputs: { a: 1 }, status: 'error' });
    expect(broken?.error).toContain('cannot be loaded');
  });

  it.each(['circle', 'bigint', 'nul', 'function'])(
    'may return a value that JSON cannot represent: %s',
    async (what) => {
      const runs = await ended(server, (await run(server, 'probe', { input: { do: what } })).run_id);
      expect(runs.at(-1)).toMatchObject({ name: 'act', status: 'success' });
    },
  );

  it('that loses its executor is one trace, with the outcome of the attempt that completed it', async () => {
    const { run_id } = await run(server, 'probe', { input: { do: 'exitOnce', ms: 60 } });
    const runs = await ended(server, run_id);
    expect(runs.find(({ id }) => id === run_id)).toMatchObject({
      status: 'success',
      outputs: { out: 'done' },
      extra: { metadata: { run_attempt: 2 } },
    });
  });

  it('has the token usage of a model and the time of the first token', async () => {
    const { run_id } = await run(server, 'metered', { input: {}, stream_mode: ['messages'] });
    const runs = await ended(server, run_id);
    const model = runs.find(({ run_type }) => run_type === 'llm');
    expect(model).toMatchObject({
      prompt_tokens: 11,
      completion_tokens: 3,
      total_tokens: 14,
      status: 'success',
    });
    expect(Date.parse(model?.first_token_time ?? '')).toBeGreaterThanOrEqual(Date.parse(model!.start_time));
    expect(Date.parse(model?.first_token_time ?? '')).toBeLessThanOrEqual(Date.parse(model!.end_time!));
  });

  it.each(['waitForAbort', 'sleep'])(
    'that is cancelled ends as an error that says so, and so do its unfinished steps: %s',
    async (action) => {
      const { body: thread } = await server.call('POST', '/threads', {});
      const { thread_id } = thread as { thread_id: string };
      const { body } = await server.call('POST', `/threads/${thread_id}/runs`, {
        assistant_id: 'probe',
        input: { do: action, ms: 6_000 },
      });
      const { run_id } = body as { run_id: string };
      await eventually(async () => expect(await traceOf(server, run_id)).toHaveLength(2));
      await server.call('POST', `/threads/${thread_id}/runs/${run_id}/cancel?wait=true`);
      const runs = await ended(server, run_id);
      expect(shape(runs)).toEqual(['probe chain error', '  act chain error']);
      expect(runs[0]?.error).toBe('RunCancelled: The run was cancelled');
    },
  );

  it('is unaffected while traces cannot be stored, and they are stored later', async () => {
    const alter = (from: string, to: string) =>
      server.database.query({ name: `to_${to}`, text: `alter function ${from} rename to ${to}` }, []);
    await alter('ingest_runs', 'ingest_runs_gone');
    const { run_id, thread_id } = await run(server, 'probe', { input: { do: 'date' } });
    expect((await server.call('GET', `/threads/${thread_id}/runs/${run_id}`)).body).toMatchObject({
      status: 'success',
    });
    expect(await traceOf(server, run_id)).toEqual([]);
    await alter('ingest_runs_gone', 'ingest_runs');
    expect(shape(await ended(server, run_id))).toEqual(['probe chain success', '  act chain success']);
  });
});

it('traces contain the user of a run on each of its trace runs, and no secret of the user', async () => {
  await using server = await start({}, withUsers);
  const headers = { authorization: 'Bearer alice' };
  const options = { config: { configurable: { api_key: 'sk-canary' } }, stream_mode: ['debug', 'events'] };
  const { run_id } = await run(server, 'probe', { input: { action: 'user' }, ...options }, { headers });
  const runs = await ended(server, run_id);
  expect(shape(runs)).toEqual(['probe chain success', '  node chain success']);
  for (const { extra } of runs) expect(extra.metadata['svc_auth_user_id']).toBe('alice');
  const text = JSON.stringify(runs);
  expect(text).not.toMatch(/secret-of-|sk-canary|svc_auth_user"|svc_auth_permissions|langgraph_auth_|Bearer/);
});

it('a server that stops has stored the traces of its ended runs', async () => {
  await using other = await start();
  const { run_id } = await (async () => {
    await using server = await startTestServer({ database: other.database, settings: { tracing: 'on' } });
    return await run(server, 'probe', { input: { do: 'date' } });
  })();
  expect(shape(await traceOf(other, run_id))).toEqual(['probe chain success', '  act chain success']);
});

it.each(['waitForAbort', 'sleep'])(
  'a run that exceeds its time limit ends as an error in its trace: %s',
  async (action) => {
    // On a busy machine a run takes seconds to reach its node.
    await using server = await start({ runTimeout: '6s' });
    const { run_id } = await run(server, 'probe', { input: { do: action, ms: 9_000 } });
    const runs = await ended(server, run_id);
    expect(shape(runs)).toEqual(['probe chain error', '  act chain error']);
    expect(runs[0]?.error).toBe('RunTimeout: The run exceeded its time limit');
  },
);

it('unfinished trace runs of a killed executor end with their run, and not before', async () => {
  await using server = await start({ cancelGraceMs: 300 });
  const { body: thread } = await server.call('POST', '/threads', {});
  const { thread_id } = thread as { thread_id: string };
  const { body } = await server.call('POST', `/threads/${thread_id}/runs`, {
    assistant_id: 'probe',
    input: { do: 'blockOnAbort', ms: 60_000 },
  });
  const { run_id } = body as { run_id: string };
  await eventually(async () => expect(await traceOf(server, run_id)).toHaveLength(2));
  const traces = tracePartitionStorage(server.database);
  expect(await traces.endLost(0, 100)).toBe(0);
  await server.call('POST', `/threads/${thread_id}/runs/${run_id}/cancel`);
  await server.call('GET', `/threads/${thread_id}/runs/${run_id}/join`);
  expect(await traces.endLost(60_000, 100)).toBe(0);
  expect(await traces.endLost(0, 100)).toBe(2);
  const runs = await ended(server, run_id);
  expect(shape(runs)).toEqual(['probe chain error', '  act chain error']);
  expect(runs[0]?.error).toBe('The process that executed it was lost or stopped before it ended');
});

it("LangChain's own tracer can trace the same runs, and each tracer reports them once", async () => {
  await using theirs = await start({ tracing: 'off' });
  vi.stubEnv('LANGSMITH_TRACING', 'true');
  vi.stubEnv('LANGSMITH_ENDPOINT', `${theirs.url}/api/v1`);
  vi.stubEnv('LANGSMITH_API_KEY', key);
  try {
    await using ours = await start();
    const { run_id } = await run(ours, 'chat', { input: { messages: [{ role: 'user', content: 'hi' }] } });
    const expected = ['chat chain success', '  answer chain success', '    FakeListChatModel llm success'];
    const shown = async (server: TestServer): Promise<string[]> =>
      (await ended(server, run_id)).filter(({ name }) => name !== '__start__').map(({ name }) => name);
    expect(shape(await ended(ours, run_id))).toEqual(expected);
    await eventually(async () => expect(await shown(theirs)).toHaveLength(expected.length));
    expect((await shown(theirs)).toSorted()).toEqual(['FakeListChatModel', 'LangGraph', 'answer']);
  } finally {
    vi.unstubAllEnvs();
  }
});

it('no traces are stored for runs with tracing off', async () => {
  await using server = await start({ tracing: 'off' });
  await run(server, 'probe', { input: { do: 'date' } });
  await server.drain(AbortSignal.abort());
  const statement = { name: 'all_traced', text: 'select count(*)::int as count from trace_runs' };
  expect(await server.database.query(statement, [])).toEqual([{ count: 0 }]);
});
