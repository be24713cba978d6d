// Every route of both APIs refuses a body key and a query key that it does not have; stock clients may send those that it ignores.
import { randomUUID } from 'node:crypto';
import { Client as StockClient } from '@langchain/langgraph-sdk';
import { deploymentRoutes, platformRoutes, type RouteShape } from '@svc/contract';
import { Client as OldStockClient } from 'langgraph-sdk-2';
import { Client as TracingClient } from 'langsmith';
import { expect, it } from 'vitest';
import { startPlatform } from './platform/platform-server.ts';
import { fixture } from './fixture.ts';

const platform = fixture(() => startPlatform({}, { executors: 'started' }));

/** Those of JSON-RPC answer with other errors: test/mcp. */
const routes = Object.entries<RouteShape>({ ...deploymentRoutes, ...platformRoutes }).filter(
  ([, { kind }]) => kind !== 'rpc',
);

interface Refusal {
  status: number;
  message: string;
  detail: { loc: unknown[]; msg: string; type: string }[];
}

const send = async (method: string, path: string, body?: unknown): Promise<Refusal> => {
  const response = await fetch(platform.server.url + path, {
    method: method.toUpperCase(),
    headers: { 'content-type': 'application/json', 'x-api-key': platform.key },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { ...((await response.json()) as Refusal), status: response.status };
};

const pathOf = ({ path }: RouteShape): string => path.replaceAll(/:\w+/g, randomUUID());

it.each(routes.filter(([, { upload }]) => !upload))('%s refuses an unknown query key', async (_, route) => {
  const body = route.body ? {} : undefined;
  const refusal = await send(route.method, `${pathOf(route)}?no_such_key=1`, body);
  expect(refusal.status).toBe(422);
  expect(refusal.message).toMatch(/^query\.no_such_key: unknown key "no_such_key"/);
  expect(refusal.detail[0]).toMatchObject({ loc: ['query', 'no_such_key'], type: 'unrecognized_keys' });
});

it.each(routes.filter(([, { body }]) => body))('%s refuses an unknown body key', async (name, route) => {
  const body = name === 'createRunBatch' ? [{ no_such_key: 1 }] : { no_such_key: 1 };
  const refusal = await send(route.method, pathOf(route), body);
  expect(refusal.status).toBe(route.malformed === 'bad_request' ? 400 : 422);
  expect(refusal.message).toMatch(/^body\.(0\.)?no_such_key: unknown key "no_such_key"/);
});

it('names the known key that was probably meant', async () => {
  const body = await send('POST', '/threads/search', { statuss: 'idle' });
  expect(body.message).toBe('body.statuss: unknown key "statuss", did you mean "status"?');
  const query = await send('GET', '/api/v1/sessions?limits=1');
  expect(query.message).toBe('query.limits: unknown key "limits", did you mean "limit"?');
  const goto = { goto: { node: 'x', args: {} } };
  const step = await send('POST', '/runs', { assistant_id: 'chat', command: goto });
  expect(step.message).toBe('body.command.goto.args: unknown key "args"');
  const nested = await send('POST', '/runs', { assistant_id: 'chat', command: { resumee: 1 } });
  expect(nested.message).toBe('body.command.resumee: unknown key "resumee", did you mean "resume"?');
});

it('names three of many unknown keys', async () => {
  const keys = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`${at}${'x'.repeat(200)}`, 1]));
  const { message } = await send('POST', '/threads/search', keys);
  expect(message).toMatch(/; and 497 more$/);
  expect(message.length).toBeLessThan(600);
});

it('free-form objects take any key', async () => {
  const body = {
    assistant_id: 'chat',
    input: { messages: [], any: 1 },
    config: { any: 1, configurable: { any: 1 } },
    metadata: { any: 1 },
    context: { any: 1 },
  };
  expect((await send('POST', '/runs', body)).status).toBe(200);
});

it('stock clients may send what the server does not use', async () => {
  const { url } = platform.server;
  const stock = new StockClient({ apiUrl: url, apiKey: platform.key });
  const old = new OldStockClient({ apiUrl: url, apiKey: platform.key });
  const input = { messages: [] };
  const options = {
    input,
    ifNotExists: 'create',
    multitaskStrategy: 'enqueue',
  } as const;

  const thread = await stock.threads.create();
  await stock.threads.search({ extract: { first: 'values.messages[0]' } });
  await stock.threads.get(thread.thread_id, { include: ['ttl'] });
  await stock.runs.create(thread.thread_id, 'chat', { ...options, onCompletion: 'complete' });
  for (const thread_id of [thread.thread_id, null]) {
    // A stateless run that is not kept could end before it is joined. The types of the client do not have `keep`.
    const kept = { ...options, onCompletion: 'keep' as 'complete' };
    const { run_id } = await stock.runs.create(thread_id, 'chat', thread_id === null ? kept : options);
    const joined = stock.runs.joinStream(thread_id, run_id, {
      checkpointId: randomUUID(),
      streamNamespaces: [''],
    });
    for await (const { event } of joined) expect(event).not.toBe('error');
  }
  await stock.runs.wait(null, 'chat', { ...options, checkpointId: randomUUID() });
  const batch = { assistantId: 'chat', streamMode: ['values' as const], ...options };
  expect(await stock.runs.createBatch([batch])).toHaveLength(1);
  const cron = { schedule: '0 0 1 1 *', ifNotExists: 'create' as const };
  await old.crons.delete((await old.crons.create('chat', cron)).cron_id);

  const tracing = new TracingClient({ apiUrl: platform.apiUrl, apiKey: platform.key });
  const { id } = await tracing.createProject({
    projectName: 'one',
    referenceDatasetId: null,
    numExamples: 3,
  });
  await tracing.readProject({ projectId: id, includeStats: true });
  for await (const project of tracing.listProjects({ includeStats: false })) expect(project.id).toBe(id);
  for await (const run of tracing.listRuns({ projectId: id, executionOrder: 1 })) expect(run).toBe(0);
});
