// Metrics of exports.
import { Counter, Gauge, type Registry } from 'prom-client';

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
export const exportMetrics = (registry: Registry, gauges: ExportGauges): (() => Promise<void>) => {
  const registers = [registry];
  const labelled = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['status'], registers });
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const exports = labelled('svc_exports', 'Exports that have not ended, on all nodes');
  const runs = labelled('svc_export_runs', 'Export partition runs that have not ended, on all nodes');
  const oldest = new Gauge({
    name: 'svc_export_oldest_waiting_seconds',
    help: 'Time for which the oldest export partition run has waited for nothing but a slot',
    registers,
  });
  const here = new Gauge({
    name: 'svc_export_running_here',
    help: 'Exporters of this process that execute something',
    registers,
  });
  const attempts = new Counter({
    name: 'svc_export_attempts_total',
    help: 'Attempts of export partition runs and manifests that ended in this process',
    labelNames: ['outcome'],
    registers,
  });
  const sums = {
    seconds: counter(
      'svc_export_attempt_seconds_total',
      'Duration of the attempts that ended in this process',
    ),
    files: counter('svc_export_files_total', 'Files that this process wrote'),
    rows: counter('svc_export_rows_total', 'Rows of the files that this process wrote'),
    bytes: counter('svc_export_bytes_total', 'Bytes of the files that this process wrote'),
    rawBytes: counter(
      'svc_export_raw_bytes_total',
      'Bytes of the rows that this process wrote, before compression',
    ),
    leasesLost: counter(
      'svc_export_leases_lost_total',
      'Leases on export partition runs that this process lost',
    ),
    crashes: counter('svc_exporter_exits_total', 'Exporters of this process that ended by themselves'),
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
    attempts.reset();
    for (const [outcome, count] of done.attempts) attempts.inc({ outcome }, count);
    for (const [name, sum] of Object.entries(sums)) {
      sum.reset();
      sum.inc(done[name as keyof typeof sums]);
    }
  };
};
