import { expect, it } from 'vitest';
import { visibleText } from './visible-text.ts';

it('writes hidden characters as code points, and leaves line breaks and joined emoji as they are', () => {
  expect(visibleText('a\u202Eb')).toBe('a‹U+202E›b');
  expect(visibleText('\u200Bx\u0000')).toBe('‹U+200B›x‹U+0000›');
  expect(visibleText('1\n2\t👩‍💻')).toBe('1\n2\t👩‍💻');
});
