// Puts with an embedding model whose executors are killed.
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';

interface Found {
  items: { key: string; score?: number }[];
}

it('a put while executors are killed is stored with its vectors, or not at all', async () => {
  const project = fileURLToPath(new URL('./project/svc.json', import.meta.url));
  await using server = await startTestServer({ project });
  const search = async (query?: string) => {
    const body = { namespace_prefix: ['killed'], limit: 100, ...(query === undefined ? {} : { query }) };
    const { status, body: found } = await server.call('POST', '/store/items/search', body);
    expect(status).toBe(200);
    return (found as Found).items;
  };
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      server.call('PUT', '/store/items', {
        namespace: ['killed'],
        key: `k${n}`,
        value: { text: n % 20 === 10 ? 'exit-now' : 'a river' },
      }),
    ),
  );
  const acknowledged = answers.flatMap(({ status }, n) => (status === 204 ? [`k${n}`] : [])).toSorted();
  for (const { status } of answers) expect(status).toBeOneOf([204, 503]);
  expect(answers[10]?.status).toBe(503);
  await eventually(async () => {
    const items = await search('river');
    expect(items.map(({ key }) => key).toSorted()).toEqual(acknowledged);
    expect(items.every(({ score }) => (score ?? 0) > 0.99)).toBe(true);
  });
  expect((await search()).map(({ key }) => key).toSorted()).toEqual(acknowledged);
});
