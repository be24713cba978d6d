// A run of the graph `probe` that executes until the test lets it end.
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface HeldRun extends Disposable {
  input: { do: string; out: string };
  /** Lets the run end, with `wrote` as `out`. */
  release(): void;
}

export const heldRun = (): HeldRun => {
  const file = join(tmpdir(), randomUUID());
  const release = (): void => writeFileSync(file, '');
  return {
    input: { do: 'writeWhen', out: file },
    release,
    [Symbol.dispose]() {
      for (const name of [file, `${file}.begun`]) rmSync(name, { force: true });
    },
  };
};
