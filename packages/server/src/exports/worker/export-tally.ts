// What this process has done of exports since it started.
import type { ExportOutcome, WrittenFigures } from '../exporter/exporter-protocol.ts';

export type AttemptEnd = ExportOutcome['kind'] | 'lost';

export class ExportTally {
  readonly attempts = new Map<AttemptEnd, number>();
  /** Of all attempts. */
  seconds = 0;
  files = 0;
  rows = 0;
  /** Of the files. */
  bytes = 0;
  /** Of the rows, before they were compressed. */
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
