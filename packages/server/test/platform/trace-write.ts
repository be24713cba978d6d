import { randomUUID } from 'node:crypto';
import type { TraceWrite } from '../../src/storage/tracing/traces.ts';

/** The POST of a trace run, as storage gets it. */
export const traceWrite = (
  start_time: string | null,
  fields: TraceWrite['fields'] = {},
  more: Partial<TraceWrite> = {},
): TraceWrite => ({
  id: randomUUID(),
  rank: 0,
  patched: 0,
  writes: ['1'],
  start_time,
  metadata: '{}',
  fields,
  ...more,
});

/** The POST of a trace run, as a tracer sends it. */
export const sentRun = (id: string, more: object = {}): object => ({
  id,
  trace_id: id,
  dotted_order: `20261121T080000000000Z${id}`,
  name: 'x',
  run_type: 'chain',
  start_time: '2026-11-21T08:00:00Z',
  ...more,
});
