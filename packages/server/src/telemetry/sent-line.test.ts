import { expect, it } from 'vitest';
import { sentLine } from './log-lines.ts';

const lineOf = (text: string): string => JSON.stringify({ level: 50, time: 7, text, msg: 'failed' });

it('a line is sent as it is up to its limit, which counts bytes', () => {
  const within = lineOf('ä'.repeat(32_000));
  expect(sentLine(within)).toBe(within);
});

it('a line that is too long is replaced by one with its level and time', () => {
  const long = lineOf('ä'.repeat(33_000));
  expect(JSON.parse(sentLine(long))).toEqual({
    level: 50,
    time: 7,
    msg: `a line of ${Buffer.byteLength(long)} bytes, which is too long to be sent`,
  });
});
