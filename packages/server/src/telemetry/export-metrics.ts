// Metrics of exports.
import type { Instruments } from './instruments.ts';

/** Values that are read at each scrape. */
export interface ExportGauges {
  /** On all nodes. */
  queue(): Promise<{
    waiting_exports: number;
    running_exports: number;
    schedules: number;
    waiting_runs: number;
    running_runs: number;
    oldest_waiting_seconds: number | null;
  }>;
  /** Totals of this process since its start; undefined when it executes no exports. */
  done():
    | {
        running: number;
        attempts: ReadonlyMap<string, number>;
        seconds: number;
        files: number;
        rows: number;
        bytes: number;
        rawBytes: number;
        leasesLost: number;
        crashes: number;
      }
    | undefined;
}

/** Registers the metrics. The result updates their values. */
export const exportMetrics = (add: Instruments, gauges: ExportGauges): (() => Promise<void>) => {
  const exports = add.gauge('svc_exports', 'Exports that have not ended, on all nodes', ['status']);
  const runs = add.gauge('svc_export_runs', 'Export partition runs that have not ended, on all nodes', [
    'status',
  ]);
  const oldest = add.gauge(
    'svc_export_oldest_waiting_seconds',
    'Time for which the oldest export partition run has waited for nothing but a slot',
  );
  const here = add.gauge('svc_export_running_here', 'Exporters of this process that execute something');
  const setAttempts = add.totals(
    'svc_export_attempts_total',
    'Attempts of export partition runs and manifests that ended in this process',
    'outcome',
  );
  const sums = {
    seconds: add.total(
      'svc_export_attempt_seconds_total',
      'Duration of the attempts that ended in this process',
    ),
    files: add.total('svc_export_files_total', 'Files that this process wrote'),
    rows: add.total('svc_export_rows_total', 'Rows of the files that this process wrote'),
    bytes: add.total('svc_export_bytes_total', 'Bytes of the files that this process wrote'),
    rawBytes: add.total(
      'svc_export_raw_bytes_total',
      'Bytes of the rows that this process wrote, before compression',
    ),
    leasesLost: add.total(
      'svc_export_leases_lost_total',
      'Leases on export partition runs that this process lost',
    ),
    crashes: add.total('svc_exporter_exits_total', 'Exporters of this process that ended by themselves'),
  };
  return async () => {
    const queue = await gauges.queue();
    exports.set({ status: 'CREATED' }, queue.waiting_exports);
    exports.set({ status: 'RUNNING' }, queue.running_exports);
    exports.set({ status: 'INTERVALSCHEDULED' }, queue.schedules);
    runs.set({ status: 'CREATED' }, queue.waiting_runs);
    runs.set({ status: 'RUNNING' }, queue.running_runs);
    oldest.set(queue.oldest_waiting_seconds ?? 0);
    const done = gauges.done();
    if (!done) return;
    here.set(done.running);
    setAttempts(done.attempts);
    for (const [name, set] of Object.entries(sums)) set(done[name as keyof typeof sums]);
  };
};
