// One attempt of an export partition run, or of a manifest, in the server process: its exporter, and why it is stopped.
//
//   running ──stop──▶ stopping ──outcome──▶ over
//                        └── grace over ──▶ its exporter is killed
import type { ExportLease, ExportTask } from '../../storage/exports/export-lease.ts';
import type { ExporterProcess } from './exporter-process.ts';

/** `ours no longer`: its outcome is not saved. */
export type StopWhy = 'ours no longer' | 'lease not renewed' | 'the server stops';

/** How long an exporter may take to abort its upload. */
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

  /** Aborts the work, once. */
  stop(why: StopWhy): void {
    if (this.stopped) return;
    this.stopped = why;
    this.exporter?.interrupt('now');
    this.#grace = setTimeout(() => this.exporter?.kill(), graceMs);
  }

  /** Lets it finish the file at hand. */
  windUp(): void {
    this.exporter?.interrupt('after the file');
  }

  /** The attempt is over. */
  [Symbol.dispose](): void {
    clearTimeout(this.#grace);
  }
}
