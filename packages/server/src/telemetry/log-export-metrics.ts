import { Counter, type Registry } from 'prom-client';

/** Lines of the log that were not sent, since the start. Undefined when the log is not sent. */
export type LostLines = () => { dropped: number; failed: number } | undefined;

/** Registers the metric. The result updates its values. */
export const logExportMetrics = (registry: Registry, lost: LostLines): (() => void) => {
  const counter = new Counter({
    name: 'svc_log_records_lost_total',
    help: 'Lines of the log that were not sent by OTLP: too many waited, or the receiver did not accept them',
    labelNames: ['reason'],
    registers: [registry],
  });
  return () => {
    const { dropped, failed } = lost() ?? { dropped: 0, failed: 0 };
    counter.reset();
    counter.inc({ reason: 'dropped' }, dropped);
    counter.inc({ reason: 'failed' }, failed);
  };
};
