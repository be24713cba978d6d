import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { isUuid } from './uuid.ts';

it.each([randomUUID(), randomUUID().toUpperCase(), '00000000-0000-0000-0000-000000000000'])(
  'accepts %s',
  (text) => {
    expect(isUuid(text)).toBe(true);
  },
);

it.each([
  '-'.repeat(36),
  'a'.repeat(36),
  `{${randomUUID()}}`,
  `${randomUUID()}\n`,
  randomUUID().replaceAll('-', ''),
  `${randomUUID().slice(0, 35)}g`,
  undefined,
  7,
])('rejects %j', (value) => {
  expect(isUuid(value)).toBe(false);
});
