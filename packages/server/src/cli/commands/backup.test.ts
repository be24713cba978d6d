import { expect, it } from 'vitest';
import { ProgressLine } from './backup.ts';

const linesOf = (isTTY: boolean): string[] => {
  const lines: string[] = [];
  using line = new ProgressLine({ isTTY, write: (text) => lines.push(text) });
  line.show({ table: 'threads', copied: 12, all: 75, bytes: 34_000_000 });
  return lines;
};

it('a terminal gets one line, which is removed at the end', () => {
  expect(linesOf(true)).toEqual(['\r\u001B[K12 of 75 tables, 34.0 MB: threads', '\r\u001B[K']);
});

it('a log gets nothing', () => {
  expect(linesOf(false)).toEqual([]);
});
