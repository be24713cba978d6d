// Redraws lines in place at the end of a terminal. Each frame is one write, and lines are overwritten instead of cleared, which
// avoids flicker.

interface Terminal {
  columns?: number | undefined;
  rows?: number | undefined;
  write(text: string): unknown;
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u;

/** Cuts a line to the width of the terminal: wrapped lines would move the others. */
const cut = (line: string, columns: number): string => {
  let width = 0;
  let kept = '';
  for (const character of line) {
    width += wide.test(character) ? 2 : 1;
    if (width > columns - 1) return kept;
    kept += character;
  }
  return kept;
};

export class Screen {
  readonly #terminal: Terminal;
  #drawn = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  draw(lines: readonly string[]): void {
    const { columns = 80, rows = 24 } = this.#terminal;
    const shown = lines.slice(0, Math.max(1, rows - 1));
    const up = this.#drawn > 0 ? `\u001B[${this.#drawn}A` : '';
    const text = shown.map((line) => `\r${cut(line, columns)}\u001B[K\n`).join('');
    this.#terminal.write(`${up}${text}\u001B[J`);
    this.#drawn = shown.length;
  }

  /** Keeps the last frame. Later output appears below it. */
  leave(): void {
    this.#drawn = 0;
  }
}
