// Shows progress: in one line of a terminal, or in a line of a log every ten seconds.

interface Terminal {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

const clearLine = '\r\u001B[K';
/** Time between two lines of a log. */
const logMs = 10_000;

export class ProgressLine implements Disposable {
  readonly #terminal: Terminal;
  #loggedAtMs = performance.now();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show(text: string): void {
    if (this.#terminal.isTTY === true) {
      this.#terminal.write(clearLine + text.slice(0, this.#terminal.columns));
    } else if (performance.now() - this.#loggedAtMs > logMs) {
      this.#loggedAtMs = performance.now();
      this.#terminal.write(`${text}\n`);
    }
  }

  /** Removes the line of the terminal. */
  [Symbol.dispose](): void {
    if (this.#terminal.isTTY === true) this.#terminal.write(clearLine);
  }
}
