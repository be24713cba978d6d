// Requests for large responses, and the rows that are stored for them.
import { gzipSync } from 'node:zlib';
import { traceRun } from './hostile-bodies.ts';

export interface HostileAnswer {
  what: string;
  method: 'GET' | 'POST';
  path: string;
  body?: unknown;
  key?: string;
  times: number;
  /** The client sends the request and reads nothing. */
  unread?: boolean;
}

const mb = 1_048_576;
const json = { 'content-type': 'application/json' };

/** Stores the rows that the requests read, and returns the requests. */
export const storeAnswers = async (url: string, key: string): Promise<HostileAnswer[]> => {
  const call = async (method: string, path: string, body: unknown, headers = {}): Promise<unknown> => {
    const sent = Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const response = await fetch(url + path, { method, headers: { ...json, ...headers }, body: sent });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  const newThread = async (metadata: object): Promise<string> =>
    ((await call('POST', '/threads', { metadata })) as { thread_id: string }).thread_id;
  const withRuns = await newThread({ graph_id: 'one-node' });
  for (let at = 0; at < 30; at++)
    await call('POST', `/threads/${withRuns}/runs`, {
      assistant_id: 'one-node',
      after_seconds: 3_600,
      input: { messages: [{ role: 'user', content: `${at} ${'x'.repeat(4 * mb)}` }] },
    });
  const withStates = await newThread({ graph_id: 'one-node' });
  const state = (content: string) => ({
    values: { messages: [{ role: 'user', content }] },
    as_node: 'answer',
  });
  for (let at = 0; at < 14; at++)
    await call('POST', `/threads/${withStates}/state`, state(`${at} ${'x'.repeat(2 * mb)}`));
  for (let at = 0; at < 40; at++) {
    const thread_id = await newThread({ graph_id: 'one-node', many: true });
    await call('POST', `/threads/${thread_id}/state`, state(`${at} ${'x'.repeat(mb)}`));
  }
  for (let at = 0; at < 100; at++)
    await call('PUT', '/store/items', {
      namespace: ['hostile'],
      key: `k${at}`,
      value: { a: 'x'.repeat(990_000) },
    });
  for (let at = 0; at < 8; at++) {
    const inputs = { a: `${at} ${'x'.repeat(8 * mb)}` };
    const extra = { metadata: { thread_id: `thread ${at}` } };
    const post = [traceRun({ inputs, outputs: inputs, extra })];
    const headers = { 'x-api-key': key, 'content-encoding': 'gzip' };
    await call('POST', '/api/v1/runs/batch', gzipSync(JSON.stringify({ post })), headers);
  }
  const projects = (await (
    await fetch(`${url}/api/v1/sessions`, { headers: { 'x-api-key': key } })
  ).json()) as {
    id: string;
  }[];
  const session = projects.map(({ id }) => id);
  const get = (what: string, path: string): HostileAnswer => ({ what, method: 'GET', path, times: 8 });
  const post = (what: string, path: string, body: unknown): HostileAnswer => ({
    what,
    method: 'POST',
    path,
    body,
    times: 8,
  });
  const runs = `/threads/${withRuns}/runs?limit=1000`;
  const many = { metadata: { many: true }, limit: 1_000 };
  return [
    get('30 runs with inputs of 4 MB', runs),
    get('the same, status only', `${runs}&select=status`),
    get('a state of 28 MB', `/threads/${withStates}/state`),
    get('history of states up to 28 MB', `/threads/${withStates}/history?limit=1000`),
    get('a thread with 28 MB of values', `/threads/${withStates}`),
    post('40 threads with values of 1 MB', '/threads/search', { ...many, select: ['thread_id', 'values'] }),
    post('search of them by values', '/threads/search', {
      ...many,
      values: { messages: [{ type: 'human' }] },
    }),
    post('count of them by values', '/threads/count', {
      ...many,
      limit: undefined,
      values: { messages: [{ type: 'x' }] },
    }),
    post('100 store items of 1 MB', '/store/items/search', { namespace_prefix: ['hostile'], limit: 1_000 }),
    { ...post('8 traces with payloads of 16 MB', '/api/v1/runs/query', { session, limit: 100 }), key },
    {
      ...post('their threads, with previews', '/api/v2/threads/query', {
        project_id: session[0],
        page_size: 100,
      }),
      key,
    },
    { ...get('30 clients that read nothing of 30 large runs', runs), times: 30, unread: true },
  ];
};
