// Every read of the stock client against a server: it works, or it answers 501 on purpose. docs/stock-tracers.md lists the result.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Project } from '@svc/contract';
import { Client } from 'langsmith';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startPlatform, type PlatformServer } from './platform-server.ts';
import { clientCalls, type Ids, otherMethods, resourceCalls } from './stock-reads.ts';

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

let platform: PlatformServer;
let client: Client;
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
  platform = await startPlatform();
  client = new Client({
    apiUrl: platform.apiUrl,
    apiKey: platform.key,
    fetchImplementation: recordingFetch,
    callerOptions: { maxRetries: 0 },
  });
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
afterAll(() => platform[Symbol.asyncDispose]());

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

const worksTable = (outcomes: readonly Outcome[]): string =>
  outcomes
    .filter(({ result }) => result === 'works')
    .map(({ method, request }) => `| \`${method}\` | \`${request}\` |\n`)
    .join('');

const refusedTable = (outcomes: readonly Outcome[]): string => {
  const byFeature = new Map<string, string[]>();
  for (const { method, result, message } of outcomes) {
    if (result !== 501) continue;
    const feature = message.replace('This server does not have ', '').replace(/\.$/, '');
    byFeature.set(feature, [...(byFeature.get(feature) ?? []), `\`${method}\``]);
  }
  return [...byFeature].map(([feature, methods]) => `| ${feature} | ${methods.join(' ')} |\n`).join('');
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
    expect(page).toContain(`| method | request |\n|---|---|\n${worksTable(outcomes)}\n`);
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
