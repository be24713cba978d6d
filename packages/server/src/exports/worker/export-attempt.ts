// One attempt of an export run, or of a manifest, as the server process sees it: which exporter has it, and why it shall stop.
//
//   running ──stop──▶ stopping ──outcome──▶ over
//                        └── grace over ──▶ its exporter is killed
import type { ExportLease, ExportTask } from '../../storage/exports/export-lease.ts';
import type { ExporterProcess } from './exporter-process.ts';

/** `ours no longer`: nothing is to be said of it. */
export type StopWhy = 'ours no longer' | 'lease not renewed' | 'the server stops';

/** How long an upload may take to break off in good order. */
const graceMs = 5_000;

export class ExportAttempt implements ExportLease {
  readonly tenant_id: string;
  readonly id: string;
  readonly lease_token: number;
  readonly task: ExportTask;
  readonly export_id: string;
  /** Monotonic milliseconds. */
  readonly startedMs = performance.now();
  exporter: ExporterProcess | undefined;
  stopped: StopWhy | undefined;
  #grace: NodeJS.Timeout | undefined;

  constructor(lease: ExportLease, export_id: string) {
    this.tenant_id = lease.tenant_id;
    this.id = lease.id;
    this.lease_token = lease.lease_token;
    this.task = lease.task;
    this.export_id = export_id;
  }

  get lease(): ExportLease {
    const { tenant_id, id, lease_token, task } = this;
    return { tenant_id, id, lease_token, task };
  }

  /** Breaks the work off, once. */
  stop(why: StopWhy): void {
    if (this.stopped) return;
    this.stopped = why;
    this.exporter?.stop('now');
    this.#grace = setTimeout(() => this.exporter?.kill(), graceMs);
  }

  /** Lets it finish the file at hand. */
  windUp(): void {
    this.exporter?.stop('after the file');
  }

  /** The attempt is over. */
  [Symbol.dispose](): void {
    clearTimeout(this.#grace);
  }
}
