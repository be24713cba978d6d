// Formats the progress and the report of an import.
import type { LeftOut, MigrationReport } from '../../migration/migration-report.ts';
import { printable } from '../server-address.ts';
import { count, plural } from './quantities.ts';

interface Terminal {
  isTTY?: boolean;
  write(text: string): unknown;
}

const clearLine = '\r\u001B[K';
/** Time between two lines of a log. */
const logMs = 10_000;

/** One line of a terminal; in a log, a line every ten seconds. */
export class MigrationLine implements Disposable {
  readonly #terminal: Terminal;
  #shownAtMs = performance.now();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show(done: number, all: number): void {
    const text = `${count(done)} of ${plural(all, 'thread')}`;
    if (this.#terminal.isTTY === true) this.#terminal.write(clearLine + text);
    else if (performance.now() - this.#shownAtMs > logMs) {
      this.#shownAtMs = performance.now();
      this.#terminal.write(`${text}\n`);
    }
  }

  /** Removes the line. */
  [Symbol.dispose](): void {
    if (this.#terminal.isTTY === true) this.#terminal.write(clearLine);
  }
}

/** Ids that are printed for one reason. */
const shownMax = 20;

export const reportLines = (report: MigrationReport): string[] => {
  const { threads, runs, assistants, items, dry_run } = report;
  const verb = dry_run ? 'to import' : 'imported';
  const line = (name: string, imported: string, existing: number | undefined, left_out: number): string =>
    [
      `${name.padEnd(12)}${imported} ${verb}`,
      ...(existing === undefined ? [] : [`${count(existing)} here already`]),
      `${count(left_out)} left out`,
    ].join(', ');
  return [
    line(
      'Threads',
      `${count(threads.imported)} (${plural(threads.checkpoints, 'checkpoint')})`,
      threads.existing,
      threads.left_out,
    ),
    line('Runs', count(runs.imported), undefined, runs.left_out),
    line(
      'Assistants',
      `${count(assistants.imported)} (${plural(assistants.versions, 'version')})`,
      assistants.existing,
      assistants.left_out,
    ),
    line('Items', count(items.imported), items.existing, items.left_out),
    ...leftOutLines(report.left_out),
    ...report.notices.map((notice) => `Note: ${printable(notice)}`),
    ...(dry_run ? ['Nothing was written: this was a dry run.'] : []),
  ];
};

const leftOutLines = (list: readonly LeftOut[]): string[] => {
  const byReason = new Map<string, string[]>();
  for (const { kind, id, reason } of list) {
    const heading = `Left out: ${kind}: ${printable(reason)}`;
    const ids = byReason.get(heading) ?? [];
    ids.push(printable(id));
    byReason.set(heading, ids);
  }
  return [...byReason].flatMap(([heading, ids]) => [
    heading,
    ...ids.slice(0, shownMax).map((id) => `  ${id}`),
    ...(ids.length > shownMax ? [`  and ${count(ids.length - shownMax)} more (--json lists all)`] : []),
  ]);
};
