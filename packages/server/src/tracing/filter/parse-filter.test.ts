import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FilterError } from './parse.ts';
import { parseFilter } from './parse-filter.ts';

const errorOf = (text: string): string => {
  try {
    parseFilter(text);
  } catch (error) {
    if (error instanceof FilterError) return error.message;
    throw error;
  }
  return 'none';
};

const nested = (depth: number): string => `${'not('.repeat(depth)}eq(name, "x")${')'.repeat(depth)}`;

describe('a filter', () => {
  it.each([
    ['eq(run_type, "llm")', { is: 'text', field: 'run_type', test: { op: 'in', values: ['llm'] } }],
    ["eq ( name,'it\\'s \\u00e9' ) ", { is: 'text', field: 'name', test: { op: 'in', values: ["it's é"] } }],
    ['eq(error, null)', { is: 'empty', field: 'error' }],
    ['neq(error, null)', { is: 'not', of: { is: 'empty', field: 'error' } }],
    ['gt(latency, "5s")', { is: 'number', field: 'latency', test: { op: 'gt', number: '5' } }],
    ['gt(latency, "250ms")', { is: 'number', field: 'latency', test: { op: 'gt', number: '0.25' } }],
    [
      'lt(start_time, 2026-01-01)',
      { is: 'time', field: 'start_time', op: 'lt', time: '2026-01-01T00:00:00.000000Z' },
    ],
    [
      'gte(start_time, "2026-01-01T00:00:00.5+02:00")',
      { is: 'time', field: 'start_time', op: 'gte', time: '2026-01-01T00:00:00.500000+02:00' },
    ],
    ['has(tags, "prod")', { is: 'tag', tag: 'prod' }],
    ['has(metadata, \'{"a": {"b": [1]}}\')', { is: 'metadata', has: { a: { b: [1] } } }],
    ['lt(total_cost, 1e-3)', { is: 'number', field: 'total_cost', test: { op: 'lt', number: '0.001' } }],
  ])('is parsed from %s', (text, condition) => {
    expect(parseFilter(text)).toEqual(condition);
  });

  it('applies a key and a value side by side to the same entry', () => {
    const keys = ['session_id', 'thread_id'];
    const entry = { is: 'entry', of: 'metadata', keys, tests: [{ op: 'in', values: ['7'] }] };
    const text = `in(metadata_key, ["session_id", "thread_id"]), eq(metadata_value, "7")`;
    expect(parseFilter(`and(eq(name, "x"), ${text})`)).toMatchObject({ of: [{ is: 'text' }, entry] });
    const apart = {
      of: [
        { keys, tests: [] },
        { keys: null, tests: entry.tests },
      ],
    };
    expect(parseFilter(`or(${text})`)).toMatchObject(apart);
  });

  it('with neq on a key means that no entry has it', () => {
    expect(parseFilter('and(neq(metadata_key, "a"), eq(metadata_value, "v"))')).toMatchObject({
      of: [
        { is: 'not', of: { keys: ['a'] } },
        { keys: null, tests: [{ values: ['v'] }] },
      ],
    });
  });

  it.each([
    ['', 'Unexpected end of the filter, at character 1'],
    ['eq(name, "x"', 'Expected "," or ")", at character 13'],
    ['eq(name, "x', 'Unterminated string, at character 10'],
    ['eq(name, "x") or', 'Unexpected text after the end of the filter, at character 15'],
    ['equal(name, "x")', 'Unknown operator equal(), at character 1'],
    ['eq(nam, "x")', 'Expected the name of a field, at character 4'],
    ['eq(name)', 'eq() takes 2 arguments, at character 1'],
    ['not()', 'not() takes one argument, at character 1'],
    ['gt(name, "x")', 'gt() cannot be used with name, at character 1'],
    ['eq(total_tokens, "many")', 'Expected a number, at character 18'],
    ['and(eq(name, "x"), eq(id, "7"))', 'Expected a UUID in quotes, at character 27'],
    ['gt(start_time, "yesterday")', 'Expected a time such as "2026-11-21T08:00:00Z", at character 16'],
    ['has(metadata, "[1]")', 'Expected a JSON object in quotes, at character 15'],
    ['in(name, "x")', 'Expected a list in brackets, at character 10'],
    ['"x"', 'Expected a call such as eq(name, "x"), at character 1'],
    ['eq(name; "x")', 'Unexpected character ";", at character 8'],
    ['eq(total_tokens, 1e999)', 'The number is too long, at character 18'],
  ])('%j is rejected with the problem and its position', (text, message) => {
    expect(errorOf(text)).toBe(message);
  });

  it('with two keys for one entry is rejected with a correction', () => {
    expect(errorOf('and(eq(metadata_key, "a"), eq(metadata_key, "b"))')).toContain('an and() of its own');
  });

  it('may be nested to a limit', () => {
    expect(errorOf(nested(60))).toBe('none');
    expect(errorOf(nested(1_000))).toBe('The filter is nested deeper than 64 levels, at character 257');
    expect(errorOf('['.repeat(15_000))).toContain('nested deeper');
    expect(errorOf(`eq(name, "${'x'.repeat(20_000)}")`)).toContain('longer than 16384 characters');
  });

  it('is parsed or rejected, for any text', () => {
    const piece = fc.constantFrom(
      ...Array.from('()[],"\'\\ '),
      'and',
      'eq',
      'name',
      'null',
      '1',
      '2026-01-01',
      'é',
      '\u0000',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece).map((all) => all.join('')),
        ),
        (text) => {
          expect(typeof errorOf(text)).toBe('string');
        },
      ),
    );
  });
});
