// /openapi.json: the address of the server, and examples that work.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startPlatform } from '../platform/platform-server.ts';
import { fixture } from '../fixture.ts';

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  example?: string | string[];
}

interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { example?: unknown }> };
}

interface Document {
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
}

const project = fileURLToPath(new URL('../../../../examples/agent/svc.json', import.meta.url));
const platform = fixture(() => startPlatform({}, { project, executors: 'started' }));

const fetchDocument = async (headers: Record<string, string> = {}): Promise<Document> =>
  (await (await fetch(`${platform.server.url}/openapi.json`, { headers })).json()) as Document;

describe('/openapi.json', () => {
  it('names the address that the request used', async () => {
    expect((await fetchDocument()).servers).toEqual([{ url: platform.server.url }]);
    // This client is no trusted proxy.
    expect((await fetchDocument({ 'x-forwarded-proto': 'https' })).servers).toEqual([
      { url: platform.server.url },
    ]);
  });

  it('has examples that succeed on a fresh server', async () => {
    const { paths } = await fetchDocument();
    const operations = new Map(
      Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, one]) => [one.operationId, { path, method, ...one }] as const),
      ),
    );
    const ids: Record<string, string> = {};
    /** Sends the example of an operation, with ids of earlier responses in place of the missing ones. */
    const send = async (name: string): Promise<unknown> => {
      const operation = operations.get(name);
      if (operation === undefined) throw new Error(`No operation ${name}`);
      const { parameters = [], requestBody, method, path } = operation;
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, key: string) => {
        const example = parameters.find((one) => one.name === key)?.example;
        return [example ?? ids[key] ?? randomUUID()].flat().join('');
      });
      const query = parameters
        .filter((one) => one.in === 'query' && one.example !== undefined)
        .flatMap((one) => [one.example ?? []].flat().map((value): [string, string] => [one.name, value]));
      const body = requestBody?.content['application/json']?.example;
      const response = await fetch(
        `${platform.server.url}${filled}?${new URLSearchParams(query).toString()}`,
        {
          method: method.toUpperCase(),
          headers: {
            'x-api-key': platform.key,
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        },
      );
      const text = await response.text();
      expect(response.ok, `${name}: ${response.status} ${text.slice(0, 500)}`).toBe(true);
      const isJson = response.headers.get('content-type')?.includes('json') === true;
      return isJson && text !== '' ? (JSON.parse(text) as unknown) : undefined;
    };
    const remember = async (name: string, key: string, field = key): Promise<void> => {
      ids[key] = ((await send(name)) as Record<string, string>)[field] ?? '';
    };
    for (const name of ['createAssistant', 'searchAssistants', 'countAssistants', 'getAssistant'])
      await send(name);
    for (const name of [
      'updateAssistant',
      'listAssistantVersions',
      'setLatestAssistant',
      'getAssistantGraph',
    ])
      await send(name);
    for (const name of [
      'createThread',
      'searchThreads',
      'countThreads',
      'patchThread',
      'waitRun',
      'streamRun',
    ])
      await send(name);
    await remember('createRun', 'run_id');
    for (const name of ['joinRun', 'getRun', 'listRuns', 'getThreadState', 'searchThreadHistory'])
      await send(name);
    for (const name of ['getThreadStateAtCheckpoint', 'updateThreadState', 'pruneThreads']) await send(name);
    for (const name of ['waitStatelessRun', 'streamStatelessRun', 'createStatelessRun', 'createRunBatch'])
      await send(name);
    await remember('createCron', 'cron_id');
    for (const name of ['createThreadCron', 'searchCrons', 'countCrons', 'updateCron', 'getCron'])
      await send(name);
    for (const name of ['putItem', 'getItem', 'searchItems', 'listNamespaces', 'deleteItem'])
      await send(name);
    await remember('createProject', 'session_id', 'id');
    for (const name of ['getProject', 'queryTraceRuns', 'getRunStats', 'getRunStatsSeries']) await send(name);
    await send('queryTraceThreads');
    await remember('createKey', 'key_id', 'id');
    await remember('createModelPrice', 'price_id', 'id');
    await remember('createFeedback', 'feedback_id', 'id');
    for (const name of ['replaceModelPrice', 'changeFeedback', 'revokeKey', 'createWorkspace'])
      await send(name);
  });
});
