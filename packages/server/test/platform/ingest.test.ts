// Traces of stock tracers are stored and read back unchanged.
import { randomUUID } from 'node:crypto';
import { deploymentRoutes, platformRoutes, When } from '@svc/contract';
import { Client, RunTree } from 'langsmith';
import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { sql } from '../exports/export-tables.ts';
import { fixture } from '../fixture.ts';
import { startPlatform } from './platform-server.ts';

const platform = fixture(() => startPlatform());

const newClient = (options: ConstructorParameters<typeof Client>[0] = {}): Client =>
  new Client({ apiUrl: platform.apiUrl, apiKey: platform.key, ...options });

const read = async (id: string): Promise<Record<string, unknown>> => {
  const { status, body } = await platform.call('GET', `/runs/${id}`);
  expect(status).toBe(200);
  return body as Record<string, unknown>;
};

describe('POST /runs/batch', () => {
  it('stores runs that are read back unchanged', async () => {
    const id = randomUUID();
    const inputs = { text: 'a\u0000b\ud800c', list: [1, 2.5, null, { deep: true }] };
    const { status, body } = await platform.call('POST', '/runs/batch', {
      json: {
        post: [
          {
            id,
            trace_id: id,
            dotted_order: `20261121T080000123456Z${id}`,
            name: 'no\u0000name',
            run_type: 'chain',
            start_time: '2026-11-21T08:00:00.123456Z',
            inputs,
            extra: { runtime: { library: 'x' }, metadata: { thread_id: 't1', odd: 'x\u0000' } },
            tags: ['one', 'two'],
          },
        ],
        patch: [],
      },
    });
    expect(body).toEqual({ message: 'Runs were taken in' });
    expect(status).toBe(202);
    expect(await read(id)).toMatchObject({
      id,
      trace_id: id,
      name: 'no\u0000name',
      status: 'pending',
      start_time: '2026-11-21T08:00:00.123456Z',
      inputs,
      outputs: null,
      extra: { runtime: { library: 'x' }, metadata: { thread_id: 't1', odd: 'x\u0000' } },
      tags: ['one', 'two'],
      thread_id: 't1',
    });
  });
});

describe('the stock client', () => {
  it.each([true, false])('sends a tree of runs (batches: %s)', async (autoBatchTracing) => {
    const client = newClient({ autoBatchTracing });
    const root = new RunTree({
      name: 'root',
      run_type: 'chain',
      inputs: { question: 'why?' },
      project_name: 'trees',
      metadata: { session_id: 'conversation-1' },
      tags: ['test'],
      client,
    });
    await root.postRun();
    const child = root.createChild({ name: 'model', run_type: 'llm', inputs: { messages: [] } });
    await child.postRun();
    await client.flush();
    await child.end({
      usage_metadata: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
      text: 'because',
    });
    await child.patchRun();
    await root.end(undefined, 'it broke');
    await root.patchRun();
    await client.awaitPendingTraceBatches();
    const [stored, below] = [await read(root.id), await read(child.id)];
    expect(stored).toMatchObject({
      name: 'root',
      status: 'error',
      error: 'it broke',
      inputs: { question: 'why?' },
      thread_id: 'conversation-1',
      tags: ['test'],
      parent_run_id: null,
      trace_id: root.id,
    });
    expect(below).toMatchObject({
      status: 'success',
      parent_run_id: root.id,
      trace_id: root.id,
      total_tokens: 15,
      prompt_tokens: 10,
      session_id: stored['session_id'],
      outputs: { text: 'because', usage_metadata: { total_tokens: 15 } },
      parent_run_ids: [root.id],
    });
    const again = await client.readRun(root.id);
    expect(again.name).toBe('root');
    expect((await client.readProject({ projectName: 'trees' })).id).toBe(stored['session_id']);
  });
});

// Items of an ingest request that the database refuses: each is rejected alone, the others are stored, and later requests are served.

type Answer = { message: string; errors?: { id: string | null; message: string }[] };

type Part = [name: string, content: string, type?: string];

const boundary = 'xYz';

const multipart = (parts: readonly Part[]): string =>
  parts
    .map(
      ([name, content, type = 'application/json']) =>
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\n\r\n${content}\r\n`,
    )
    .join('') + `--${boundary}--\r\n`;

const send = async (parts: readonly Part[]): Promise<{ status: number; answer: Answer }> => {
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  const { status, body } = await platform.call('POST', '/runs/multipart', {
    body: multipart(parts),
    headers,
  });
  return { status, answer: body as Answer };
};

const run = (name = 'x'): { id: string; part: Part } => {
  const id = randomUUID();
  const start_time = new Date().toISOString();
  return {
    id,
    part: [`post.${id}`, JSON.stringify({ id, name, run_type: 'chain', start_time, inputs: {} })],
  };
};

const attachment = (id: string, name: string, type = 'image/png'): Part => [
  `attachment.${id}.${name}`,
  'hello',
  type,
];

const feedback = (run_id: string, key: string): { id: string; part: Part } => {
  const id = randomUUID();
  return { id, part: [`feedback.${id}`, JSON.stringify({ run_id, key })] };
};

const statusOf = async (path: string): Promise<number> => (await platform.call('GET', path)).status;

const refusedStatements = async (): Promise<number> => {
  const text = await (await fetch(`${platform.server.url}/metrics`)).text();
  return Number(/^svc_ingest_refused_statements_total (\d+)$/m.exec(text)?.[1]);
};

/** From now on the database refuses rows of the table whose column has the value "refused". */
const refuse = async (table: string, column: string, errcode = 'check_violation'): Promise<void> => {
  const { database: db } = platform.server;
  await sql(
    db,
    `create or replace function refuse_${table}() returns trigger language plpgsql as $$
      begin raise exception 'secret of the database' using errcode = '${errcode}'; end $$`,
  );
  await sql(
    db,
    `create or replace trigger refuse before insert on ${table} for each row
      when (new.${column} = 'refused') execute function refuse_${table}()`,
  );
};

/** As many ordinary batches as there are writers at most are stored. */
const storesBatches = async (): Promise<void> => {
  for (let count = 0; count < 4; count++) expect((await send([run().part])).status).toBe(202);
};

describe('a part that cannot be stored', () => {
  const hyphens = '-'.repeat(36);
  it.each<[string, () => Part[], RegExp]>([
    [
      'attachments of 36 hyphens',
      () => [attachment(hyphens, 'a0'), attachment(hyphens, 'a1')],
      /^an attachment must have the UUID of a run/,
    ],
    [
      'attachments whose Content-Type has a NUL',
      () => [attachment(randomUUID(), 'a0', 'image/p\0ng'), attachment(randomUUID(), 'a1', 'image/p\0ng')],
      /has a control character in its headers/,
    ],
    [
      'an attachment whose name has a NUL',
      () => [attachment(randomUUID(), 'a\0b')],
      /has a control character in its headers/,
    ],
    [
      'a run whose part has a NUL in its name',
      () => [[`post.${randomUUID()}\0`, '{}']],
      /has a control character in its headers/,
    ],
    [
      'feedback whose part has a NUL in its name',
      () => [[`feedback.${randomUUID()}\0`, '{}']],
      /has a control character in its headers/,
    ],
  ])('gets 422: %s', async (_, parts, message) => {
    const { status, answer } = await send(parts());
    expect(status).toBe(422);
    expect((answer as unknown as { detail: { msg: string }[] }).detail[0]?.msg).toMatch(message);
    await storesBatches();
  });
});

describe('an item that the database refuses', () => {
  it('is rejected alone if it is an attachment', async () => {
    await refuse('trace_attachments', 'name');
    const [one, other] = [run(), run()];
    const { status, answer } = await send([
      one.part,
      other.part,
      attachment(one.id, 'good'),
      attachment(one.id, 'refused'),
      attachment(other.id, 'good'),
    ]);
    expect(status).toBe(202);
    expect(answer.errors).toEqual([
      { id: one.id, message: 'its attachment "refused" contains a value that cannot be stored' },
    ]);
    expect(await statusOf(`/runs/${one.id}/attachments/good`)).toBe(200);
    expect(await statusOf(`/runs/${other.id}/attachments/good`)).toBe(200);
    await storesBatches();
  });

  it('is rejected alone if all items are attachments', async () => {
    await refuse('trace_attachments', 'name');
    const one = run();
    await send([one.part]);
    const { status, answer } = await send(['a', 'refused', 'b'].map((name) => attachment(one.id, name)));
    expect([status, answer.errors?.length]).toEqual([202, 1]);
    expect(await statusOf(`/runs/${one.id}/attachments/a`)).toBe(200);
    expect(await statusOf(`/runs/${one.id}/attachments/b`)).toBe(200);
  });

  it.each(['check_violation', 'program_limit_exceeded', 'raise_exception'])(
    'is rejected alone if it is a run, after %s',
    async (errcode) => {
      await refuse('trace_runs', 'name', errcode);
      const before = await refusedStatements();
      const runs = [run(), run(), run('refused'), run(), run()];
      const { status, answer } = await send(runs.map(({ part }) => part));
      expect(status).toBe(202);
      expect(answer.errors).toEqual([
        { id: runs[2]?.id, message: 'it contains a value that cannot be stored' },
      ]);
      const found = await Promise.all(runs.map(({ id }) => statusOf(`/runs/${id}`)));
      expect(found).toEqual([200, 200, 404, 200, 200]);
      expect((await refusedStatements()) - before).toBe(3);
    },
  );

  it('is rejected alone if it is feedback', async () => {
    await refuse('feedback', 'key');
    const one = run();
    const [a, bad, b] = [feedback(one.id, 'a'), feedback(one.id, 'refused'), feedback(one.id, 'b')];
    const { status, answer } = await send([one.part, a.part, bad.part, b.part]);
    expect(status).toBe(202);
    expect(answer.errors).toEqual([
      { id: bad.id, message: 'the feedback contains a value that cannot be stored' },
    ]);
    expect(await statusOf(`/feedback/${a.id}`)).toBe(200);
    expect(await statusOf(`/feedback/${b.id}`)).toBe(200);
  });

  it('does not reach the client with the text of the database', async () => {
    await refuse('trace_runs', 'name');
    const { status, answer } = await send([run('refused').part]);
    expect(status).toBe(422);
    expect(JSON.stringify(answer)).not.toContain('secret');
  });
});

describe('a batch of which the database refuses every run', () => {
  it('is not split without a bound', async () => {
    await refuse('trace_runs', 'name');
    const before = await refusedStatements();
    const { status } = await send(Array.from({ length: 1_000 }, () => run('refused').part));
    expect(status).toBe(422);
    expect((await refusedStatements()) - before).toBeLessThanOrEqual(120);
  });

  it('gets 500 when the reason is not its content, so that tracers keep it', async () => {
    await refuse('trace_runs', 'name', 'insufficient_privilege');
    const { status } = await send([run('refused').part, run('refused').part]);
    expect(status).toBe(500);
  });
});

// Every time in a request, of both APIs, follows one rule: ISO 8601, UTC without a zone, in the years 1 to 9999 UTC.

interface Def {
  format?: string;
  innerType?: z.ZodType;
  in?: z.ZodType;
}

const isTime = (schema: z.ZodType): boolean => {
  const { format, innerType, in: input } = schema.def as Def;
  const inner = innerType ?? input;
  return format === 'datetime' || (inner !== undefined && isTime(inner));
};

const timeKeys = (schema: unknown): string[] => {
  const shape = (schema as z.ZodObject | undefined)?.shape as Record<string, z.ZodType> | undefined;
  return Object.entries(shape ?? {}).flatMap(([key, value]) => (isTime(value) ? [key] : []));
};

interface Field {
  name: string;
  method: string;
  path: string;
  where: 'body' | 'query';
  key: string;
}

interface AnyRoute {
  method: string;
  path: string;
  body?: z.ZodType;
  query?: z.ZodType;
}

const fieldsOf = (routes: Record<string, AnyRoute>): Field[] =>
  Object.entries(routes).flatMap(([name, { method, path, body, query }]) => [
    ...timeKeys(body).map((key): Field => ({ name, method, path, where: 'body', key })),
    ...timeKeys(query).map((key): Field => ({ name, method, path, where: 'query', key })),
  ]);

const fields = [...fieldsOf(platformRoutes), ...fieldsOf(deploymentRoutes)];

/** The status, and whether the response names the field. */
const sent = async ({ method, path, where, key }: Field, time: string) => {
  const url = new URL(
    path.replaceAll(/:\w+/g, () => randomUUID()),
    platform.server.url,
  );
  if (where === 'query') url.searchParams.set(key, time);
  const headers = { 'content-type': 'application/json', 'x-api-key': platform.key };
  const body = where === 'body' ? { body: JSON.stringify({ [key]: time }) } : {};
  const response = await fetch(url, { method: method.toUpperCase(), headers, ...body });
  // A success may be a stream, which does not end.
  if (response.ok) await response.body?.cancel();
  const text = response.ok ? '' : await response.text();
  return { status: response.status, isNamed: text.includes(`["${where}","${key}"]`) };
};

describe('a time in a request', () => {
  it('is found in the contract', () => {
    expect(fields.length).toBeGreaterThan(30);
  });

  it.each(fields.map((field) => [`${field.where}.${field.key} of ${field.name}`, field] as const))(
    'is checked: %s',
    async (_, field) => {
      for (const bad of [
        'soon',
        '0000-01-01T00:00:00Z',
        '0001-01-01T00:00:00+01:00',
        '9999-12-31T23:59:59-01:00',
        '10000-01-01T00:00:00Z',
        '2026-02-30T00:00:00Z',
        '2026-01-01T00:00:00+25:00',
      ])
        expect(await sent(field, bad), bad).toEqual({ status: 422, isNamed: true });
      for (const good of ['0020-01-31T12:00:00Z', '2026-01-31T12:00:00', '2026-01-31T12:00:00.123456+14:00'])
        expect((await sent(field, good)).status, good).toBeLessThan(500);
    },
  );

  it.each([
    ['2026-01-31T12:00:00', '2026-01-31T12:00:00.000000Z'],
    ['2026-01-31T12:00', '2026-01-31T12:00:00.000000Z'],
    ['2026-01-31T12:00:00.123456789+02:30', '2026-01-31T09:30:00.123456Z'],
    ['0020-01-31T12:00:00Z', '0020-01-31T12:00:00.000000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000Z'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999Z'],
    ['9999-12-31T23:59:59+15:00', '9999-12-31T08:59:59.000000Z'],
  ])('is read in UTC: %s', (text, time) => {
    expect(When.parse(text)).toBe(time);
  });

  it('in a price may be in the year 20', async () => {
    const cost = { prompt_cost: '1', completion_cost: '1' };
    const json = { name: 'old', match_pattern: '^old$', start_time: '0020-01-31T12:00:00', ...cost };
    const { status, body } = await platform.call('POST', '/model-prices', { json });
    expect({ status, body }).toMatchObject({ status: 200, body: { start_time: '0020-01-31T12:00:00.000Z' } });
    const { body: prices } = await platform.call('GET', '/model-prices');
    expect(prices).toContainEqual(body);
  });

  it('in a cron without a zone is in UTC', async () => {
    const json = {
      assistant_id: 'chat',
      schedule: '0 0 1 1 *',
      input: {},
      end_time: '2999-01-31T12:00:00',
    };
    const response = await fetch(`${platform.server.url}/runs/crons`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(json),
    });
    const cron = (await response.json()) as { end_time: string };
    expect(response.status, JSON.stringify(cron)).toBe(200);
    expect(cron.end_time).toBe('2999-01-31T12:00:00.000Z');
  });
});
