import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../test/eventually.ts';
import { buffersOf, toBlocks } from './byte-blocks.ts';
import { requestLimits } from '../json/json-limits.ts';
import { ParserPool, type ParserPoolOptions } from './parser-pool.ts';
import type { JsonTasks, ParsedBody } from './json-task.ts';

const pools: ParserPool<JsonTasks>[] = [];
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool[Symbol.asyncDispose]();
});

const open = (options: Partial<ParserPoolOptions> = {}): { pool: ParserPool<JsonTasks>; ended: string[] } => {
  const ended: string[] = [];
  const logger = { warn: (fields: object) => void ended.push(JSON.stringify(fields)) };
  const pool = new ParserPool<JsonTasks>({ threads: 1, logger: logger as never, ...options });
  pools.push(pool);
  return { pool, ended };
};

const parse = (pool: ParserPool<JsonTasks>, text: string, limits = requestLimits): Promise<ParsedBody> => {
  const chunks = toBlocks([Buffer.from(text)]);
  return pool.run('json', { chunks, limits, textFields: ['input'], anyText: [] }, buffersOf(chunks));
};

const many = (count: number): string => `{"a":[${'{},'.repeat(count - 1)}{}]}`;

describe('a parser pool', () => {
  it('parses in a thread, with the same errors as in the main thread', async () => {
    const { pool } = open();
    expect(await parse(pool, '{"a":[1,"x"]}')).toMatchObject({ value: { a: [1, 'x'] }, texts: {} });
    await expect(parse(pool, '{"a":1,"a":2}')).rejects.toMatchObject({
      code: 'invalid',
      faults: [{ loc: ['body'], type: 'duplicate_key' }],
    });
    await expect(parse(pool, '{"a":')).rejects.toMatchObject({ code: 'bad_request' });
  });

  it('returns stored members as text', async () => {
    const { pool } = open();
    const input = { text: 'x'.repeat(10_000), small: 1.5 };
    const { value, texts } = await parse(pool, JSON.stringify({ input, other: true }, undefined, 1));
    expect(value).toEqual({ other: true });
    expect(texts).toEqual({ input: JSON.stringify(input) });
  });

  it('returns many values as text, because parsing text is faster than copying values', async () => {
    const { pool } = open();
    const { value, json } = await parse(pool, many(10_000));
    expect(value).toBeUndefined();
    expect(JSON.parse(json ?? '')).toEqual(JSON.parse(many(10_000)));
  });

  it('executes every task, however many wait', async () => {
    const { pool } = open({ threads: 2 });
    const parsed = await Promise.all(Array.from({ length: 40 }, (_, at) => parse(pool, `{"at":${at}}`)));
    expect(parsed.map(({ value }) => value)).toEqual(Array.from({ length: 40 }, (_, at) => ({ at })));
  });

  it('rejects tasks that wait too long', async () => {
    const { pool } = open({ waitingMax: 3 });
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => parse(pool, '{}')));
    const refused = answers.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(6);
    for (const answer of refused) expect(answer).toMatchObject({ reason: { code: 'unavailable' } });
  });

  it("continues in a new thread after a body that exceeds the thread's memory", async () => {
    const { pool, ended } = open({ heapMb: 12 });
    const limits = { ...requestLimits, valuesMax: 1e9, keysMax: 1e9 };
    await expect(parse(pool, many(1_000_000), limits)).rejects.toMatchObject({
      code: 'too_large',
      message: expect.stringContaining('12 MB') as string,
    });
    expect(await parse(pool, '{"next":1}')).toMatchObject({ value: { next: 1 } });
    await eventually(() => {
      expect(ended).toHaveLength(1);
    });
  });

  it('continues in a new thread after a body that exceeds the time limit', async () => {
    const { pool } = open({ timeoutMs: 1 });
    await expect(parse(pool, '{}')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('0.001 seconds') as string,
    });
    const { pool: patient } = open();
    expect(await parse(patient, '{"next":1}')).toMatchObject({ value: { next: 1 } });
  });

  it('rejects running tasks when it is closed', async () => {
    const { pool } = open();
    const parsing = [parse(pool, '{}'), parse(pool, '{}')].map((one) => one.catch((error: unknown) => error));
    await pool[Symbol.asyncDispose]();
    for (const error of await Promise.all(parsing)) expect(error).toMatchObject({ code: 'unavailable' });
    await expect(parse(pool, '{}')).rejects.toMatchObject({ code: 'unavailable' });
  });
});
