// Version 2 of the reads of the stock client: selected fields of trace runs and traces.
import { randomUUID } from 'node:crypto';
import type { Project } from '@svc/contract';
import { Client } from 'langsmith';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { traceStorage } from '../../src/storage/tracing/traces.ts';
import { fixture } from '../fixture.ts';
import { startPlatform } from './platform-server.ts';

const platform = fixture(() => startPlatform({ encryptionKey: 'ab'.repeat(32) }));
const client = fixture(() => new Client({ apiUrl: platform.apiUrl, apiKey: platform.key }));

let project_id: string;
const root = randomUUID();
const model = randomUUID();
const old = randomUUID();
const startMs = Date.now() - 60_000;
const at = (seconds: number): string => new Date(startMs + seconds * 1_000).toISOString();
const usage = { input_tokens: 100, output_tokens: 20, total_tokens: 120, total_cost: 0.5 };

const toArray = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
};

beforeAll(async () => {
  const session_name = 'reads';
  const post = [
    {
      id: root,
      session_name,
      name: 'agent',
      run_type: 'chain',
      start_time: at(0),
      end_time: at(2.5),
      inputs: { messages: [{ role: 'user', content: 'two\nlines' }] },
      outputs: { answer: 'yes' },
      tags: ['t'],
      extra: { metadata: { thread_id: 'talk', customer: 7 }, runtime: { sdk: 'x' } },
    },
    {
      id: model,
      trace_id: root,
      parent_run_id: root,
      session_name,
      name: 'model',
      run_type: 'llm',
      start_time: at(1),
      error: 'overloaded',
      end_time: at(2),
      outputs: { usage_metadata: usage },
      events: [{ name: 'new_token', time: at(1.5) }],
    },
    { id: old, session_name, name: 'old', start_time: at(-3 * 86_400), end_time: at(-3 * 86_400) },
  ];
  // Written with line breaks, as clients may do.
  const body = JSON.stringify({ post }, null, 1);
  const headers = { 'content-type': 'application/json' };
  expect((await platform.call('POST', '/runs/batch', { body, headers })).status).toBe(202);
  const { body: projects } = await platform.call('GET', '/sessions?name=reads');
  project_id = (projects as Project[])[0]?.id ?? '';
  await client.createFeedback(root, 'kind', { score: 1, sessionId: project_id });
});

describe('runs.queryV2 and runs.retrieveV2', () => {
  it('return only the id when nothing is selected, and start a day ago by default', async () => {
    const runs = await toArray(client.runs.queryV2({ project_ids: [project_id] }));
    expect(runs).toEqual([{ id: model }, { id: root }]);
    const all = await toArray(
      client.runs.queryV2({ project_ids: [project_id], min_start_time: at(-9 * 86_400) }),
    );
    expect(all).toHaveLength(3);
  });

  it('return the names of attachments, with links that return their contents without a key', async () => {
    const form = new FormData();
    for (const name of ['a/b.txt', 'picture'])
      form.append(`attachment.${model}.${name}`, new Blob([`content of ${name}`], { type: 'text/plain' }));
    const headers = { 'x-api-key': platform.key };
    const sent = await fetch(`${platform.apiUrl}/runs/multipart`, { method: 'POST', body: form, headers });
    expect(sent.status, await sent.text()).toBe(202);
    const selects = ['ATTACHMENTS'] as const;
    const [second, first] = await toArray(
      client.runs.queryV2({ project_ids: [project_id], selects: [...selects] }),
    );
    expect(first).toEqual({ id: root });
    const links = Object.entries(second?.attachments ?? {});
    expect(links.map(([name]) => name)).toEqual(['a/b.txt', 'picture']);
    for (const [name, link] of links) {
      const file = await fetch(link);
      expect(await file.text()).toBe(`content of ${name}`);
      expect(Object.fromEntries(file.headers)).toMatchObject({
        'content-type': 'text/plain',
        // A page that somebody has attached must not execute as a page of this server.
        'content-disposition': 'attachment',
      });
    }
    const file = { presigned_url: expect.stringMatching(/^http/) as unknown, mime_type: 'text/plain' };
    const s3_urls = { 'attachment.a/b.txt': file, 'attachment.picture': file };
    expect((await platform.call('GET', `/runs/${model}`)).body).toMatchObject({ s3_urls });
    const query = { id: [root, model], select: ['s3_urls'] };
    const { body } = await platform.call('POST', '/runs/query', { json: query });
    expect(body).toMatchObject({
      runs: [
        { id: model, s3_urls },
        { id: root, s3_urls: null },
      ],
    });
  });

  it('return links to attachments whose stored content type is no content type', async () => {
    const types = { empty: '', unicode: 'text/\u2192' };
    const parts = Object.entries(types).map(
      ([name, type]) =>
        `--x\r\nContent-Disposition: form-data; name="attachment.${old}.${name}"\r\nContent-Type: ${type}\r\n\r\nodd\r\n`,
    );
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const body = Buffer.from(`${parts.join('')}--x--\r\n`);
    expect((await platform.call('POST', '/runs/multipart', { headers, body })).status).toBe(202);
    const { s3_urls } = (await platform.call('GET', `/runs/${old}`)).body as {
      s3_urls: Record<string, { presigned_url: string }>;
    };
    for (const name of Object.keys(types)) {
      const file = await fetch(s3_urls[`attachment.${name}`]?.presigned_url ?? '');
      expect([await file.text(), file.headers.get('content-type')]).toEqual([
        'odd',
        'application/octet-stream',
      ]);
    }
  });

  it('return fewer links for each trace run of a long page', async () => {
    await platform.server.database.script(`
      insert into trace_attachments (tenant_id, day, run_id, name, content_type, content)
      select d.tenant_id, d.day, d.id, 'many ' || n, 'text/plain', '' from trace_run_days d, generate_series(1, 150) n
      where d.id = '${old}'`);
    const { attachmentsOf } = traceStorage(platform.server.database);
    const linksBeside = async (others: number): Promise<number> => {
      const ids = [old, ...Array.from({ length: others }, () => randomUUID())];
      return (await attachmentsOf(platform.workspace_id, ids)).length;
    };
    expect(await linksBeside(0)).toBeGreaterThanOrEqual(150);
    expect(await linksBeside(99)).toBe(100);
  });

  it('refuse links to attachments that were changed or have expired', async () => {
    const { body } = await platform.call('GET', `/runs/${model}`);
    const { s3_urls } = body as { s3_urls: Record<string, { presigned_url: string }> };
    const link = s3_urls['attachment.picture']?.presigned_url ?? '';
    // Not the last character: some of its bits are not used.
    const changed = await fetch(link.replace(/.(?=.{4}$)/, (one) => (one === 'A' ? 'B' : 'A')));
    expect(changed.status).toBe(404);
    expect(await changed.text()).toContain('Link to an attachment');
    vi.useFakeTimers({ now: Date.now() + 3_600_001, toFake: ['Date'] });
    const expired = await fetch(link).finally(() => vi.useRealTimers());
    expect(expired.status).toBe(404);
    expect((await fetch(link)).status).toBe(200);
  });

  it('return selected fields in the format of version 2', async () => {
    const selects = [
      ...(['NAME', 'RUN_TYPE', 'STATUS', 'LATENCY_SECONDS', 'ERROR', 'TOTAL_TOKENS', 'TOTAL_COST'] as const),
      ...(['METADATA', 'EXTRA', 'INPUTS_PREVIEW', 'OUTPUTS', 'IS_ROOT', 'PROJECT_ID', 'THREAD_ID'] as const),
      ...(['TAGS', 'PARENT_RUN_IDS', 'FEEDBACK_STATS', 'FIRST_TOKEN_TIME', 'SHARE_URL'] as const),
    ];
    const [second, first] = await toArray(client.runs.queryV2({ project_ids: [project_id], selects }));
    expect(first).toEqual({
      id: root,
      name: 'agent',
      run_type: 'CHAIN',
      status: 'SUCCESS',
      latency_seconds: 2.5,
      metadata: { thread_id: 'talk', customer: 7 },
      extra: { metadata: { thread_id: 'talk', customer: 7 }, runtime: { sdk: 'x' } },
      inputs_preview: 'two\nlines',
      outputs: { answer: 'yes' },
      is_root: true,
      project_id,
      thread_id: 'talk',
      tags: ['t'],
      parent_run_ids: [],
      feedback_stats: { kind: { n: 1, avg: 1 } },
    });
    expect(second).toMatchObject({
      id: model,
      run_type: 'LLM',
      status: 'ERROR',
      error: 'overloaded',
      total_tokens: 120,
      total_cost: 0.5,
      parent_run_ids: [root],
    });
    expect(await client.runs.retrieveV2(root, { project_id, selects })).toEqual(first);
    const summed = client.runs.queryV2({
      ids: [root],
      project_ids: [project_id],
      selects: ['TOTAL_TOKENS'],
      include_subtree_usage: true,
    });
    expect(await toArray(summed)).toEqual([{ id: root, total_tokens: 120 }]);
  });

  it('filter, and continue by their cursor', async () => {
    const query = (more: object) => toArray(client.runs.queryV2({ project_ids: [project_id], ...more }));
    expect(await query({ has_error: true })).toEqual([{ id: model }]);
    expect(await query({ run_type: 'LLM' })).toEqual([{ id: model }]);
    expect(await query({ is_root: true, filter: 'has(tags, "t")' })).toEqual([{ id: root }]);
    expect(await query({ trace_id: root, page_size: 1 })).toEqual([{ id: model }, { id: root }]);
    const streamed = client.runs.streaming.queryV2Items({
      project_ids: [project_id],
      selects: ['INPUTS'],
      page_size: 1,
    });
    expect((await toArray(streamed)).map(({ id }) => id)).toEqual([model, root]);
  });

  it('refuse what they do not have, and projects that do not own the run', async () => {
    await expect(client.runs.retrieveV2(root, { project_id: randomUUID() })).rejects.toMatchObject({
      status: 404,
    });
    const refused = async (body: object) =>
      (await platform.call('POST', '/api/v2/runs/query', { json: body })).status;
    expect(await refused({})).toBe(422);
    expect(await refused({ project_ids: [project_id], ai_search: 'angry users' })).toBe(422);
    expect(await refused({ project_ids: [project_id], selects: ['SECRETS'] })).toBe(422);
    expect(await refused({ project_ids: [project_id], cursor: 'x' })).toBe(422);
    expect(await refused({ project_ids: [project_id], page_size: 101 })).toBe(422);
  });
});

describe('traces.query and traces.listRuns', () => {
  it('return roots with totals of their traces', async () => {
    const selects = ['NAME', 'TOTAL_TOKENS', 'TOTAL_COST', 'FIRST_TOKEN_TIME'] as const;
    const traces = await toArray(client.traces.query({ project_id, selects: [...selects] }));
    expect(traces).toEqual([
      {
        root_run: { id: root, name: 'agent' },
        trace_aggregates: {
          total_tokens: 120,
          total_cost: 0.5,
          first_token_time: at(1.5).replace('Z', '000Z'),
        },
      },
    ]);
    expect(await toArray(client.traces.query({ project_id, tree_filter: 'eq(status, "error")' }))).toEqual([
      { root_run: { id: root } },
    ]);
    expect(await toArray(client.traces.query({ project_id, trace_filter: 'eq(status, "error")' }))).toEqual(
      [],
    );
    expect(await toArray(client.traces.query({ project_id, trace_ids: [randomUUID()] }))).toEqual([]);
  });

  it('list the runs of a trace, oldest first', async () => {
    const { items } = await client.traces.listRuns(root, { project_id, selects: ['NAME', 'RUN_TYPE'] });
    expect(items).toEqual([
      { id: root, name: 'agent', run_type: 'CHAIN' },
      { id: model, name: 'model', run_type: 'LLM' },
    ]);
    const models = await client.traces.listRuns(root, { project_id, filter: 'eq(run_type, "llm")' });
    expect(models.items).toEqual([{ id: model }]);
    expect((await client.traces.listRuns(root, { project_id: randomUUID() })).items).toEqual([]);
  });
});
