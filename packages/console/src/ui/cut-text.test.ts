import { expect, it } from 'vitest';
import { cutText } from './cut-text.ts';

it('a short text stays as it is', () => {
  expect(cutText('The bucket is full.', 19)).toBe('The bucket is full.');
});

it('a long text ends with an ellipsis after a word', () => {
  expect(cutText('The bucket is full.', 16)).toBe('The bucket is…');
  expect(cutText('x'.repeat(20), 10)).toBe(`${'x'.repeat(9)}…`);
});
