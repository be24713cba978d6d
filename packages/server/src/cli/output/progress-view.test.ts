import { expect, it } from 'vitest';
import { Screen } from './progress-view.ts';

/** A minimal terminal: what it shows after the written bytes. */
const terminal = (columns: number) => {
  const rows: string[] = [''];
  let [row, column] = [0, 0];
  const writes: string[] = [];
  return {
    columns,
    rows: 10,
    writes,
    shown: () => rows.map((text) => text.trimEnd()).filter((text, at) => text !== '' || at < rows.length - 1),
    write(text: string) {
      writes.push(text);
      for (const [, control, parameter, letter, character = ''] of text.matchAll(
        // oxlint-disable-next-line no-control-regex -- it is what a terminal reads
        /(\u001B\[(\d*)([A-Z]))|([^\u001B])/gu,
      )) {
        if (control !== undefined && letter === 'A') row -= Number(parameter);
        else if (control !== undefined && letter === 'K') rows[row] = (rows[row] ?? '').slice(0, column);
        else if (control !== undefined && letter === 'J') rows.splice(row, rows.length, '');
        else if (character === '\r') column = 0;
        else if (character === '\n') [row, column] = [row + 1, 0];
        else {
          expect(column, 'a line must not wrap').toBeLessThan(columns);
          const text = (rows[row] ?? '').padEnd(column);
          rows[row] = text.slice(0, column) + character + text.slice(column + 1);
          column++;
        }
        rows[row] ??= '';
      }
    },
  };
};

it('draws each frame over the previous one, in one write', () => {
  const shown = terminal(20);
  const screen = new Screen(shown);
  screen.draw(['one', 'a longer line', 'three']);
  expect(shown.shown()).toEqual(['one', 'a longer line', 'three']);
  screen.draw(['one more', 'short']);
  expect(shown.shown()).toEqual(['one more', 'short']);
  screen.draw(['a', 'b', 'c', 'd']);
  expect(shown.shown()).toEqual(['a', 'b', 'c', 'd']);
  screen.leave();
  shown.write('done\n');
  expect(shown.shown()).toEqual(['a', 'b', 'c', 'd', 'done']);
  expect(shown.writes).toHaveLength(4);
  // Clearing lines before they are written again would flicker.
  for (const text of shown.writes) expect(text).not.toMatch(/2J|\[2K/);
});

it('truncates long lines, and frames that exceed the terminal', () => {
  const shown = terminal(10);
  new Screen(shown).draw(['0123456789abcdef', ...Array.from({ length: 20 }, (_, at) => `line ${at}`)]);
  expect(shown.shown()[0]).toBe('012345678');
  expect(shown.shown()).toHaveLength(9);
});
