import { expect, it } from 'vitest';
import { csvOf, readAll } from './download.ts';

it('a table has a column for each field, and no cell is a formula', () => {
  const rows = [
    { id: 1, name: 'a "b", c' },
    { id: -2, metadata: { team: 'x' }, name: '=HYPERLINK("x")' },
  ];
  expect(csvOf(rows)).toBe(
    `id,name,metadata\r\n1,"a ""b"", c",\r\n-2,"'=HYPERLINK(""x"")","{""team"":""x""}"\r\n`,
  );
});

it('pages are read until the last one, or the limit', async () => {
  const pages = {
    '': { rows: [{ id: 1 }, { id: 2 }], next: 'b' },
    b: { rows: [{ id: 3 }], next: undefined },
  };
  const counts: number[] = [];
  const options = { signal: new AbortController().signal, onRead: (count: number) => counts.push(count) };
  const read = (cursor = '') => Promise.resolve(pages[cursor as 'b']);
  expect(await readAll(read, options)).toEqual({ rows: [{ id: 1 }, { id: 2 }, { id: 3 }], isWhole: true });
  expect(counts).toEqual([2, 3]);
  expect(await readAll(read, { ...options, max: 2 })).toEqual({
    rows: [{ id: 1 }, { id: 2 }],
    isWhole: false,
  });
});
