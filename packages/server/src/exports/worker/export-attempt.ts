// One attempt of an export partition run or a manifest, in the server process: its exporter, and the reason for which it was stopped.
//
//   running ──stop()──▶ stopping ──outcome──────────────▶ ended
//                          └────── grace period over ──▶ the exporter is killed
import type { ExportLease, ExportTask } from '../../storage/exports/export-lease.ts';
import type { ExporterProcess } from './exporter-process.ts';

/** `lease revoked`: the export has ended, or another worker has the lease; the outcome of the attempt is not saved. */
export type StopReason = 'lease revoked' | 'lease not renewed' | 'server stops';

/** Time in which an exporter aborts its upload; after it the exporter is killed. */
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
  stopped: StopReason | undefined;
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

  /** Stops the exporter. Later calls do nothing. */
  stop(reason: StopReason): void {
    if (this.stopped) return;
    this.stopped = reason;
    this.exporter?.interrupt('now');
    this.#grace = setTimeout(
      () => this.exporter?.kill(`it did not stop within ${graceMs / 1_000} s`),
      graceMs,
    );
  }

  /** Stops the exporter after it has committed the file that it is writing. */
  stopAfterFile(): void {
    this.exporter?.interrupt('after the file');
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#grace);
  }
}
