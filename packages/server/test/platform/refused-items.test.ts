// Items of an ingest request that the database refuses: each is rejected alone, the others are stored, and later requests are served.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sql } from '../exports/export-tables.ts';
import { startPlatform, type PlatformServer } from './platform-server.ts';

let platform: PlatformServer;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform[Symbol.asyncDispose]());

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
