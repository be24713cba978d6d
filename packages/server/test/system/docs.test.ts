// /openapi.json and /docs: the address of the server, examples that work, and a page that loads nothing from elsewhere.
import { createHash, randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { docsScript } from '../../src/deployment/system/docs-script.ts';
import { type PlatformServer, startPlatform } from '../platform/platform-server.ts';

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
let platform: PlatformServer;
beforeAll(async () => {
  platform = await startPlatform({}, { project, executors: 'started' });
});
afterAll(() => platform[Symbol.asyncDispose]());

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

describe('/docs', () => {
  it('has a form for every operation and allows only its own script', async () => {
    const response = await fetch(`${platform.server.url}/docs`);
    const html = await response.text();
    const { paths } = await fetchDocument();
    for (const { operationId } of Object.values(paths).flatMap((methods) => Object.values(methods)))
      expect(html).toContain(`<section id="${operationId}">`);
    expect(html).toContain(`curl -s -X POST &quot;${platform.server.url}/threads&quot;`);
    const script = /<script>([^]*?)<\/script>/.exec(html)?.[1] ?? '';
    const hash = createHash('sha256').update(script).digest('base64');
    const policy = response.headers.get('content-security-policy');
    expect(policy).toContain(`default-src 'none'; script-src 'sha256-${hash}'; connect-src 'self'`);
    expect(html).not.toMatch(/ (?:src|href)="(?!#|\/|openapi\.json"|docs\/guide\/")/);
  });

  it('sends the request of a form and shows the response', async () => {
    let submit: ((event: unknown) => Promise<void>) | undefined;
    const sent: { url: string; init: RequestInit }[] = [];
    runInContext(
      docsScript,
      createContext({
        URLSearchParams,
        TextDecoder,
        document: {
          addEventListener: (_: string, listener: typeof submit) => (submit = listener),
          getElementById: () => ({ value: ' key ' }),
        },
        fetch: (url: string, init: RequestInit) => {
          sent.push({ url, init });
          return Promise.resolve(new Response('{"a":1}', { status: 200, statusText: 'OK' }));
        },
      }),
    );
    const input = (name: string, value: string, dataset: object) => ({ name, value, dataset });
    const output = { textContent: '' };
    const form = {
      dataset: { method: 'POST', path: '/threads/{thread_id}/x' },
      querySelectorAll: () => [
        input('thread_id', 'a/b', { in: 'path' }),
        input('select', 'values, next', { in: 'query', list: '1' }),
        input('before', '', { in: 'query' }),
        input('Idempotency-Key', 'once', { in: 'header' }),
      ],
      querySelector: (name: string) => (name === 'output' ? output : { value: '{}' }),
    };
    await submit?.({ preventDefault: () => undefined, target: form });
    expect(sent).toEqual([
      {
        url: '/threads/a%2Fb/x?select=values&select=next',
        init: {
          method: 'POST',
          headers: { 'Idempotency-Key': 'once', 'x-api-key': 'key', 'content-type': 'application/json' },
          body: '{}',
        },
      },
    ]);
    expect(output.textContent).toBe('200 OK\n\n{\n  "a": 1\n}');
  });
});
