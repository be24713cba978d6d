// Large responses reserve memory while they are read; small ones do not wait.
import { expect, it } from 'vitest';
import { RequestMemory } from '../../src/parsing/request-memory.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { storeItemStorage } from '../../src/storage/deployment/store/store-items.ts';
import { testDatabase } from '../database.ts';
import { fixture } from '../fixture.ts';

const mb = 1_048_576;

const db = fixture(() => testDatabase());

it('a page of more than a megabyte waits for memory, and releases it afterwards', async () => {
  const memory = new RequestMemory({ bytesMax: 4 * mb, waitMs: 100 });
  const items = storeItemStorage(db, { pageBytes: 4 * mb, valueBytes: 16 * mb, memory });
  for (let at = 0; at < 8; at++) {
    const value = { text: 'x'.repeat(900_000) };
    await items.put({ namespace: ['large'], key: `k${at}`, value }, everyRow);
    await items.put({ namespace: ['small'], key: `k${at}`, value: { at } }, everyRow);
  }
  const search = async (prefix: string): Promise<[rows: number, isCut: boolean]> => {
    const page = await items.search({ prefix: [prefix], limit: 100, offset: 0 }, everyRow);
    return [page.rows.length, page.isCut];
  };
  const release = await memory.hold(4 * mb);
  await expect(search('large')).rejects.toMatchObject({ code: 'unavailable' });
  expect(await search('small')).toEqual([8, false]);
  release();
  expect(await search('large')).toEqual([4, true]);
  expect(memory.used).toBe(0);
});
