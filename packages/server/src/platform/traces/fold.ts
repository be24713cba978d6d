// Several writes of one run as one: what ingest_runs() would make of them, one after the other.
import { startTimeBit, traceFieldNames, traceFields } from '../../storage/trace-columns.ts';
import type { NewRunWrite } from './run-write.ts';

export const fold = (old: NewRunWrite, next: NewRunWrite): NewRunWrite => {
  const isNewer = next.rank >= old.rank;
  const pick = <T>(bit: number, a: T | null | undefined, b: T | null | undefined): T | null => {
    const nextWins = isNewer || (old.patched & bit) === 0;
    return (nextWins ? (b ?? a) : (a ?? b)) ?? null;
  };
  const fields: NewRunWrite['fields'] = {};
  for (const name of traceFieldNames)
    fields[name] = pick(traceFields[name], old.fields[name], next.fields[name]);
  return {
    id: old.id,
    rank: Math.max(old.rank, next.rank),
    patched: old.patched | next.patched,
    writes: [...new Set([...old.writes, ...next.writes])],
    start_time: pick(startTimeBit, old.start_time, next.start_time),
    metadata: isNewer ? merge(old.metadata, next.metadata) : merge(next.metadata, old.metadata),
    fields,
    session_name: pick(traceFields.session_id, old.session_name, next.session_name) ?? undefined,
  };
};

const merge = (under: string, over: string): string => {
  if (under === '{}') return over;
  if (over === '{}') return under;
  return JSON.stringify({ ...(JSON.parse(under) as object), ...(JSON.parse(over) as object) });
};

/** One write for each run, in the order of first mention. */
export const foldAll = (writes: readonly NewRunWrite[]): NewRunWrite[] => {
  const byId = new Map<string, NewRunWrite>();
  for (const write of writes) {
    const old = byId.get(write.id);
    byId.set(write.id, old === undefined ? write : fold(old, write));
  }
  return [...byId.values()];
};
