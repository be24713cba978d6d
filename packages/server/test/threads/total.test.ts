// The number of matches that a page of threads reports.
import { randomUUID } from 'node:crypto';
import { threadCountMax } from '@svc/contract';
import { beforeAll, describe, expect, it } from 'vitest';
import { startTestServer } from '../server.ts';
import { fixture } from '../fixture.ts';

const group = randomUUID();
const count = threadCountMax + 9;

const server = fixture(() => startTestServer({ executors: 'none' }));
beforeAll(async () => {
  await server.database.query(
    {
      name: 'seed_threads',
      text: `insert into threads (thread_id, blob_space, metadata)
        select id, id, jsonb_build_object('group', $1::text)
        from (select gen_random_uuid() as id from generate_series(1, $2::integer)) t`,
    },
    [group, count],
  );
});

const page = async (limit: number, offset: number, metadata: object = { group }) => {
  const { headers } = await server.call('POST', '/threads/search', { metadata, limit, offset });
  return [headers.get('x-pagination-total'), headers.get('x-pagination-next')];
};

describe('the total of a page of threads', () => {
  it('counts no further than a bound, and says that there are more', async () => {
    expect(await page(10, 0)).toEqual([String(threadCountMax + 1), '10']);
  });

  it('counts to the end of the page, and no further', async () => {
    expect(await page(5, threadCountMax)).toEqual([String(threadCountMax + 6), String(threadCountMax + 5)]);
    expect(await page(9, threadCountMax)).toEqual([String(count), null]);
    expect(await page(10, 2 * threadCountMax)).toEqual([String(count), null]);
  });

  it('is exact below the bound', async () => {
    const lone = randomUUID();
    await server.call('POST', '/threads', { metadata: { lone } });
    expect(await page(10, 0, { lone })).toEqual(['1', null]);
  });

  it('is exact when only the number is asked for', async () => {
    expect((await server.call('POST', '/threads/count', { metadata: { group } })).body).toBe(count);
  });
});
