// Totals of the export attempts of this process since its start, for metrics.
import type { ExportOutcome, WrittenFigures } from '../exporter/exporter-protocol.ts';

export type AttemptEnd = ExportOutcome['kind'] | 'lost';

export class ExportTally {
  readonly attempts = new Map<AttemptEnd, number>();
  /** Duration of all attempts together. */
  seconds = 0;
  files = 0;
  rows = 0;
  /** Size of the files. */
  bytes = 0;
  /** Size of the rows before compression. */
  rawBytes = 0;

  addFile({ rows, bytes, raw_bytes }: WrittenFigures): void {
    this.files += 1;
    this.rows += rows;
    this.bytes += bytes;
    this.rawBytes += raw_bytes;
  }

  addAttempt(end: AttemptEnd, ms: number): void {
    this.attempts.set(end, (this.attempts.get(end) ?? 0) + 1);
    this.seconds += ms / 1_000;
  }
}
