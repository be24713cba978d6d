// Generated writes of trace runs in two projects, for tests of sums.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { traceFields } from '../../src/storage/tracing/trace-columns.ts';
import type { TraceWrite } from '../../src/storage/tracing/traces.ts';

export const dayMs = 86_400_000;
export const midnight = Math.floor(Date.now() / dayMs) * dayMs - 2 * dayMs;
export const at = (hoursAfter: number): string => new Date(midnight + hoursAfter * 3_600_000).toISOString();

/** Offsets from a midnight in hours: some close together, some on other days, one of them expired. */
const starts = [-1, -0.01, 0, 0.5, 0.99, 1, 1.05, 5, 23.99, 24, -24 * 40];
const runsMax = 6;
const projects = 2;

/** One POST or PATCH for a trace run; a number refers to another run or project of the same test. */
const runWrite = fc.record({
  run: fc.nat(runsMax - 1),
  isPatch: fc.boolean(),
  start: fc.option(fc.constantFrom(...starts), { nil: null, freq: 4 }),
  lasted: fc.option(fc.constantFrom<number[]>(0, 1, 61.5, 9_000, 100_000), { nil: null }),
  firstToken: fc.option(fc.constantFrom<number[]>(0.2, 3), { nil: null }),
  project: fc.option(fc.nat(projects - 1), { nil: null, freq: 4 }),
  parent: fc.option(fc.nat(runsMax - 1), { nil: null }),
  run_type: fc.option(fc.constantFrom('llm', 'llm', 'llm', 'chain'), { nil: null }),
  tokens: fc.option(fc.constantFrom<number[]>(1, 10, 100), { nil: null }),
  cost: fc.option(fc.constantFrom('0.1', '0.00002'), { nil: null }),
  error: fc.option(fc.constant('x'), { nil: null }),
});
export type GeneratedWrite = typeof runWrite extends fc.Arbitrary<infer T> ? T : never;

export interface Names {
  tenant_id: string;
  runs: string[];
  projects: string[];
}

const ids = (count: number): string[] => Array.from({ length: count }, () => randomUUID());
export const newNames = (): Names => ({
  tenant_id: randomUUID(),
  runs: ids(runsMax),
  projects: ids(projects),
});

let writes = 0;
export const toWrite = (generated: GeneratedWrite, { runs, projects: sessions }: Names): TraceWrite => {
  const start = generated.start === null ? null : Date.parse(at(generated.start));
  const after = (seconds: number | null): string | null =>
    start === null || seconds === null ? null : new Date(start + seconds * 1_000).toISOString();
  const tokens = generated.tokens === null ? null : String(generated.tokens);
  const fields: TraceWrite['fields'] = {
    session_id: generated.project === null ? null : (sessions[generated.project] ?? null),
    parent_run_id:
      generated.parent === null || generated.parent === generated.run
        ? null
        : (runs[generated.parent] ?? null),
    run_type: generated.run_type,
    end_time: after(generated.lasted),
    first_token_time: after(generated.firstToken),
    error: generated.error,
    prompt_tokens: tokens,
    total_tokens: tokens,
    total_cost: generated.cost,
  };
  const bits = Object.entries(fields).map(([name, value]) =>
    value === null ? 0 : traceFields[name as keyof typeof traceFields],
  );
  return {
    id: runs[generated.run] ?? '',
    rank: generated.isPatch ? 1 : 0,
    patched: generated.isPatch ? bits.reduce((all, bit) => all | bit, start === null ? 0 : 64) : 0,
    writes: [String(++writes)],
    start_time: start === null ? null : new Date(start).toISOString(),
    metadata: '{}',
    fields,
  };
};

/** A batch of distinct runs; or the hourly sums are updated. */
export const batch = fc.uniqueArray(runWrite, { selector: (one) => one.run, minLength: 1, maxLength: 4 });
export const step = fc.oneof(
  { weight: 3, arbitrary: batch },
  { weight: 1, arbitrary: fc.constant('fold' as const) },
);

export type Span = [number | null, number | null];
export const spans: Span[] = [
  [0, null],
  [null, 23.995],
  [-1, 0],
  [-0.5, 0.6],
  [0.5, 0.5],
  [-24 * 50, 24.5],
];

export const model: Omit<GeneratedWrite, 'run' | 'parent' | 'start' | 'tokens'> = {
  isPatch: false,
  lasted: 1,
  firstToken: null,
  project: 0,
  run_type: 'llm',
  cost: null,
  error: null,
};
