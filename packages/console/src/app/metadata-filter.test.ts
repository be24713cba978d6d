import { describe, expect, it } from 'vitest';
import { metadataOf, pairOf, readMetadataFilter, textHint, withPair } from './metadata-filter.ts';

describe('a metadata filter', () => {
  it('is read from pairs, with numbers, booleans and null as such', () => {
    expect(metadataOf('customer:acme, seats:12 paid:true trial:null,rate:-1.5e2')).toEqual({
      customer: 'acme',
      seats: 12,
      paid: true,
      trial: null,
      rate: -150,
    });
  });

  it.each([
    ['name:"Ann Lee"', { name: 'Ann Lee' }],
    ['name:"Lee, Ann" team:x', { name: 'Lee, Ann', team: 'x' }],
    [String.raw`says:"a \"word\" \\ more"`, { says: 'a "word" \\ more' }],
    ['"a key: b":1', { 'a key: b': 1 }],
    ['url:https://example.com/a:b', { url: 'https://example.com/a:b' }],
    ['seats:"12" paid:"true"', { seats: '12', paid: 'true' }],
    ['zip:01234 version:1.2.3 empty:""', { zip: '01234', version: '1.2.3', empty: '' }],
    ['id:"12345678901234567890"', { id: '12345678901234567890' }],
    ['__proto__:x', Object.fromEntries([['__proto__', 'x']])],
  ])('%s has the conditions %j', (text, expected) => {
    expect(metadataOf(text)).toEqual(expected);
  });

  it.each([
    ['blue', 'blue is not key:value.'],
    ['customer:acme blue', 'blue is not key:value.'],
    ['name:Ann Lee', 'Lee is not key:value.'],
    ['customer:', 'customer has no value.'],
    ['customer: acme', 'customer has no value.'],
    [':acme', ':acme is not key:value.'],
    ['name:"Ann Lee', 'The value of name has no closing double quote.'],
    ['name:"Ann"Lee', 'The value of name continues after a double quote.'],
    ['name:Ann"Lee"', 'The value of name continues after a double quote.'],
    [String.raw`name:"\x"`, String.raw`"\x" is not a JSON string.`],
    ['a:1 a:2', 'a is named twice.'],
    ['id:12345678901234567890', 'Write id:"12345678901234567890" for the text.'],
  ])('%s has a problem, and no conditions', (text, problem) => {
    const read = readMetadataFilter(text);
    expect(read.problem).toContain(problem);
    expect(read.metadata).toBeUndefined();
    expect(() => metadataOf(text)).toThrow(problem);
  });

  it('has no condition and no problem without a text', () => {
    const none = { metadata: undefined, problem: undefined };
    expect([undefined, '', ' , '].map(readMetadataFilter)).toEqual([none, none, none]);
  });

  it('tells how to search for the text of a number', () => {
    expect(textHint('team:x seats:12')).toBe('seats:12 is a number. Write seats:"12" for the text.');
    expect(textHint('seats:"12"')).toBeUndefined();
  });
});

it('the pair of a value is read as the same value', () => {
  const metadata = { team: 'sales', 'a b': 'Ann "Lee"', seats: 12, code: '12', open: true, none: null };
  let text: string | undefined;
  for (const [key, value] of Object.entries(metadata)) text = withPair(text, key, value);
  expect(readMetadataFilter(text)).toEqual({ metadata, problem: undefined });
  expect(withPair('team:sales', 'team', 'hr')).toBe('team:hr');
  expect(pairOf('list', ['a'])).toBeUndefined();
});
