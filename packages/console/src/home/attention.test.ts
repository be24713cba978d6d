import { expect, it } from 'vitest';
import { cutText, emptyNote } from './attention.tsx';

const read = { found: [], error: null };
const reading = { found: undefined, error: null };
const unread = { found: undefined, error: new Error('403: not permitted') };
const outdated = { found: [], error: new Error('503: not reachable') };

it('says that nothing is wrong when everything was read', () => {
  expect(emptyNote([read, read])).toMatch(/^Nothing: no run is stuck/);
});

it('says nothing when nothing could be read', () => {
  expect(emptyNote([unread, unread])).toBeUndefined();
});

it('speaks only of what was read when something could not be read, now or again', () => {
  expect(emptyNote([read, unread])).toBe('Nothing was found in what was read.');
  expect(emptyNote([read, outdated])).toBe('Nothing was found in what was read.');
});

it('speaks only of what was read when a source was not read to its end', () => {
  const partial = { ...read, unexamined: 'Only the newest deliveries were examined.' };
  expect(emptyNote([read, partial])).toBe('Nothing was found in what was read.');
});

it('waits for what is being read', () => {
  expect(emptyNote([read, unread, reading])).toBe('Reading…');
});

it('a short text stays as it is', () => {
  expect(cutText('The bucket is full.', 19)).toBe('The bucket is full.');
});

it('a long text ends with an ellipsis after a word', () => {
  expect(cutText('The bucket is full.', 16)).toBe('The bucket is…');
  expect(cutText('x'.repeat(20), 10)).toBe(`${'x'.repeat(9)}…`);
});
