// How many unfinished exports a workspace may have.
import { expect, it } from 'vitest';
import { scaled } from '../speed.ts';
import { newDestination, newExport, newProject, sample, sql } from './export-fixtures.ts';
import { startPlatform } from './platform-server.ts';

it(
  'an export is rejected above ten thousand unfinished exports',
  async () => {
    await using small = await startPlatform({ exportSlots: '0' });
    const body = sample(await newDestination(small), await newProject(small));
    const { id } = await newExport(small, body);
    await sql(
      small,
      `insert into exports select (jsonb_populate_record(e, jsonb_build_object('id', gen_random_uuid()))).*
      from exports e, generate_series(2, 10000) where e.id = $1`,
      [id],
    );
    const refused = await small.call('POST', '/bulk-exports', { json: body });
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(refused.headers.get('retry-after')).toBe('60');
    const all = await small.call('GET', '/bulk-exports');
    expect(all.body).toHaveLength(10_000);
    await small.call('PATCH', `/bulk-exports/${id}`, { json: { status: 'Cancelled' } });
    expect(await small.call('POST', '/bulk-exports', { json: body })).toMatchObject({ status: 200 });
    expect(await small.call('GET', '/bulk-exports')).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', 'limit'] }] },
    });
    expect((await small.call('GET', '/bulk-exports?limit=1000&offset=10000')).body).toHaveLength(1);
  },
  scaled(60_000),
);
