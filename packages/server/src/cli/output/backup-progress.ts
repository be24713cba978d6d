// Shows the progress of a backup in one line of a terminal. A log gets the result only.
import type { BackupProgress } from '../../storage/backup/backup.ts';
import { bytes, count, plural } from './quantities.ts';

interface Terminal {
  isTTY?: boolean;
  write(text: string): unknown;
}

const clearLine = '\r\u001B[K';

export class ProgressLine implements Disposable {
  readonly #terminal: Terminal;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show({ table, copied, all, bytes: written }: BackupProgress): void {
    this.#print(`${count(copied)} of ${plural(all, 'table')}, ${bytes(written)}: ${table}`);
  }

  /** Removes the line. */
  [Symbol.dispose](): void {
    this.#print('');
  }

  #print(text: string): void {
    if (this.#terminal.isTTY === true) this.#terminal.write(clearLine + text);
  }
}
