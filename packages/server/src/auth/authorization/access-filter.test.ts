import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testDatabase } from '../../../test/database.ts';
import { AccessFilter, AccessFilterError } from './access-filter.ts';
import { fixture } from '../../../test/fixture.ts';

const database = fixture(() => testDatabase());

const stored = async (filter: AccessFilter, metadata: object): Promise<boolean> => {
  const statement = {
    name: 'filter_test',
    text: 'select coalesce($1::jsonb @@ $2::jsonpath, false) as passes',
  };
  const values = [JSON.stringify(metadata), filter.jsonpath];
  return (await database.query<{ passes: boolean }>(statement, values))[0]?.passes ?? false;
};

describe('a filter', () => {
  const cases: [unknown, Record<string, unknown>, boolean][] = [
    [{ owner: 'a' }, { owner: 'a' }, true],
    [{ owner: 'a' }, { owner: 'b' }, false],
    [{ owner: 'a' }, {}, false],
    [{ owner: 'a' }, { owner: null }, false],
    [{ owner: 'a' }, { owner: ['a'] }, false],
    [{ owner: 'a' }, { owner: { a: 'a' } }, false],
    [{ owner: { $eq: 'a' } }, { owner: 'a' }, true],
    [{ n: 0 }, { n: 0 }, true],
    [{ n: 0 }, { n: 1 }, false],
    [{ n: 0 }, { n: '0' }, false],
    [{ n: -1.5 }, { n: -1.5 }, true],
    [{ on: false }, { on: false }, true],
    [{ on: { $eq: false } }, { on: true }, false],
    [{ name: { $eq: '' } }, { name: '' }, true],
    [{ name: { $eq: '' } }, { name: 'x' }, false],
    [{ tags: { $contains: 'x' } }, { tags: [1, 'x', null] }, true],
    [{ tags: { $contains: 'x' } }, { tags: 'x' }, false],
    [{ tags: { $contains: 'x' } }, { tags: ['xy'] }, false],
    [{ tags: { $contains: 'x' } }, { tags: [['x']] }, false],
    [{ tags: { $contains: 'x' } }, {}, false],
    [{ tags: { $contains: ['x', 'y'] } }, { tags: ['y', 'x'] }, true],
    [{ tags: { $contains: ['x', 'y'] } }, { tags: ['x'] }, false],
    [{ a: 1, b: 2 }, { a: 1, b: 2, c: 3 }, true],
    [{ a: 1, b: 2 }, { a: 1 }, false],
    [{ $or: [{ a: 1 }, { b: 2 }] }, { b: 2 }, true],
    [{ $or: [{ a: 1 }, { b: 2 }] }, { a: 2 }, false],
    [{ $and: [{ a: 1 }, { $or: [{ b: 2 }, { c: 3 }] }] }, { a: 1, c: 3 }, true],
    [{ $or: [{ a: 1 }], owner: 'x' }, { a: 1, owner: 'y' }, false],
    [{ ['__proto__']: 'x' }, {}, false],
    [{ constructor: 'x' }, { constructor: 'x' }, true],
    [{ 'a"b\\': 'q"\'é' }, { 'a"b\\': 'q"\'é' }, true],
    [{ "a'; drop table threads --": 1 }, {}, false],
    [{}, {}, true],
    [{}, { owner: 'b' }, true],
  ];
  it.each(cases)('%j on metadata %j matches: %j', async (given, metadata, passes) => {
    const filter = AccessFilter.parse(given);
    expect(filter.matches(metadata)).toBe(passes);
    expect(await stored(filter, metadata)).toBe(passes);
  });

  const invalid: unknown[] = [
    undefined,
    null,
    true,
    'owner',
    [],
    [{ owner: 'a' }],
    new Map([['owner', 'a']]),
    new (class Owner {
      owner = 'a';
    })(),
    { owner: undefined },
    { owner: null },
    { owner: {} },
    { owner: [] },
    { owner: ['a'] },
    { owner: { $ne: 'a' } },
    { owner: { $eq: undefined } },
    { owner: { $eq: { a: 1 } } },
    { owner: { $eq: 'a', $gt: 1 } },
    { tags: { $contains: [] } },
    { tags: { $contains: [['a']] } },
    { tags: { $contains: null } },
    { n: Number.NaN },
    { n: Infinity },
    { owner: 'a\u0000' },
    { owner: '\ud800' },
    { owner: () => 'a' },
    { $or: [] },
    { $and: [] },
    { $or: [{}] },
    { $or: { a: 1 } },
    { $not: [{ a: 1 }] },
    { $or: [{ a: 1 }, undefined] },
    { $or: [{ a: undefined }, { b: 1 }] },
    JSON.parse(`${'{"$and":['.repeat(30)}{"a":1}${']}'.repeat(30)}`),
    { tags: { $contains: Array.from({ length: 300 }, (_, at) => `t${at}`) } },
  ];
  const named = invalid.map((given) => [(JSON.stringify(given) ?? String(given)).slice(0, 60), given]);
  it.each(named)('rejects an invalid value, which never matches everything: %s', (_, given) => {
    expect(() => AccessFilter.parse(given)).toThrow(AccessFilterError);
  });

  it('matches the same rows in memory and in the database', async () => {
    const scalar = fc.oneof(
      fc.constantFrom('a', 'b', '', 'é"\\'),
      fc.integer({ min: -2, max: 2 }),
      fc.boolean(),
    );
    const key = fc.constantFrom('k', 'l', 'm n', '"');
    const value = fc.oneof(
      scalar,
      fc.constant(null),
      fc.array(fc.oneof(scalar, fc.constant(null)), { maxLength: 3 }),
    );
    const metadata = fc.dictionary(key, value, { maxKeys: 4 });
    const condition = fc.oneof(
      scalar,
      scalar.map((operand) => ({ $eq: operand })),
      scalar.map((operand) => ({ $contains: operand })),
      fc.array(scalar, { minLength: 1, maxLength: 2 }).map((operand) => ({ $contains: operand })),
    );
    const plain = fc.dictionary(key, condition, { minKeys: 1, maxKeys: 2 });
    const { filter } = fc.letrec<{ filter: Record<string, unknown> }>((tie) => ({
      filter: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        plain,
        fc.record({ $or: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }) }),
        fc.record({ $and: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }) }),
      ),
    }));
    const property = fc.asyncProperty(filter, metadata, async (given, row) => {
      const parsed = AccessFilter.parse(given);
      expect(await stored(parsed, row)).toBe(parsed.matches(row));
    });
    await fc.assert(property, { numRuns: 500 });
  });
});
