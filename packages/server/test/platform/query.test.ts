// Queries of runs over HTTP.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { startPlatform } from './platform-server.ts';
import { fixture } from '../fixture.ts';

const platform = fixture(() => startPlatform());
const [root, model, tool] = [randomUUID(), randomUUID(), randomUUID()];
const other = randomUUID();

beforeAll(async () => {
  const at = (seconds: number): string => new Date(Date.now() - 60_000 + seconds * 1_000).toISOString();
  const run = (id: string, from: number, to: number | null, more: object): object => ({
    id,
    start_time: at(from),
    ...(to === null ? {} : { end_time: at(to) }),
    ...more,
  });
  const labels = { metadata: { thread_id: 't-1', customer: 'acme' } };
  const post = [
    run(root, 0, 10, {
      name: 'agent',
      run_type: 'chain',
      tags: ['prod'],
      inputs: { q: 'why?' },
      extra: labels,
    }),
    run(model, 1, 3, {
      name: 'model',
      run_type: 'llm',
      parent_run_id: root,
      outputs: { usage_metadata: { input_tokens: 100, output_tokens: 20, total_tokens: 120 } },
    }),
    run(tool, 4, 5, { name: 'tool', run_type: 'tool', parent_run_id: root, error: 'Timeout' }),
    run(other, 6, null, { name: 'agent', run_type: 'chain' }),
  ];
  expect((await platform.call('POST', '/runs/batch', { json: { post } })).status).toBe(202);
});

interface Page {
  runs: { id: string; [field: string]: unknown }[];
  cursors: { next: string | null };
}

const query = async (json: object): Promise<Page> => {
  const { status, body } = await platform.call('POST', '/runs/query', { json });
  expect(body).toMatchObject({ runs: expect.any(Array) });
  expect(status).toBe(200);
  return body as Page;
};

const found = async (json: object): Promise<string[]> => (await query(json)).runs.map((run) => run.id);

describe('a query', () => {
  it.each([
    ['a filter', { filter: 'and(eq(run_type, "chain"), gt(latency, "5s"))' }, [root]],
    [
      'a filter on metadata',
      { filter: 'and(eq(metadata_key, "customer"), eq(metadata_value, "acme"))' },
      [root],
    ],
    ['a filter of the root', { trace_filter: 'has(tags, "prod")' }, [tool, model, root]],
    ['a filter of the tree', { is_root: true, tree_filter: 'neq(error, null)' }, [root]],
    ['the parent', { parent_run: root }, [tool, model]],
    ['the type', { run_type: 'llm' }, [model]],
    ['errors', { error: true }, [tool]],
    ['no errors', { error: false, is_root: true }, [other, root]],
  ])('finds runs by %s', async (_, json, wanted) => {
    expect(await found(json)).toEqual(wanted);
  });

  it('continues at the end of a page, in either order', async () => {
    for (const order of ['asc', 'desc'] as const) {
      const ids: string[] = [];
      let cursor: string | null = null;
      do {
        const page = await query({ order, limit: 1, filter: 'neq(name, "model")', cursor });
        ids.push(...page.runs.map((run) => run.id));
        cursor = page.cursors.next;
      } while (cursor !== null);
      const wanted = [root, tool, other];
      expect(ids).toEqual(order === 'asc' ? wanted : wanted.toReversed());
    }
  });

  it('returns the fields that are selected', async () => {
    const { runs } = await query({ trace: root, is_root: true, select: ['name', 'inputs', 'no_such_field'] });
    expect(runs).toMatchObject([{ id: root, name: 'agent', inputs: { q: 'why?' } }]);
    expect(runs[0]).not.toHaveProperty('outputs');
    expect(runs[0]).not.toHaveProperty('no_such_field');
    const extra = (await query({ trace: root, is_root: true, select: ['extra'] })).runs[0]?.['extra'];
    expect(extra).toMatchObject({ metadata: { customer: 'acme' } });
  });

  it.each([
    ['filter', `${'not('.repeat(1_000)}eq(name, "x")${')'.repeat(1_000)}`, 'nested deeper than 64 levels'],
    ['trace_filter', 'eq(nam, "x")', 'at character 4'],
    ['tree_filter', 'eq(name, "x"', 'at character 13'],
  ])('with an invalid %s is rejected with a message', async (name, text, message) => {
    const { status, body } = await platform.call('POST', '/runs/query', { json: { [name]: text } });
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain(message);
    expect(body).toMatchObject({ detail: [{ loc: ['body', name] }] });
  });
});
