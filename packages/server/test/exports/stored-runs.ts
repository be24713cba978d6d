// Trace runs, stored as ingest stores them.
import { createHash, randomUUID } from 'node:crypto';
import type { Database } from '../../src/storage/postgres/database.ts';
import { traceStorage } from '../../src/storage/tracing/traces.ts';
import { type Place, sql } from './export-tables.ts';

export const daysKept = 3_650;

const words = (seed: string, length: number): string => {
  let text = '';
  for (let at = 0; text.length < length; at += 1)
    text += createHash('sha256').update(`${seed}/${at}`).digest('base64');
  return text.slice(0, length);
};

/** Adds trace runs, spread over the day from `start` on, of about `bytes` each. Returns their ids. */
export const addRuns = async (
  db: Database,
  { tenant_id, session_id }: Place,
  { start, count, bytes = 1_000 }: { start: string; count: number; bytes?: number },
): Promise<string[]> => {
  const startMs = Date.parse(start);
  const stepMs = 86_400_000 / count;
  const runs = Array.from({ length: count }, (_, index) => {
    const id = randomUUID();
    const startTime = new Date(startMs + Math.floor(index * stepMs)).toISOString().replace('Z', '123Z');
    return {
      id,
      rank: 0,
      patched: 0,
      writes: [String(index)],
      start_time: startTime,
      metadata: JSON.stringify({ seq: index }),
      fields: {
        session_id,
        trace_id: id,
        name: `run ${index}`,
        run_type: 'chain',
        inputs: JSON.stringify({ text: words(id, bytes) }),
        outputs: JSON.stringify({ seq: index }),
      },
    };
  });
  const traces = traceStorage(db);
  for (let from = 0; from < count; from += 1_000)
    await traces.ingest(tenant_id, runs.slice(from, from + 1_000), [], daysKept);
  return runs.map(({ id }) => id);
};

/** The ids that an export must contain, sorted. */
export const idsFor = async (db: Database, export_id: string): Promise<string[]> =>
  (
    await sql<{ id: string }>(
      db,
      `select r.id from exports e join trace_runs r on r.tenant_id = e.tenant_id and r.session_id = e.session_id
        where e.id = $1 and r.start_time >= e.window_start and r.start_time < e.window_end and r.inserted_at <= e.created_at order by r.id`,
      [export_id],
    )
  ).map(({ id }) => id);
