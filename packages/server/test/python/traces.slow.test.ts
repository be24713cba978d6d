// Traces of the runs of Python graphs.
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { eventually } from '../eventually.ts';
import { fixture } from '../fixture.ts';
import { itWithPythonClients as it, whyNoPythonClients } from '../python-clients/python.ts';
import { startTestServer, type TestServer } from '../server.ts';

interface Traced {
  id: string;
  name: string;
  run_type: string;
  status: string;
  error: string | null;
  inputs: unknown;
  outputs: unknown;
  dotted_order: string;
  parent_run_ids: string[];
  first_token_time: string | null;
  total_tokens: number | null;
  extra: { metadata: Record<string, unknown> };
}

const key = 'a-key-for-python-traces-0123456789-01';
const project = fileURLToPath(new URL('graphs/svc.json', import.meta.url));
const server = fixture((): Promise<Pick<TestServer, 'call'> & AsyncDisposable> =>
  whyNoPythonClients() === undefined
    ? startTestServer({ project, settings: { bootstrapApiKey: key, tracing: 'on' } })
    : Promise.resolve({
        call: () => Promise.reject(new Error()),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }),
);

/** Executes a run on a new thread, and returns its trace in the order of its tree. */
const traceOf = async (assistant_id: string, body: object): Promise<{ run_id: string; runs: Traced[] }> => {
  const thread = (await server.call('POST', '/threads', {})).body as { thread_id: string };
  const created = await server.call('POST', `/threads/${thread.thread_id}/runs`, { assistant_id, ...body });
  const { run_id } = created.body as { run_id: string };
  await server.call('GET', `/threads/${thread.thread_id}/runs/${run_id}/join`);
  const runs = await eventually(async () => {
    const found = await server.call('POST', '/api/v1/runs/query', { trace: run_id }, { 'x-api-key': key });
    const all = (found.body as { runs: Traced[] }).runs;
    expect(all.find(({ id }) => id === run_id)?.status).toMatch(/success|error/);
    return all.toSorted((a, b) => (a.dotted_order < b.dotted_order ? -1 : 1));
  });
  return { run_id, runs };
};

const shape = (runs: Traced[]): string[] =>
  runs.map(
    ({ name, run_type, status, parent_run_ids }) =>
      `${'  '.repeat(parent_run_ids.length)}${name} ${run_type} ${status}`,
  );

it('a run has a trace with its nodes and models, and the id of the run as its root', async () => {
  const input = { messages: [{ role: 'user', content: 'hi' }] };
  const { run_id, runs } = await traceOf('model', { input });
  expect(shape(runs)).toEqual([
    'model chain success',
    '  say chain success',
    '    GenericFakeChatModel llm success',
  ]);
  expect(runs[0]).toMatchObject({ id: run_id, inputs: input, extra: { metadata: { run_id } } });
  expect(runs[0]?.outputs).toMatchObject({
    messages: [{ kwargs: { content: 'hi' } }, { kwargs: { content: 'one two three' } }],
  });
  expect(JSON.stringify(runs[2]?.inputs)).toContain('"content":"hi"');
  expect(runs[2]?.outputs).toMatchObject({ generations: [[{ text: 'one two three' }]] });
  expect(JSON.stringify(runs)).not.toMatch(/auth_user/);
});

it('synchronous nodes, which execute in threads, are in the trace', async () => {
  const { runs } = await traceOf('send', { input: { items: [] } });
  const names = runs.map(({ name }) => name);
  expect(names.filter((name) => name === 'work')).toHaveLength(3);
  expect(runs.every(({ status }) => status === 'success')).toBe(true);
});

it('an interrupt is an output, and a failed node has its error with the lines of the project', async () => {
  const asked = await traceOf('ask', { input: { items: [] } });
  expect(shape(asked.runs)).toEqual(['ask chain success', '  before chain success', '  ask chain success']);
  expect(asked.runs[2]?.outputs).toMatchObject({ __interrupt__: [{ value: { question: 'go on?' } }] });

  const failed = await traceOf('fail', { input: { items: [], how: 'raise' } });
  expect(shape(failed.runs)).toEqual(['fail chain error', '  fail chain error']);
  expect(failed.runs[1]?.error).toMatch(/this is wrong[^]*agent\.py/);
});

it('a payload that cannot be stored is shown as Python prints it', async () => {
  const { runs } = await traceOf('fail', { input: { items: [], how: 'value' } });
  expect(JSON.stringify(runs.find(({ parent_run_ids }) => parent_run_ids.length === 1)?.outputs)).toContain(
    '<object object at',
  );
});
