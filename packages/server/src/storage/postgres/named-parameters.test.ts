import { expect, it } from 'vitest';
import { withNames } from './named-parameters.ts';

const statement = withNames<{ id: string; lease_ms: number; note: string | null }>(
  'test',
  `select $id::uuid, $lease_ms * interval '1 ms', $note::text where $id <> ''`,
);

it('numbers the named parameters of a statement, each once', () => {
  expect(statement.statement).toEqual({
    name: 'test',
    text: `select $1::uuid, $2 * interval '1 ms', $3::text where $1 <> ''`,
  });
  expect(statement.values({ note: null, lease_ms: 5, id: 'a' })).toEqual(['a', 5, null]);
});

it('rejects a record without a value for a parameter', () => {
  const record = { id: 'a', note: null } as Parameters<typeof statement.values>[0];
  expect(() => statement.values(record)).toThrow('Statement test needs a value for $lease_ms');
});
