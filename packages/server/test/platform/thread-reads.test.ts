// Reads of threads by the stock client: turns, statistics and groups.
import { randomUUID } from 'node:crypto';
import type { Project } from '@svc/contract';
import { Client } from 'langsmith';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPlatform, type PlatformServer } from './platform-server.ts';

let platform: PlatformServer;
let client: Client;
let project_id: string;
const startMs = Date.now() - 3_600_000;
const at = (seconds: number): string => new Date(startMs + seconds * 1_000).toISOString();
const exactAt = (seconds: number): string => at(seconds).replace('Z', '000Z');
const usage = { input_tokens: 100, output_tokens: 20, total_tokens: 120, total_cost: 0.5 };

const toArray = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
};

/** A turn: its root, and a model below it. */
const turn = (thread_id: string, from: number, more: object = {}): object[] => {
  const [id, model] = [randomUUID(), randomUUID()];
  const common = { session_name: 'talks', trace_id: id, extra: { metadata: { thread_id } } };
  return [
    { ...common, id, name: 'agent', start_time: at(from), end_time: at(from + 10), ...more },
    {
      ...common,
      id: model,
      parent_run_id: id,
      name: 'model',
      run_type: 'llm',
      start_time: at(from + 1),
      end_time: at(from + 5),
      outputs: { usage_metadata: usage },
      events: [{ name: 'new_token', time: at(from + 2) }],
    },
  ];
};

beforeAll(async () => {
  platform = await startPlatform();
  client = new Client({ apiUrl: platform.apiUrl, apiKey: platform.key });
  const post = [
    ...turn('a b', 0, { name: 'first', inputs: { question: 'why?' } }),
    ...turn('a b', 100, { error: 'broken' }),
    ...turn('a b', 200, { tags: ['t'] }),
    ...turn('other', 300),
  ];
  expect((await platform.call('POST', '/runs/batch', { json: { post } })).status).toBe(202);
  const { body } = await platform.call('GET', '/sessions?name=talks');
  project_id = (body as Project[])[0]?.id ?? '';
});
afterAll(() => platform[Symbol.asyncDispose]());

describe('threads.listTraces', () => {
  it('returns the turns of a thread, oldest first, with the sums of their traces', async () => {
    const selects = [
      'TURN_NUMBER',
      'NAME',
      'LATENCY',
      'TOTAL_TOKENS',
      'TOTAL_COST',
      'INPUTS_PREVIEW',
    ] as const;
    const turns = await toArray(
      client.threads.listTraces('a b', { project_id, selects: [...selects], page_size: 2 }),
    );
    const sums = { latency: 10, total_tokens: 120, total_cost: 0.5 };
    expect(turns).toMatchObject([
      { turn_number: 1, name: 'first', inputs_preview: 'why?', ...sums },
      { turn_number: 2, name: 'agent', ...sums },
      { turn_number: 3, name: 'agent', ...sums },
    ]);
    expect(await toArray(client.threads.listTraces('a b', { project_id }))).toEqual(
      turns.map(({ trace_id }) => ({ trace_id })),
    );
    const filtered = client.threads.listTraces('a b', {
      project_id,
      filter: 'has(tags, "t")',
      selects: ['TURN_NUMBER'],
    });
    expect(await toArray(filtered)).toEqual([{ trace_id: turns[2]?.trace_id, turn_number: 3 }]);
    const inTree = client.threads.listTraces('a b', { project_id, tree_filter: 'eq(error, "broken")' });
    expect(await toArray(inTree)).toEqual([{ trace_id: turns[1]?.trace_id }]);
    expect(await toArray(client.threads.listTraces('a', { project_id }))).toEqual([]);
  });
});

describe('threads.stats', () => {
  it('returns the selected statistics of a thread', async () => {
    const stats = (filter?: string) =>
      client.threads.stats('a b', {
        session_id: project_id,
        selects: ['TURNS', 'FIRST_START_TIME', 'LAST_END_TIME', 'LATENCY_P50', 'TOTAL_TOKENS', 'TOTAL_COST'],
        ...(filter === undefined ? {} : { filter }),
      });
    expect(await stats()).toEqual({
      turns: 3,
      first_start_time: exactAt(0),
      last_end_time: exactAt(210),
      latency_p50_seconds: 10,
      total_tokens: 360,
      total_cost: 1.5,
    });
    expect(await stats('eq(error, "broken")')).toMatchObject({ turns: 1, total_tokens: 120 });
    const refused = client.threads.stats('a b', { session_id: project_id, selects: ['FEEDBACK_STATS'] });
    await expect(refused).rejects.toMatchObject({ status: 501 });
    const path = `/api/v2/threads/x/stats?session_id=${project_id}`;
    expect((await platform.call('GET', path)).status).toBe(422);
  });
});

describe('threads.aggregateStats', () => {
  it('returns the selected statistics of all threads', async () => {
    const select = ['THREAD_COUNT', 'TRACE_COUNT', 'ERROR_RATE', 'TOTAL_TOKENS', 'FIRST_TOKEN_P50'] as const;
    expect(await client.threads.aggregateStats({ project_id, select: [...select] })).toEqual({
      thread_count: 2,
      trace_count: 4,
      error_rate: 0.25,
      total_tokens: 480,
      first_token_p50_seconds: 1,
    });
    const some = await client.threads.aggregateStats({
      project_id,
      select: ['THREAD_COUNT', 'TOTAL_TOKENS'],
      min_start_time: at(150),
      trace_filter: 'eq(name, "agent")',
      filter: 'has(tags, "t")',
    });
    expect(some).toEqual({ thread_count: 1, total_tokens: 120 });
    const refused = client.threads.aggregateStats({ project_id, select: ['MEDIAN_TOKENS'] });
    await expect(refused).rejects.toMatchObject({ status: 501 });
  });
});

describe('listGroupRuns', () => {
  it('pages through the threads by offset', async () => {
    const groups = await toArray(
      client.listGroupRuns({ projectId: project_id, groupBy: 'conversation', limit: 1 }),
    );
    expect(groups).toMatchObject([
      { group_key: 'other', count: 1, total_tokens: 120, total_cost: 0.5 },
      { group_key: 'a b', count: 3, total_tokens: 360, first_inputs: 'why?', last_error: 'broken' },
    ]);
    const { filter } = groups[1] as unknown as { filter: string };
    expect(await toArray(client.listRuns({ projectId: project_id, filter, isRoot: true }))).toHaveLength(3);
  });
});

describe('threads.query', () => {
  it('filters threads by the roots and the trees of their traces', async () => {
    const found = async (more: object): Promise<unknown[]> =>
      (await toArray(client.threads.query({ project_id, ...more }))).map(({ thread_id }) => thread_id);
    expect(await found({ trace_filter: 'has(tags, "t")' })).toEqual(['a b']);
    expect(await found({ tree_filter: 'eq(name, "model")' })).toEqual(['other', 'a b']);
    const streamed = await toArray(client.threads.streaming.queryItems({ project_id, page_size: 1 }));
    expect(streamed.map(({ thread_id }) => thread_id)).toEqual(['other', 'a b']);
  });
});
