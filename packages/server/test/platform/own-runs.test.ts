// The server's own runs as traces: what their graphs did, for whom, and nothing that is secret.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';

interface Traced {
  id: string;
  name: string;
  run_type: string;
  status: string;
  error: string | null;
  inputs: unknown;
  outputs: unknown;
  thread_id: string;
  dotted_order: string;
  parent_run_ids: string[];
  session_id: string;
  extra: { metadata: Record<string, unknown> };
}

const key = 'a-key-for-own-traces';
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

/** The trace of a run that is over. */
const ended = (server: TestServer, run_id: string): Promise<Traced[]> =>
  vi.waitFor(
    async () => {
      const runs = await traceOf(server, run_id);
      expect(runs.find(({ id }) => id === run_id)?.status).toMatch(/success|error/);
      return runs;
    },
    { timeout: 10_000 },
  );

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

  it('is a tree of what its graph did, with the id of the run at its root', async () => {
    const input = { messages: [{ role: 'user', content: 'hi' }] };
    const { run_id, thread_id, assistant_id } = await run(server, 'chat', { input });
    const runs = await ended(server, run_id);
    expect(shape(runs)).toEqual([
      'LangGraph chain success',
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

  it('that stops to ask has not failed, and its answer is a trace of its own', async () => {
    const first = await run(server, 'nested', { input: {} });
    const asked = await ended(server, first.run_id);
    expect(shape(asked)).toEqual([
      'LangGraph chain success',
      '  inner chain success',
      '    LangGraph chain success',
      '      deep chain success',
      '      ask chain success',
    ]);
    expect(asked.at(-1)?.outputs).toMatchObject({ __interrupt__: [{ value: 'deep question' }] });
    const second = await run(server, 'nested', { command: { resume: 'yes' } }, { thread: first.thread_id });
    const answered = await ended(server, second.run_id);
    expect(answered[0]).toMatchObject({ inputs: { resume: 'yes' }, thread_id: first.thread_id });
    expect(answered.at(-1)).toMatchObject({ name: 'ask', outputs: { log: ['asked yes'] } });
  });

  it('that fails says where and why, also when its graph never began', async () => {
    const thrown = await ended(server, (await run(server, 'probe', { input: { do: 'throw' } })).run_id);
    expect(shape(thrown)).toEqual(['LangGraph chain error', '  act chain error']);
    expect(thrown[1]?.error).toMatch(/^the graph said no\n/);
    const [broken] = await ended(server, (await run(server, 'broken', { input: { a: 1 } })).run_id);
    expect(broken).toMatchObject({ name: 'broken', inputs: { a: 1 }, status: 'error' });
    expect(broken?.error).toContain('cannot be loaded');
  });

  it.each(['circle', 'bigint', 'nul', 'function'])('may return what JSON cannot hold: a %s', async (what) => {
    const runs = await ended(server, (await run(server, 'probe', { input: { do: what } })).run_id);
    expect(runs.at(-1)).toMatchObject({ name: 'act', status: 'success' });
  });

  it('that ends its executor is one trace, with the outcome of the attempt that made it', async () => {
    const { run_id } = await run(server, 'probe', { input: { do: 'stumble', ms: 60 } });
    const runs = await ended(server, run_id);
    expect(runs.find(({ id }) => id === run_id)).toMatchObject({
      status: 'success',
      outputs: { out: 'up again' },
      extra: { metadata: { run_attempt: 2 } },
    });
  });

  it('is not harmed while traces cannot be stored, and they come later', async () => {
    const alter = (from: string, to: string) =>
      server.database.query({ name: `to_${to}`, text: `alter function ${from} rename to ${to}` }, []);
    await alter('ingest_runs', 'ingest_runs_gone');
    const { run_id, thread_id } = await run(server, 'probe', { input: { do: 'date' } });
    expect((await server.call('GET', `/threads/${thread_id}/runs/${run_id}`)).body).toMatchObject({
      status: 'success',
    });
    expect(await traceOf(server, run_id)).toEqual([]);
    await alter('ingest_runs_gone', 'ingest_runs');
    expect(shape(await ended(server, run_id))).toEqual(['LangGraph chain success', '  act chain success']);
  });
});

it('Traces name the user of a run on every one of its runs, and hold no secret of theirs', async () => {
  await using server = await start({}, withUsers);
  const headers = { authorization: 'Bearer alice' };
  const options = { config: { configurable: { api_key: 'sk-canary' } }, stream_mode: ['debug', 'events'] };
  const { run_id } = await run(server, 'probe', { input: { ask: 'who' }, ...options }, { headers });
  const runs = await ended(server, run_id);
  expect(shape(runs)).toEqual(['LangGraph chain success', '  node chain success']);
  for (const { extra } of runs) expect(extra.metadata['svc_auth_user_id']).toBe('alice');
  const text = JSON.stringify(runs);
  expect(text).not.toMatch(/secret-of-|sk-canary|svc_auth_user"|svc_auth_permissions|langgraph_auth_|Bearer/);
});

it('A server that stops has stored the traces of the runs that it has ended', async () => {
  await using other = await start();
  const { run_id } = await (async () => {
    await using server = await startTestServer({ database: other.database, settings: { tracing: 'on' } });
    return await run(server, 'probe', { input: { do: 'date' } });
  })();
  expect(shape(await traceOf(other, run_id))).toEqual(['LangGraph chain success', '  act chain success']);
});

it('Nothing is written of runs with tracing off', async () => {
  await using server = await start({ tracing: 'off' });
  await run(server, 'probe', { input: { do: 'date' } });
  await server.drain(AbortSignal.abort());
  const statement = { name: 'all_traced', text: 'select count(*)::int as count from trace_runs' };
  expect(await server.database.query(statement, [])).toEqual([{ count: 0 }]);
});
