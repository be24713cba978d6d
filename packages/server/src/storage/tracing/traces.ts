// Trace runs: ingested in batches; read by id, by trace, or by project and time.
import { Problem } from '@svc/contract/problem';
import { type AnswerLimits, defaultAnswerLimits } from '../postgres/answer-limits.ts';
import { type Cell, toBytes, toColumn } from '../postgres/column-array.ts';
import type { Database, Transactions } from '../postgres/database.ts';
import { boundedSql, type FoundTraceRun, readRuns, type TraceRunPage } from './bounded-trace-runs.ts';
import { otelTraces } from './otel-traces.ts';
import { asTenant } from '../postgres/tenant.ts';
import { threadTurns, traceSums, traceTotals } from './trace-sums.ts';
import { traceFieldNames, type TraceField } from './trace-columns.ts';
import {
  type FoundTraceRuns,
  type TraceRunListFilter,
  searchTraceRuns,
  type SearchLimits,
} from './trace-search.ts';
import { unpricedRuns } from './unpriced-runs.ts';
import { type PayloadColumn, traceColumns, type TraceRunRow } from './trace-row.ts';
import { namedArguments, namedStatement, statement } from '../postgres/statement.ts';

/** A trace write: one POST or PATCH for a trace run. Payloads are JSON text, other texts in their exact form, times as PostgreSQL parses them. */
export interface TraceWrite {
  id: string;
  /** 0 for a POST, 1 for a PATCH; for a PATCH with an end time, that time in milliseconds. */
  rank: number;
  /** Bits of the fields that a PATCH has set (trace-columns.ts). */
  patched: number;
  /** JSON text: ranks of fields and metadata keys that differ from `rank`, in the format of trace_merge(). */
  ranks?: string | null;
  /** Hashes of the writes, 64 bits each, in decimal. */
  writes: string[];
  start_time: string | null;
  /** JSON text. */
  metadata: string;
  fields: Partial<Record<TraceField, Cell>>;
}

export interface Attachment {
  run_id: string;
  name: string;
  content_type: string;
  content: Buffer;
}

export interface AttachmentName {
  name: string;
  content_type: string;
  bytes: number;
}

/** More names of one trace run are not listed. */
const attachmentsMax = 1_000;
/** Of all trace runs of a page. */
const attachmentsOfPageMax = 10_000;

/** Attempts to store a batch while the partitions of its days are being dropped. */
const attemptsMax = 5;

const ingested = [
  'tenant',
  'days_kept',
  'id',
  'start_time',
  'metadata',
  'rank',
  'patched',
  'write',
  'ranks',
  ...traceFieldNames,
];

export const statements = {
  ingest: namedStatement<{ missing: string[] | null }>(
    `select ingest_runs(${namedArguments(ingested)}) as missing`,
  ),
  addDays: statement('select add_trace_days($1::date[])'),
  attach: statement(`insert into trace_attachments (tenant_id, day, run_id, name, content_type, content)
      select d.tenant_id, d.day, d.id, $3, $4, $5 from trace_run_days d where d.tenant_id = $1 and d.id = $2
        and (not isfinite(d.day) or exists (select from trace_days t where t.day = d.day))
      on conflict do nothing`),
  attachment: statement<
    Omit<Attachment, 'run_id'>
  >(`select a.name, a.content_type, a.content from trace_attachments a
      where a.tenant_id = $1 and a.run_id = $2 and a.name = $3
        and a.day = (select d.day from trace_run_days d where d.tenant_id = $1 and d.id = $2)`),
  attachments:
    statement<AttachmentName>(`select a.name, a.content_type, octet_length(a.content) as bytes from trace_attachments a
      where a.tenant_id = $1 and a.run_id = $2
        and a.day = (select d.day from trace_run_days d where d.tenant_id = $1 and d.id = $2)
      order by a.name limit ${attachmentsMax}`),
  attachmentsOf: statement<
    Omit<Attachment, 'content'>
  >(`select a.run_id, a.name, a.content_type from trace_run_days d cross join lateral (
        select a.run_id, a.name, a.content_type from trace_attachments a where a.tenant_id = $1 and a.run_id = d.id and a.day = d.day
        order by a.name limit least(${attachmentsMax}, ${attachmentsOfPageMax} / cardinality($2::uuid[]))) a
      where d.tenant_id = $1 and d.id = any ($2::uuid[]) order by a.run_id, a.name`),
  find: statement<TraceRunRow>(`select ${traceColumns} from tenant_runs r where r.tenant_id = $1 and r.id = $2
      and r.day = (select d.day from trace_run_days d where d.tenant_id = $1 and d.id = $2)`),
};

export type TraceStorage = ReturnType<typeof traceStorage>;

const ingestOnce = async (db: Database, values: unknown[]): Promise<string[] | null> =>
  (await db.query(statements.ingest, values))[0]?.missing ?? null;

/** `reads`: where lists and sums are read, which may be a replica; the database itself when absent. */
export const traceStorage = (db: Database, answers = defaultAnswerLimits, reads: Transactions = db) => ({
  ...traceLists(reads, answers),
  ...otelTraces(db),
  ...traceSums(reads),
  ...traceTotals(reads),
  ...threadTurns(reads),
  ...unpricedRuns(db),

  /**
   * Stores a batch of distinct trace runs; it is durable on return. Attachments belong to trace runs of the batch or to earlier ones.
   * `daysKept`: trace runs that started earlier go to a partition of their own. Returns whether an existing trace run may now be priced.
   */
  async ingest(
    tenant_id: string,
    runs: readonly TraceWrite[],
    attachments: readonly Attachment[],
    daysKept: number,
  ): Promise<boolean> {
    const column = (cellOf: (run: TraceWrite) => Cell) => toColumn(runs.map(cellOf));
    const fields = Object.fromEntries(
      traceFieldNames.map((field) => [field, column((run) => run.fields[field] ?? null)]),
    ) as Record<TraceField, ReturnType<typeof toColumn>>;
    const values = statements.ingest.values({
      tenant: tenant_id,
      days_kept: daysKept,
      id: column((run) => run.id),
      start_time: column((run) => run.start_time),
      metadata: column((run) => run.metadata),
      rank: column((run) => String(run.rank)),
      patched: column((run) => String(run.patched)),
      write: column((run) => run.writes.join(',')),
      ranks: column((run) => run.ranks ?? null),
      ...fields,
    });
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      // Usually a single statement, which is a transaction of its own.
      const missing =
        attachments.length === 0
          ? await ingestOnce(db, values)
          : await asTenant(db, tenant_id, async (tx) => {
              const days = await ingestOnce(tx, values);
              if (days !== null && days.length > 0) return days;
              for (const { run_id, name, content_type, content } of attachments)
                await tx.query(statements.attach, [tenant_id, run_id, name, content_type, toBytes(content)]);
              return days;
            });
      if (missing === null || missing.length === 0) return missing !== null;
      await db.query(statements.addDays, [missing]);
    }
    throw new Problem(
      'unavailable',
      'Days of traces are dropped while trace runs are added to them; try again',
    );
  },

  find: (tenant_id: string, id: string): Promise<TraceRunRow | undefined> =>
    asTenant(db, tenant_id, async (tx) => (await tx.query(statements.find, [tenant_id, id]))[0]),

  listAttachments: (tenant_id: string, run_id: string): Promise<AttachmentName[]> =>
    asTenant(db, tenant_id, (tx) => tx.query(statements.attachments, [tenant_id, run_id])),

  /** The attachments of several trace runs, without their contents. A page of many trace runs has fewer of each. */
  attachmentsOf: (tenant_id: string, run_ids: readonly string[]): Promise<Omit<Attachment, 'content'>[]> =>
    asTenant(db, tenant_id, (tx) => tx.query(statements.attachmentsOf, [tenant_id, run_ids])),

  findAttachment: (
    tenant_id: string,
    run_id: string,
    name: string,
  ): Promise<Omit<Attachment, 'run_id'> | undefined> =>
    asTenant(
      db,
      tenant_id,
      async (tx) => (await tx.query(statements.attachment, [tenant_id, run_id, name]))[0],
    ),
});

type Columns = ReadonlySet<PayloadColumn> | null;

const byIdsSql = (columns: Columns): string =>
  boundedSql({
    runs: `select r.* from unnest($2::uuid[]) wanted
      cross join lateral (select d.day from trace_run_days d where d.tenant_id = $1 and d.id = wanted) d
      cross join lateral (select * from tenant_runs r where r.tenant_id = $1 and r.id = wanted and r.day = d.day) r
      order by r.start_time desc, r.id desc limit $3`,
    order: 'r.start_time desc, r.id desc',
    columns,
    bytesMax: '$4',
  });

/** For lists with all columns. Lists with other columns are rarely repeated. */
export const allByIds = statement<FoundTraceRun>(byIdsSql(null));

export const tree = statement(
  boundedSql({
    runs: `select r.* from tenant_runs r
      where r.tenant_id = $1 and r.trace_id = $2 and (r.day = '-infinity' or r.day >= coalesce(
        (select d.day from trace_run_days d where d.tenant_id = $1 and d.id = $2 and isfinite(d.day)), '1000-01-01') - 1)
      order by r.start_time, r.id limit $3`,
    order: 'r.start_time, r.id',
    columns: new Set(['error']),
    bytesMax: '$4',
  }),
);

/** Lists of trace runs by id or by trace. Searches by time are in trace-search.ts. */
const traceLists = (db: Transactions, { pageBytes }: AnswerLimits) => ({
  listByIds: (tenant_id: string, ids: string[], columns: Columns): Promise<TraceRunPage> =>
    asTenant(db, tenant_id, (tx) => {
      const list = columns === null ? allByIds : { text: byIdsSql(columns) };
      return readRuns(tx, list, [tenant_id, ids, ids.length, pageBytes]);
    }),

  /** All trace runs of a trace, without payloads except errors, ordered by start. */
  tree: (tenant_id: string, trace_id: string, limit: number): Promise<TraceRunPage> =>
    asTenant(db, tenant_id, (tx) => readRuns(tx, tree, [tenant_id, trace_id, limit, pageBytes])),

  /** Ordered by start. Trace runs without a start are in no list. */
  search: (filter: TraceRunListFilter, limits: SearchLimits): Promise<FoundTraceRuns> =>
    searchTraceRuns(db, filter, { ...limits, pageBytes }),
});
