import { expect, it } from 'vitest';
import { bytes, duration, plural } from './quantities.ts';
import { readTime } from '../commands/exports.ts';

it.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_000, '1.0 kB'],
  [9_960, '10.0 kB'],
  [99_960, '100 kB'],
  [999_600, '1.0 MB'],
  [1_234_567_890, '1.2 GB'],
])('%d bytes are %s', (value, text) => {
  expect(bytes(value)).toBe(text);
});

it.each([
  [0, '0s'],
  [59_400, '59s'],
  [61_000, '1m 1s'],
  [3_600_000, '1h'],
  [90_061_000, '1d 1h'],
  [-5, '0s'],
])('%d ms are %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

it('nouns have a singular and a plural', () => {
  expect([plural(0, 'row'), plural(1, 'row'), plural(1_234, 'row')]).toEqual([
    '0 rows',
    '1 row',
    '1,234 rows',
  ]);
});

const nowMs = Date.parse('2026-11-21T12:00:00Z');

it.each([
  ['now', '2026-11-21T12:00:00.000Z'],
  ['36h', '2026-11-20T00:00:00.000Z'],
  ['7d', '2026-11-14T12:00:00.000Z'],
  ['90m', '2026-11-21T10:30:00.000Z'],
  ['2026-11-01', '2026-11-01T00:00:00Z'],
  ['2026-11-01T12:00:00.000001Z', '2026-11-01T12:00:00.000001Z'],
  ['2026-11-01T12:00+02:00', '2026-11-01T12:00+02:00'],
])('%s is the time %s', (text, time) => {
  expect(readTime(text, nowMs)).toBe(time);
});

it.each(['', 'yesterday', '2026-13-01', '2026-11-01T12:00', '7', '7y', '-7d', 'tomorrow'])(
  '%j is not a time',
  (text) => {
    expect(readTime(text, nowMs)).toBeUndefined();
  },
);
