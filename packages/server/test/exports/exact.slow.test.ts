// A file has the same values for a trace run as the API.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FormatVersion, TraceRun } from '@svc/contract';
import { startPlatform } from '../platform/platform-server.ts';
import { openFolder, scopeOf, defaultShape } from './files.ts';
import { fixture } from '../fixture.ts';

const platform = fixture(() => startPlatform());
const folder = fixture(() => openFolder(platform.server.database));

type Row = Record<string, unknown>;

/** Sends trace runs to a new project; returns them as the API and a file have them, in the order of the file. */
const bothOf = async (runs: object[], format_version: FormatVersion = 'v1'): Promise<[TraceRun[], Row[]]> => {
  const session_id = randomUUID();
  const post = runs.map((run) => ({ session_id, ...run }));
  const sent = await platform.call('POST', '/runs/batch', { json: { post, patch: [] } });
  expect(sent).toMatchObject({
    status: 202,
    body: expect.not.objectContaining({ errors: expect.anything() }),
  });
  const fromApi: TraceRun[] = [];
  for (let cursor: string | undefined; ;) {
    const { body } = await platform.call('POST', '/runs/query', {
      json: { session: [session_id], order: 'asc', limit: 100, ...(cursor ? { cursor } : {}) },
    });
    const page = body as { runs: TraceRun[]; cursors: { next: string | null } };
    fromApi.push(...page.runs);
    if (page.cursors.next === null) break;
    cursor = page.cursors.next;
  }
  const file = await folder.write({
    scope: scopeOf({ tenant_id: platform.workspace_id, session_id }),
    shape: { ...defaultShape, format_version },
  });
  return [fromApi, file ? ((await folder.read(file)).rows as Row[]) : []];
};

const json = (text: unknown): unknown => (text === null ? null : JSON.parse(text as string));

/** Texts in files are UTF-8, which cannot represent unpaired surrogates. */
const plain = (text: string | null): string | null => (text === null ? null : Buffer.from(text).toString());

const time = (text: string | null): string | null => text;

/** The expected row of a trace run. */
const expected = (run: TraceRun): Row => ({
  id: run.id,
  tenant_id: platform.workspace_id,
  session_id: run.session_id,
  trace_id: run.trace_id,
  parent_run_id: run.parent_run_id,
  parent_run_ids: run.parent_run_ids,
  reference_example_id: run.reference_example_id,
  name: plain(run.name),
  run_type: plain(run.run_type),
  start_time: time(run.start_time),
  end_time: time(run.end_time),
  first_token_time: time(run.first_token_time),
  status: run.status,
  is_root: run['is_root'],
  dotted_order: run.dotted_order,
  trace_tier: null,
  inputs: run.inputs,
  outputs: run.outputs,
  events: run.events,
  extra: run.extra,
  error: plain(run.error),
  tags: run.tags,
  total_tokens: run.total_tokens,
  prompt_tokens: run.prompt_tokens,
  completion_tokens: run.completion_tokens,
  total_cost: run.total_cost === null ? null : Number(run.total_cost),
  prompt_cost: run.prompt_cost === null ? null : Number(run.prompt_cost),
  completion_cost: run.completion_cost === null ? null : Number(run.completion_cost),
  thread_id: plain(run.thread_id),
  prompt_token_details: run['prompt_token_details'],
  completion_token_details: run['completion_token_details'],
});

const jsonColumns = [
  'inputs',
  'outputs',
  'events',
  'extra',
  'tags',
  'parent_run_ids',
  'prompt_token_details',
  'completion_token_details',
];

/** A row of version 1 with its JSON columns parsed. */
const readRow = (row: Row): Row => {
  const { feedback_stats, latency_ms, metadata, session_name, inserted_at, updated_at, ...rest } = row;
  expect({ feedback_stats, session_name }).toEqual({ feedback_stats: null, session_name: null });
  expect(json(metadata)).toEqual((json(rest['extra']) as { metadata?: object } | null)?.metadata ?? {});
  const [start, end] = [rest['start_time'], rest['end_time']].map((at) => Date.parse(String(at)));
  if (rest['end_time'] === null) expect(latency_ms).toBe(null);
  else expect(Math.abs((latency_ms as number) - ((end ?? 0) - (start ?? 0)))).toBeLessThan(1.1);
  expect(String(updated_at) >= String(inserted_at)).toBe(true);
  return { ...rest, ...Object.fromEntries(jsonColumns.map((name) => [name, json(rest[name])])) };
};

// Any code unit, including NUL, unpaired surrogates and the escape character of the exact encoding.
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc
    .array(fc.constantFrom('\0', '\uD83D', '\uDE00', '\u{10FFFF}', 'ä', '"', '\\', '\u2028', '😀', 'ffff'), {
      maxLength: 5,
    })
    .map((parts) => parts.join('')),
);
const object = fc.dictionary(text, fc.oneof(text, fc.jsonValue({ maxDepth: 3 })), { maxKeys: 4 });
const micros = fc.integer({ min: 0, max: 999_999 }).map((value) => String(value).padStart(6, '0'));
const when = fc
  .tuple(
    fc.constantFrom(
      '1970-01-01T00:00:00',
      '2100-12-31T23:59:59',
      '1969-12-31T23:59:59',
      '2026-11-20T12:00:00',
    ),
    micros,
  )
  .map(([second, fraction]) => `${second}.${fraction}Z`);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const tokens = fc.record({
  input_tokens: fc.nat(1e9),
  output_tokens: fc.nat(1e9),
  total_tokens: fc.nat(2e9),
  input_cost: fc.constantFrom(0, 1e-9, 0.000_25, 12.5),
  input_token_details: maybe(fc.constant({ cache_read: 5 })),
});
const anyRun = fc.record({
  id: fc.uuid({ version: 4 }),
  name: maybe(text),
  run_type: maybe(fc.constantFrom('llm', 'tool', 'chain')),
  start_time: when,
  end_time: maybe(when),
  inputs: maybe(fc.oneof(object, fc.constant({}))),
  outputs: maybe(
    fc
      .tuple(object, maybe(tokens))
      .map(([value, usage_metadata]) => ({ ...value, ...(usage_metadata ? { usage_metadata } : {}) })),
  ),
  error: maybe(text.filter((value) => value !== '')),
  events: maybe(fc.array(object, { maxLength: 2 })),
  tags: maybe(fc.array(text, { maxLength: 3 })),
  extra: maybe(
    fc.record({
      metadata: maybe(
        fc.oneof(
          object,
          fc.constant({ thread_id: 'x\u0000y' }),
          fc.constant({ long: 'é'.repeat(3_000), a: 1 }),
        ),
      ),
      runtime: maybe(object),
    }),
  ),
  reference_example_id: maybe(fc.uuid({ version: 4 })),
});

describe('a file of an export', () => {
  it('has the values of the API for every trace run', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(anyRun, { selector: (run) => run.id, maxLength: 12 }), async (runs) => {
        const [fromApi, rows] = await bothOf(runs);
        expect(rows.map(readRow)).toEqual(fromApi.map(expected));
      }),
      { numRuns: 25 },
    );
  });

  it('has list columns in version 2, and null where the API has null', async () => {
    const [root, child] = [randomUUID(), randomUUID()];
    const start = '2026-11-20T10:00:00.000001Z';
    const segment = (id: string): string => `20261120T100000000001Z${id}`;
    const [fromApi, rows] = await bothOf(
      [
        {
          id: root,
          trace_id: root,
          dotted_order: segment(root),
          name: 'r',
          run_type: 'chain',
          start_time: start,
          tags: ['a', 'b\uD83D', '\0'],
        },
        {
          id: child,
          trace_id: root,
          parent_run_id: root,
          dotted_order: `${segment(root)}.${segment(child)}`,
          name: 'c',
          run_type: 'llm',
          start_time: start,
        },
      ],
      'v2_beta',
    );
    const lists = Object.fromEntries(
      rows.map(({ id, tags, parent_run_ids }) => [id, { tags, parent_run_ids }]),
    );
    expect(lists).toEqual({
      [root]: { tags: ['a', 'b\uFFFD', '\0'], parent_run_ids: [] },
      [child]: { tags: [], parent_run_ids: [root] },
    });
    expect(fromApi.find((run) => run.id === child)?.parent_run_ids).toEqual([root]);
  });

  it('has payloads of many megabytes, and deeply nested ones', async () => {
    const deep = JSON.parse(`${'['.repeat(400)}1${']'.repeat(400)}`) as unknown;
    const long = 'pay\u00e4😀"\\\n'.repeat(1_000_000);
    const [fromApi, rows] = await bothOf([
      {
        id: randomUUID(),
        name: 'long',
        run_type: 'llm',
        start_time: '2026-11-20T10:00:00Z',
        inputs: { long },
      },
      {
        id: randomUUID(),
        name: 'deep',
        run_type: 'llm',
        start_time: '2026-11-20T10:00:01Z',
        inputs: { deep },
      },
    ]);
    expect(rows.map((row) => json(row['inputs']))).toEqual([{ long }, { deep }]);
    expect(rows.map(readRow)).toEqual(fromApi.map(expected));
  });

  it('has the feedback of a trace run, and the name of its project', async () => {
    const id = randomUUID();
    const start_time = '2026-11-20T10:00:00Z';
    await platform.call('POST', '/runs', {
      json: { id, name: 'r', run_type: 'llm', start_time, session_name: 'named \0' },
    });
    const { body } = await platform.call('GET', `/runs/${id}`);
    const { session_id } = body as { session_id: string };
    for (const feedback of [
      { key: 'good', score: 1 },
      { key: 'good', score: 0.5 },
      { key: 'odd', value: 'x' },
    ])
      await platform.call('POST', '/feedback', { json: { run_id: id, ...feedback } });
    const file = await folder.write({ scope: scopeOf({ tenant_id: platform.workspace_id, session_id }) });
    const { rows } = await folder.read(file ?? expect.fail('no file'));
    expect(rows.map(({ feedback_stats, session_name }) => [json(feedback_stats), session_name])).toEqual([
      [{ good: { n: 2, avg: 0.75 }, odd: { n: 1, avg: null } }, 'named \0'],
    ]);
  });
});
