import { expect, it, vi } from 'vitest';
import { ProgressLine } from './progress-line.ts';

it('a terminal gets one line, cut to its width, which is removed at the end', () => {
  const written: string[] = [];
  {
    using line = new ProgressLine({ isTTY: true, columns: 12, write: (text) => written.push(text) });
    line.show('12 of 75 tables');
  }
  expect(written).toEqual(['\r\u001B[K12 of 75 tab', '\r\u001B[K']);
});

it('a log gets a line every ten seconds', () => {
  const written: string[] = [];
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  using line = new ProgressLine({ write: (text) => written.push(text) });
  for (const seconds of [5, 11, 20, 22]) {
    clock.mockReturnValue(seconds * 1000);
    line.show(`after ${seconds}`);
  }
  clock.mockRestore();
  expect(written).toEqual(['after 11\n', 'after 22\n']);
});
