// Pages of threads by cursor.
import { randomUUID } from 'node:crypto';
import type { Thread } from '@svc/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await createThreads();
});
afterAll(() => server[Symbol.asyncDispose]());

let group: string;
const create = async (): Promise<string> => {
  const { body } = await server.call('POST', '/threads', { metadata: { group } });
  return (body as Thread).thread_id;
};
/** Creates thirteen threads, and makes them the group that the searches below find. */
const createThreads = async (): Promise<void> => {
  group = randomUUID();
  // Threads that are created at once have the same time of creation.
  await Promise.all(Array.from({ length: 11 }, create));
  const [first, second] = await Promise.all([create(), create()]);
  await server.call('POST', `/threads/${first}/runs/wait`, { assistant_id: 'probe', input: { do: 'throw' } });
  await server.call('PATCH', `/threads/${second}`, { metadata: { later: true } });
};

interface Page {
  ids: string[];
  next: string | null;
  total: string | null;
  cursor: string | null;
}

const page = async (request: object): Promise<Page> => {
  const { status, headers, body } = await server.call('POST', '/threads/search', {
    metadata: { group },
    ...request,
  });
  expect(status).toBe(200);
  return {
    ids: (body as Thread[]).map(({ thread_id }) => thread_id),
    next: headers.get('x-pagination-next'),
    total: headers.get('x-pagination-total'),
    cursor: headers.get('x-pagination-cursor'),
  };
};

/** The ids of all pages, the first of which has no cursor. `between`: called after each page. */
const readAll = async (request: object, between: (page: Page) => unknown = () => undefined) => {
  const ids: string[] = [];
  for (let cursor: string | undefined; ;) {
    const found = await page({ ...request, ...(cursor === undefined ? {} : { cursor }) });
    ids.push(...found.ids);
    if (found.cursor === null) return ids;
    cursor = found.cursor;
    await between(found);
  }
};

describe('pages of threads by cursor', () => {
  it.each(['thread_id', 'status', 'created_at', 'updated_at', 'state_updated_at'])(
    'are in the order of one long page: by %s',
    async (sort_by) => {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom('asc', 'desc'),
          fc.integer({ min: 1, max: 15 }),
          async (sort_order, limit) => {
            const order = { sort_by, sort_order };
            const { ids } = await page({ ...order, limit: 100 });
            expect(ids).toHaveLength(13);
            expect(await readAll({ ...order, limit })).toEqual(ids);
          },
        ),
        { numRuns: 8 },
      );
    },
  );

  it('skip and repeat nothing when threads are created and deleted meanwhile', async () => {
    await createThreads();
    const { ids } = await page({ limit: 100 });
    const read = await readAll({ limit: 4 }, async ({ ids: shown }) => {
      await create();
      await server.call('DELETE', `/threads/${shown.at(-1)}`);
    });
    expect(read).toEqual(ids);
  });

  it('continue a search by values', async () => {
    await createThreads();
    const { body } = await server.call('POST', '/threads', { metadata: { group } });
    const { thread_id } = body as Thread;
    await server.call('POST', `/threads/${thread_id}/runs/wait`, {
      assistant_id: 'probe',
      input: { do: 'write', ms: 1 },
    });
    const search = { values: { out: 'wrote' }, limit: 1 };
    expect(await page(search)).toEqual({ ids: [thread_id], next: null, total: '1', cursor: null });
    const { cursor } = await page({ limit: 1 });
    const older = await page({ values: {}, limit: 100, cursor });
    expect(older.ids).toHaveLength(13);
    expect((await page({ ...search, cursor })).ids).toEqual([]);
    const newest = await page({ limit: 13, sort_order: 'asc' });
    expect((await page({ ...search, sort_order: 'asc', cursor: newest.cursor })).ids).toEqual([thread_id]);
  });

  it('have no total and no offset, which the first page has', async () => {
    await createThreads();
    const first = await page({ limit: 5 });
    expect(first).toMatchObject({ next: '5', total: '13' });
    const second = await page({ limit: 5, cursor: first.cursor });
    expect(second).toMatchObject({ next: null, total: null, cursor: expect.any(String) as string });
  });

  it('return only fields that are asked for', async () => {
    const { cursor } = await page({ limit: 5, select: ['thread_id'] });
    const { body } = await server.call('POST', '/threads/search', {
      metadata: { group },
      limit: 1,
      cursor,
      select: ['status'],
    });
    expect(body).toEqual([{ status: expect.any(String) as string }]);
  });
});

describe('a cursor', () => {
  const refusal = async (request: object) => {
    const { status, body } = await server.call('POST', '/threads/search', request);
    expect(status).toBe(422);
    return JSON.stringify(body);
  };

  it('that this server has not returned is refused', async () => {
    const texts = fc.oneof(
      fc.string({ minLength: 1, maxLength: 200 }),
      fc.json().map((text) => Buffer.from(text).toString('base64url')),
      fc
        .record({ v: fc.constantFrom(1, 2), t: fc.string(), id: fc.oneof(fc.string(), fc.uuid()) })
        .map((content) => Buffer.from(JSON.stringify(content)).toString('base64url')),
    );
    await fc.assert(
      fc.asyncProperty(
        // A longer one is refused for its length.
        texts.filter((text) => text !== '' && text.length <= 1_024),
        async (cursor) => {
          expect(await refusal({ cursor })).toContain('cursor must be one that this server has returned');
        },
      ),
      { numRuns: 40 },
    );
  });

  it('of another order is refused', async () => {
    const { cursor } = await page({ limit: 1, sort_by: 'updated_at' });
    expect(await refusal({ cursor, sort_by: 'created_at' })).toContain('another sort_by or sort_order');
    expect(await refusal({ cursor, sort_by: 'updated_at', sort_order: 'asc' })).toContain(
      'another sort_by or sort_order',
    );
  });

  it('is refused together with an offset', async () => {
    const { cursor } = await page({ limit: 1 });
    expect(await refusal({ cursor, offset: 1 })).toContain('offset cannot be combined with cursor');
  });
});
