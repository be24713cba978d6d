// Formats the progress of an export for a terminal or a log.
import type { BulkExport, ExportRun } from '@svc/sdk';
import { bytes, count, duration, plural } from './quantities.ts';
import { printable } from '../server-address.ts';

/** The progress at one time. Rates are computed from several of them. */
export interface Look {
  atMs: number;
  found: BulkExport;
  /** Partition runs that are in a later attempt, or wait for one. */
  retried: readonly ExportRun[];
}

const barCells = 24;
const eighths = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

const bar = (percent: number): string => {
  const filled = Math.round((percent / 100) * barCells * 8);
  const whole = Math.floor(filled / 8);
  const part = filled % 8 === 0 ? '' : (eighths[filled % 8] ?? '');
  return `${'█'.repeat(whole)}${part}`.padEnd(barCells, '░');
};

/** The rate since the first of these looks, and the remaining time. */
const paceOf = (looks: readonly Look[]): { bytesPerSecond: number; leftMs: number } | undefined => {
  const [first, last] = [looks[0], looks.at(-1)];
  if (first === undefined || last === undefined || last.atMs - first.atMs < 500) return undefined;
  const seconds = (last.atMs - first.atMs) / 1_000;
  const percent = last.found.progress.percent - first.found.progress.percent;
  return {
    bytesPerSecond: (last.found.progress.raw_bytes - first.found.progress.raw_bytes) / seconds,
    leftMs: percent > 0 ? ((100 - last.found.progress.percent) / percent) * seconds * 1_000 : Infinity,
  };
};

const partsOf = (looks: readonly Look[]): string[] => {
  const found = looks.at(-1)?.found;
  if (found === undefined) return [];
  const { runs_total, runs_completed, rows_written, files, bytes_written } = found.progress;
  const pace = found.status.toUpperCase() === 'RUNNING' ? paceOf(looks) : undefined;
  return [
    `${count(runs_completed)} of ${plural(runs_total, 'run')}`,
    plural(rows_written, 'row'),
    ...(pace === undefined ? [] : [`${bytes(pace.bytesPerSecond)}/s`]),
    `${plural(files, 'file')}, ${bytes(bytes_written)}`,
    ...(pace === undefined || pace.leftMs === Infinity ? [] : [`${duration(pace.leftMs)} left`]),
  ];
};

/** One line for each retried partition run; three at most, and the number of the others. */
const retriesOf = ({ retried }: Look, nowMs: number): string[] => {
  const shown = retried.slice(0, 3).map((run) => {
    const waits =
      run.progress.next_retry_at === null
        ? ''
        : ` in ${duration(Date.parse(run.progress.next_retry_at) - nowMs)}`;
    const reason = run.errors?.[`retry_${run.retry_number - 1}`] ?? '';
    return `  ↻ ${run.metadata.start_time.slice(0, 10)}: attempt ${run.progress.attempt}${waits}: ${printable(reason)}`;
  });
  return retried.length > 3 ? [...shown, `  ↻ and ${count(retried.length - 3)} more`] : shown;
};

/** The lines of a frame in a terminal. */
export const liveLines = (looks: readonly Look[], nowMs: number): string[] => {
  const look = looks.at(-1);
  if (look === undefined) return [];
  const { found } = look;
  const percent = `${Math.floor(found.progress.percent)} %`.padStart(5);
  const head = `${found.id.slice(0, 8)} ${found.status.toUpperCase().padEnd(9)} ${bar(found.progress.percent)} ${percent}`;
  return [`${head}  ${partsOf(looks).join(' · ')}`, ...retriesOf(look, nowMs)];
};

/** One line for a log. */
export const plainLine = (looks: readonly Look[]): string => {
  const found = looks.at(-1)?.found;
  if (found === undefined) return '';
  const percent = `${Math.floor(found.progress.percent)} %`;
  return `${found.id} ${found.status.toUpperCase()} ${percent}, ${partsOf(looks).join(', ')}`;
};

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
