import { describe, expect, it } from 'vitest';
import { all, compile, raw, sql } from './sql.ts';

describe('SQL from parts', () => {
  it('numbers its parameters in the order of the text', () => {
    const inner = sql`b = ${2}`;
    expect(compile(sql`select a from t where a = ${1} and not (${inner}) limit ${3}`)).toEqual({
      text: 'select a from t where a = $1 and not (b = $2) limit $3',
      values: [1, 2, 3],
    });
  });

  it('has a parameter for each use of a value', () => {
    const part = sql`x = ${'a'}`;
    expect(compile(sql`${part} or ${part}`)).toEqual({ text: 'x = $1 or x = $2', values: ['a', 'a'] });
  });

  it('inserts raw text unchanged, and everything else as a parameter', () => {
    expect(compile(sql`select ${raw('a, b')} where c = ${"'; drop table t"}`)).toEqual({
      text: 'select a, b where c = $1',
      values: ["'; drop table t"],
    });
  });

  it.each([
    [[], 'true', []],
    [[sql`a = ${1}`], 'a = $1', [1]],
    [[sql`a = ${1}`, sql`b`, sql`c = ${null}`], 'a = $1 and b and c = $2', [1, null]],
  ])('joins conditions', (conditions, text, values) => {
    expect(compile(all(conditions))).toEqual({ text, values });
  });
});
