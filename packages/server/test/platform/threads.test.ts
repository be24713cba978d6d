// Threads of traces, as the metadata of runs define them.
import { randomUUID } from 'node:crypto';
import type { Project, RunStats, RunTree, TraceThread } from '@svc/contract';
import { Client } from 'langsmith';
import { beforeAll, describe, expect, it } from 'vitest';
import { fixture } from '../fixture.ts';
import { startPlatform } from './platform-server.ts';

const platform = fixture(() => startPlatform());
const client = fixture(() => new Client({ apiUrl: platform.apiUrl, apiKey: platform.key }));
const startMs = Date.now() - 3_600_000;
const at = (seconds: number): string => new Date(startMs + seconds * 1_000).toISOString();

interface Turn {
  project: string;
  thread_id: string | null;
  /** Its start, in seconds. */
  from: number;
  question?: string;
  answer?: string;
  error?: string;
  /** Whether the run of its model has the id of the thread. */
  isWhole?: boolean;
}

const usage = { input_tokens: 100, output_tokens: 20, total_tokens: 120, total_cost: 0.000_1 };

/** A root, a model below it, and below that the model that it wraps, which reports the same tokens. */
const send = async (turn: Turn): Promise<string> => {
  const {
    project: session_name,
    thread_id,
    from,
    question = 'hello',
    answer = 'hi',
    error,
    isWhole = true,
  } = turn;
  const [root, model, wrapped] = [randomUUID(), randomUUID(), randomUUID()];
  const extra = thread_id === null ? {} : { metadata: { thread_id } };
  const common = { session_name, trace_id: root };
  const order = (id: string): string => `${at(from).replaceAll(/[-:.]/g, '').replace('Z', '')}000Z${id}`;
  const paths = [
    order(root),
    `${order(root)}.${order(model)}`,
    `${order(root)}.${order(model)}.${order(wrapped)}`,
  ];
  const [rootOrder, modelOrder, wrappedOrder] = paths;
  const outputs = { usage_metadata: usage };
  const post = [
    {
      ...common,
      id: root,
      dotted_order: rootOrder,
      name: 'agent',
      run_type: 'chain',
      extra,
      error,
      start_time: at(from),
      end_time: at(from + 10),
      inputs: {
        messages: [
          { role: 'system', content: 'be kind' },
          { role: 'user', content: question },
        ],
      },
      outputs: { messages: [[{ lc: 1, type: 'constructor', kwargs: { content: answer } }]] },
    },
    {
      ...common,
      id: model,
      parent_run_id: root,
      dotted_order: modelOrder,
      name: 'model',
      run_type: 'llm',
      outputs,
      start_time: at(from),
      end_time: at(from + 4),
      extra: isWhole ? extra : {},
    },
    {
      ...common,
      id: wrapped,
      parent_run_id: model,
      dotted_order: wrappedOrder,
      name: 'wrapped',
      run_type: 'llm',
      outputs,
      start_time: at(from),
      end_time: at(from + 3),
      extra: isWhole ? extra : {},
    },
  ];
  const answered = await platform.call('POST', '/runs/batch', { json: { post } });
  expect(answered.status, JSON.stringify(answered.body)).toBe(202);
  return root;
};

const projectOf = async (name: string): Promise<string> => {
  const { body } = await platform.call('GET', `/sessions?name=${name}`);
  return (body as Project[])[0]?.id ?? '';
};

interface Page {
  items: TraceThread[];
  has_more: boolean;
  next_cursor: string | null;
}

const threads = async (project_id: string, more: object = {}): Promise<Page> => {
  const response = await fetch(`${platform.server.url}/api/v2/threads/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': platform.key },
    body: JSON.stringify({ project_id, ...more }),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Page;
};

describe('a thread', () => {
  it('has turns, messages, times and errors, and each token once', async () => {
    const first = await send({ project: 'one', thread_id: 't', from: 0, question: 'why?' });
    const last = await send({ project: 'one', thread_id: 't', from: 60, answer: 'because', error: 'Oh no' });
    const { items, has_more } = await threads(await projectOf('one'));
    expect(has_more).toBe(false);
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({
      thread_id: 't',
      count: 2,
      run_count: 6,
      num_errored_turns: 1,
      last_error: 'Oh no',
      first_inputs: 'why?',
      last_outputs: 'because',
      first_trace_id: first,
      last_trace_id: last,
      latency_p50: 10,
      min_start_time: at(0),
      max_start_time: at(60),
      prompt_tokens: 200,
      completion_tokens: 40,
      total_tokens: 240,
      total_cost: '0.0002',
      runs_without_thread_id: 0,
      notice: null,
    });
  });

  it('returns how many runs of its traces lack its id, and does not count them', async () => {
    await send({ project: 'lacking', thread_id: 't', from: 0, isWhole: false });
    const [thread] = (await threads(await projectOf('lacking'))).items;
    expect(thread).toMatchObject({
      count: 1,
      run_count: 1,
      total_tokens: 0,
      runs_without_thread_id: 2,
      notice: '2 runs lack thread_id',
    });
  });

  it('is listed by its newest run, once, with any page size', async () => {
    for (const [from, thread_id] of ['a', 'b', 'c', 'a', 'd', 'b'].entries())
      await send({ project: 'pages', thread_id, from: from * 10 });
    await send({ project: 'pages', thread_id: null, from: 100 });
    const project = await projectOf('pages');
    for (const [more, wanted] of [
      [{}, ['b', 'd', 'a', 'c']],
      [{ max_start_time: at(35) }, ['a', 'c', 'b']],
      [{ min_start_time: at(25) }, ['b', 'd', 'a']],
      [{ filter: 'in(thread_id, ["a", "c"])' }, ['a', 'c']],
      [{ filter: `lt(start_time, "${at(5)}")` }, ['a']],
    ] as const) {
      const found: string[] = [];
      let cursor: string | null = null;
      do {
        const page: Page = await threads(project, { ...more, page_size: 1, cursor });
        found.push(...page.items.map((item) => item.thread_id));
        cursor = page.next_cursor;
      } while (cursor !== null);
      expect(found).toEqual(wanted);
    }
  });

  it('returns its runs, oldest first', async () => {
    const root = await send({ project: 'runs', thread_id: 'a b "ç"', from: 0 });
    const session = await projectOf('runs');
    const path = `/runs/threads/${encodeURIComponent('a b "ç"')}?session_id=${session}`;
    const runs = async (more: string): Promise<string[]> =>
      ((await platform.call('GET', path + more)).body as { runs: { id: string }[] }).runs.map(
        (run) => run.id,
      );
    expect(await runs('')).toHaveLength(3);
    expect(await runs('&is_root=true')).toEqual([root]);
  });

  it('is read by the stock client', async () => {
    await send({ project: 'stock', thread_id: 's', from: 0 });
    const root = await send({ project: 'stock', thread_id: 's', from: 20 });
    const listed = await client.listThreads({ projectName: 'stock' });
    expect(listed).toMatchObject([{ thread_id: 's', count: 2 }]);
    const read: string[] = [];
    for await (const run of client.readThread({ threadId: 's', projectName: 'stock' })) read.push(run.id);
    expect(read).toHaveLength(2);
    expect(read[1]).toBe(root);
    const page = await client.threads.query({ project_id: await projectOf('stock') });
    expect(page.items).toMatchObject([{ thread_id: 's', count: 2, total_tokens: 240 }]);
  });
});

describe('sums of runs', () => {
  it('count each token once, and return only the requested fields', async () => {
    await send({ project: 'sums', thread_id: 't', from: 0, error: 'no' });
    const project = await projectOf('sums');
    const { body } = await platform.call('POST', '/runs/stats', { json: { session: [project] } });
    expect(body as RunStats).toMatchObject({
      run_count: 3,
      error_count: 1,
      latency_p50: 4,
      total_tokens: 120,
      total_cost: '0.0001',
      last_run_start_time: at(0),
    });
    const stats = await client.getRunStats({ projectIds: [project], filter: 'eq(name, "agent")' } as never);
    expect(stats).toMatchObject({ run_count: 1, error_rate: 1, total_tokens: 0 });
    const none = await platform.call('POST', '/runs/stats', { json: { session: [randomUUID()] } });
    expect(none.body).toMatchObject({ run_count: 0, error_rate: null, total_cost: null, latency_p50: null });
  });
});

describe('a trace', () => {
  it('is a tree', async () => {
    const root = await send({ project: 'tree', thread_id: null, from: 0 });
    const tree = (await platform.call('GET', `/traces/${root}`)).body as RunTree;
    expect(tree).toMatchObject({
      trace_id: root,
      run_count: 3,
      is_whole: true,
      runs: [
        { id: root, child_runs: [{ name: 'model', child_runs: [{ name: 'wrapped', child_runs: [] }] }] },
      ],
    });
    expect((await platform.call('GET', `/traces/${randomUUID()}`)).status).toBe(404);
    const run = await client.readRun(root, { loadChildRuns: true });
    expect(run.child_runs).toMatchObject([{ name: 'model', child_runs: [{ name: 'wrapped' }] }]);
  });
});

describe('feedback', () => {
  it('is stored with its run, and found by it', async () => {
    const run = await send({ project: 'feedback', thread_id: null, from: 0 });
    const { id } = await client.createFeedback(run, 'kind', { score: true, comment: 'nice' });
    await client.createFeedback(run, 'exact', { score: 0.25, value: { of: ['a'] } });
    const listed = [];
    for await (const one of client.listFeedback({ runIds: [run], feedbackKeys: ['kind'] })) listed.push(one);
    expect(listed).toMatchObject([
      { id, run_id: run, trace_id: run, key: 'kind', score: 1, comment: 'nice' },
    ]);
    const project = await projectOf('feedback');
    const found: string[] = [];
    const filter = 'and(eq(feedback_key, "exact"), lt(feedback_score, 0.3))';
    for await (const one of client.listRuns({ projectId: project, filter })) found.push(one.id);
    expect(found).toEqual([run]);
    const replaced = { id, run_id: run, key: 'kind', score: 0 };
    expect((await platform.call('POST', '/feedback', { json: replaced })).body).toMatchObject({ score: 0 });
    const elsewhere = { ...replaced, run_id: randomUUID() };
    expect((await platform.call('POST', '/feedback', { json: elsewhere })).status).toBe(409);
  });

  it('is read, changed and deleted by its id with the stock client', async () => {
    const run = await send({ project: 'feedback by id', thread_id: null, from: 0 });
    const { id } = await client.createFeedback(run, 'kind', { score: true, comment: 'nice', value: ['a'] });
    const made = await client.readFeedback(id);
    expect(made).toMatchObject({ id, run_id: run, key: 'kind', score: 1, comment: 'nice', value: ['a'] });
    await client.updateFeedback(id, { score: 0.5, comment: 'not so nice' });
    const changed = await client.readFeedback(id);
    expect(changed).toMatchObject({ score: 0.5, comment: 'not so nice', value: ['a'], key: 'kind' });
    expect(Date.parse(changed.modified_at)).toBeGreaterThanOrEqual(Date.parse(made.modified_at));
    const stats = (await platform.call('GET', `/runs/${run}`)).body as { feedback_stats: unknown };
    expect(stats.feedback_stats).toEqual({ kind: { n: 1, avg: 0.5 } });
    const cleared = await platform.call('PATCH', `/feedback/${id}`, { json: { score: null, value: null } });
    expect(cleared.body).toMatchObject({ score: null, value: null, comment: 'not so nice' });
    await client.deleteFeedback(id);
    await expect(client.readFeedback(id)).rejects.toThrow(/404/);
    expect((await platform.call('DELETE', `/feedback/${id}`)).status).toBe(404);
    expect((await platform.call('PATCH', `/feedback/${id}`, { json: { score: 1 } })).status).toBe(404);
  });

  it('is changed with keys that may write, and read with those that may read', async () => {
    const run = await send({ project: 'feedback by role', thread_id: null, from: 0 });
    const { id } = await client.createFeedback(run, 'kind', { score: 1 });
    const statuses = async (role: string): Promise<number[]> => {
      const { key } = (await platform.call('POST', '/api-key', { json: { role } })).body as { key: string };
      const request = async (method: string, json?: unknown) =>
        (await platform.call(method, `/feedback/${id}`, { key, json })).status;
      return [await request('GET'), await request('PATCH', { score: 0 }), await request('DELETE')];
    };
    expect(await statuses('ingest')).toEqual([403, 403, 403]);
    expect(await statuses('viewer')).toEqual([200, 403, 403]);
    expect(await statuses('editor')).toEqual([200, 200, 204]);
  });
});

// Reads of threads by the stock client: turns, statistics and groups.

let project_id: string;
const exactAt = (seconds: number): string => at(seconds).replace('Z', '000Z');
const usageOfCall = { input_tokens: 100, output_tokens: 20, total_tokens: 120, total_cost: 0.5 };

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
      outputs: { usage_metadata: usageOfCall },
      events: [{ name: 'new_token', time: at(from + 2) }],
    },
  ];
};

beforeAll(async () => {
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
