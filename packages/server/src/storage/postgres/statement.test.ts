import { describe, expect, it } from 'vitest';
import { nameOf, namedArguments, namedStatement, readStatement } from './statement.ts';

describe('the name of a statement', () => {
  it.each([
    ['select * from cancel_runs($1)', 'cancel_runs'],
    ['with gone as (delete from tickets returning 1) select count(*) from gone', 'tickets'],
    ['select follow_run($1) as status', 'follow_run'],
    ['select 1', 'statement'],
  ])('%s begins with its first table or function', (text, first) => {
    expect(nameOf(text)).toMatch(new RegExp(`^${first}_[0-9a-f]{24}$`));
  });

  it('differs for texts that differ, and is at most 63 bytes long', () => {
    const table = 'a'.repeat(100);
    expect(nameOf(`select 1 from ${table}`)).toHaveLength(63);
    expect(nameOf(`select 1 from ${table}`)).not.toBe(nameOf(`select 2 from ${table}`));
  });
});

it('a statement that reads says so', () => {
  expect(readStatement('select 1', { isShort: true })).toMatchObject({
    text: 'select 1',
    reads: true,
    isShort: true,
  });
});

describe('a statement with named parameters', () => {
  const find = namedStatement('select 1 from t where n < :max and id = :id::uuid and (:max > 0)');

  it('numbers them in the order of the text, and leaves casts as they are', () => {
    expect(find.text).toBe('select 1 from t where n < $1 and id = $2::uuid and ($1 > 0)');
    expect(find.values({ max: 5, id: 'a', other: 1 })).toEqual([5, 'a']);
  });

  it('refuses a record without one of its values', () => {
    expect(() => find.values({ max: 5 })).toThrow('The statement has no value for id');
  });

  it('names the arguments of a function', () => {
    expect(namedStatement(`select f(${namedArguments(['id', 'lease'])})`).text).toBe(
      'select f(p_id => $1, p_lease => $2)',
    );
  });
});
