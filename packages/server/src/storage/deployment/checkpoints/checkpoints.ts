// Checkpoints, their pending writes, and the blobs that hold their values.
import { type AnswerLimits, defaultAnswerLimits } from '../../postgres/answer-limits.ts';
import { type BoundedPage, readPage } from '../../postgres/bounded-page.ts';
import type { Database } from '../../postgres/database.ts';
import { channelsAtHead, recordedJoin } from './recorded-state.ts';
import type {
  BlobRoot,
  BlobRow,
  CheckpointBatch,
  CheckpointKey,
  CheckpointRow,
  HeadValues,
  HistoryQuery,
  RunProgress,
  StoredCheckpoint,
} from './checkpoint-rows.ts';
import { readStatement, type Statement, statement } from '../../postgres/statement.ts';
import type { RowFilter } from '../../postgres/row-filter.ts';

/** `empty`: the thread has no checkpoint. */
export type MetadataPatchOutcome = 'done' | 'missing' | 'busy' | 'empty';

const columns = `c.thread_id, c.checkpoint_ns, c.checkpoint_id, c.parent_id, c.run_id, c.metadata, c.body, c.channels, c.wrote, c.shape`;
// In the order in which the engine applies the writes of a superstep: a delta channel is rebuilt from them.
const writesList = `(select coalesce(json_agg(json_build_object('checkpoint_id', w.checkpoint_id, 'task_id', w.task_id,
    'channel', w.channel, 'ref', w.ref, 'idx', w.idx, 'run_id', w.run_id)
    order by coalesce(w.task_path, '') collate "C", w.task_id collate "C", w.idx), '[]')
  from checkpoint_writes w
  where w.thread_id = c.thread_id and w.checkpoint_ns = c.checkpoint_ns and w.checkpoint_id = c.checkpoint_id)`;
const writes = `${writesList} as writes`;

/** The same columns for `readPage`. */
const pageColumns = {
  ...Object.fromEntries(columns.split(',').map((column) => [column.trim().slice(2), column.trim()])),
  writes_text: `${writesList}::text`,
};

/** Greater than any time-based id. */
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
/** Rows that one statement deletes. */
const deletedMax = 5_000;
/** Maximum number of log rows that one read returns. */
const logRowsMax = 1_000;
/** Maximum number of interrupts that one read returns. */
const interruptsMax = 10_000;
/** The engine reads whole histories; requests of clients have limits of their own. */
const allRows = 1_000_000;

/** The references of a blob `b` to the nodes of its list: as many as its payload begins with. */
const listRefs = `case when b.payload like '[%' and cardinality(b.refs) > 0 then b.refs[1:substring(b.payload from '^\\[(\\d+)')::integer] end`;

/**
 * CTEs: `found` has the blobs with the hashes $2 in the spaces $1, and all blobs that they reference by `refs`. `size` is their size in
 * bytes.
 */
const reachedBlobs = (refs = 'b.refs'): string => `with recursive reached (space, hash) as (
        select * from unnest($1::uuid[], $2::uuid[])
        union
        select reached.space, r.hash from reached
        join blobs b on b.space = reached.space and b.hash = reached.hash
        cross join lateral unnest(${refs}) as r(hash)
      ), found as materialized (
        select b.hash, b.refs, b.payload from reached join blobs b on b.space = reached.space and b.hash = reached.hash
      ), size as (
        select coalesce(sum(coalesce(octet_length(payload), 0) + 64 + 40 * coalesce(cardinality(refs), 0)), 0)::bigint as bytes
        from found
      )`;

export const statements = {
  commit: statement<{ lost: string[] }>('select commit_batch($1, $2, $3, $4, $5, $6, $7, $8) as lost'),
  get: readStatement<Row>(`select ${columns}, ${writes} from checkpoints c
      where c.thread_id = $1 and c.checkpoint_ns = $2 and c.checkpoint_id = $3`),
  head: readStatement<Row>(`select ${columns}, ${writes} from checkpoint_heads h
      join checkpoints c using (thread_id, checkpoint_ns, checkpoint_id)
      where h.thread_id = $1 and h.checkpoint_ns = $2`),
  left: readStatement<Row>(`select ${columns}, ${writes} from runs r
      join checkpoints c on c.thread_id = r.thread_id and c.checkpoint_ns = '' and c.checkpoint_id = r.final_head
      where r.run_id = $1`),
  headValues: readStatement<
    HeadValues & { recorded: string | null }
  >(`select t.thread_id, t.blob_space as space, coalesce(c.channels, '{}') as channels, c.shape, s.ref as recorded from threads t
      left join checkpoint_heads h on h.thread_id = t.thread_id and h.checkpoint_ns = ''
      left join checkpoints c on c.thread_id = h.thread_id and c.checkpoint_ns = h.checkpoint_ns
        and c.checkpoint_id = h.checkpoint_id
      ${recordedJoin}
      where t.thread_id = any ($1::uuid[]) and t.metadata @@ $2::jsonpath`),
  headId: readStatement<{ checkpoint_id: string }>(
    `select checkpoint_id from checkpoint_heads where thread_id = $1 and checkpoint_ns = $2`,
  ),
  // Reads the primary key backwards: the cost depends on the page, not on the length of the history.
  history: readStatement<Row>(`select ${columns}, ${writes} from checkpoints c
      where c.thread_id = $1 and c.checkpoint_ns = $2 and c.checkpoint_id < $3
      order by c.checkpoint_id desc limit $4`),
  everywhere: readStatement<Row>(`select ${columns}, ${writes} from checkpoints c
      where c.thread_id = $1 and c.checkpoint_id < $2 order by c.checkpoint_id desc limit $3`),
  // Follows `refs` from the given hashes to the leaves.
  blobs: readStatement<BlobRow>(`with recursive reached (hash) as (
        select unnest($2::uuid[])
        union
        select r.hash from reached
        join blobs b on b.space = $1 and b.hash = reached.hash
        cross join lateral unnest(b.refs) as r(hash)
      )
      select b.hash, b.refs, b.payload from reached join blobs b on b.space = $1 and b.hash = reached.hash`),
  // The same for several spaces. The first row has the size of all of them; there are no others when it is more than $3.
  // One row per blob: as a single value, a large state would be in memory several times while it is read.
  blobsOf: readStatement<SizedBlob>(`${reachedBlobs()}
      select bytes, hash, refs, payload from size left join found on bytes <= $3`),
  // The same, with those blobs only that are nodes of lists: not the elements of lists, nor the members of objects.
  nodesOf: readStatement<SizedBlob>(`${reachedBlobs(listRefs)}
      select bytes, hash, refs, payload from size left join found on bytes <= $3`),
  // Walks from the newest root checkpoint back to the run's input, or to the first checkpoint that another run created.
  progress: readStatement<RunProgress>(`with recursive line as (
        select c.parent_id, c.metadata, 1 as depth from checkpoint_heads h
        join checkpoints c using (thread_id, checkpoint_ns, checkpoint_id)
        where h.thread_id = $1 and h.checkpoint_ns = '' and c.run_id = $2
        union all
        select c.parent_id, c.metadata, l.depth + 1 from line l
        join checkpoints c on c.thread_id = $1 and c.checkpoint_ns = '' and c.checkpoint_id = l.parent_id
        where c.run_id = $2
      )
      select (l.metadata::json ->> 'step')::integer as step, (select max(o.depth) from line o) as checkpoints,
        (select o.parent_id from line o order by o.depth desc limit 1) as start
      from line l where l.depth = 1`),
  // Interrupts at the root checkpoint and in the subgraphs of its tasks, without those that the run itself created.
  interrupts: readStatement<{ ref: string }>(`with root as (
        select c.checkpoint_id, c.shape from checkpoints c
        where c.thread_id = $1 and c.checkpoint_ns = '' and c.checkpoint_id = coalesce($2, (
          select h.checkpoint_id from checkpoint_heads h where h.thread_id = $1 and h.checkpoint_ns = ''))
      ), places as (
        select '' as checkpoint_ns, r.checkpoint_id from root r
        union all
        select c.checkpoint_ns, c.checkpoint_id
        from root r cross join lateral json_array_elements(r.shape::json -> 'tasks') as t(task)
        join checkpoint_heads h on h.thread_id = $1
          and split_part(split_part(h.checkpoint_ns, '|', 1), ':', 2) = t.task ->> 'id'
        cross join lateral (
          select c.checkpoint_ns, c.checkpoint_id from checkpoints c
          where c.thread_id = $1 and c.checkpoint_ns = h.checkpoint_ns and c.run_id is distinct from $3
          order by c.checkpoint_id desc limit 1
        ) c
      )
      select w.ref from places p
      join checkpoint_writes w on w.thread_id = $1 and w.checkpoint_ns = p.checkpoint_ns and w.checkpoint_id = p.checkpoint_id
      where w.channel = '__interrupt__' and w.run_id is distinct from $3
      order by p.checkpoint_ns, w.task_id limit $4`),
  pruneEndings: statement<{ endings: number }>(`with over as (
        select owner, lease_token from stored_endings where stored_at < now() - $1 * interval '1 ms'
        order by stored_at limit $2 for update skip locked
      ), gone as (
        delete from stored_endings s using over o where s.owner = o.owner and s.lease_token = o.lease_token returning 1
      )
      select count(*)::integer as endings from gone`),
  // The log of a run has at most 10 MB. RepeatedEvents has the same conditions.
  repeatableEvents: readStatement<{ events: string }>(`select e.events from run_events e
      where e.run_id = $1 and (position('"__interrupt__":' in e.events) > 0 or position('"cached":true' in e.events) > 0)
      order by e.first_id, e.last_id limit $2`),
  delete: statement<{ more: boolean }>('select delete_checkpoints($1, $2) as more'),
  space: readStatement<{ blob_space: string }>('select blob_space from threads where thread_id = $1'),
  // The metadata of a stored checkpoint is changed under the lock of its thread.
  lock: statement(
    'select thread_id from threads where thread_id = $1 and metadata @@ $2::jsonpath for update',
  ),
  inFlight: statement(`select 1 from runs where thread_id = $1 and status in ('pending', 'running') limit 1`),
  headMetadata: statement<{
    checkpoint_id: string;
    metadata: string;
  }>(`select c.checkpoint_id, c.metadata from checkpoint_heads h
      join checkpoints c using (thread_id, checkpoint_ns, checkpoint_id)
      where h.thread_id = $1 and h.checkpoint_ns = ''`),
  updateMetadata: statement(
    `update checkpoints set metadata = $3 where thread_id = $1 and checkpoint_ns = '' and checkpoint_id = $2`,
  ),
};

type SizedBlob = Partial<BlobRow> & { bytes: number };
type Row = CheckpointRow & { writes: StoredCheckpoint['writes'] };
const stored = ({ writes: list, ...checkpoint }: Row): StoredCheckpoint => ({ checkpoint, writes: list });

export type CheckpointStorage = ReturnType<typeof checkpointStorage>;

/** Two columns of equal length: the space and the hash of every root. */
const rootColumns = (roots: BlobRoot[]): [spaces: string[], hashes: string[]] => [
  roots.flatMap(({ space, hashes }) => hashes.map(() => space)),
  roots.flatMap(({ hashes }) => hashes),
];

const boundedReads = (db: Database, answers: AnswerLimits) => ({
  /** What the values of these threads are built from. Threads that were deleted, or no longer pass, have no entry. */
  async findHeadValues(thread_ids: string[], access: RowFilter): Promise<Map<string, HeadValues>> {
    const rows = await db.query(statements.headValues, [thread_ids, access.jsonpath]);
    const heads = rows.map(({ recorded, channels, ...row }) => ({
      ...row,
      channels: channelsAtHead(channels, recorded),
    }));
    return new Map(heads.map((row) => [row.thread_id, row]));
  },

  /** Newest first, bounded by the bytes of a page. */
  async historyPage({
    thread_id,
    checkpoint_ns,
    before = lastId,
    limit,
  }: HistoryQuery & { checkpoint_ns: string; limit: number }): Promise<BoundedPage<StoredCheckpoint>> {
    const { rows, ...more } = await readPage<Row>(db, {
      keys: {
        text: `select c.thread_id, c.checkpoint_ns, c.checkpoint_id from checkpoints c
            where c.thread_id = $1 and c.checkpoint_ns = $2 and c.checkpoint_id < $3
            order by c.checkpoint_id desc limit $4`,
        values: [thread_id, checkpoint_ns, before, limit + 1],
      },
      order: 'k.checkpoint_id desc',
      columns: pageColumns,
      long: ['metadata', 'body', 'channels', 'wrote', 'shape', 'writes_text'],
      from: 'checkpoints c',
      where:
        'c.thread_id = k.thread_id and c.checkpoint_ns = k.checkpoint_ns and c.checkpoint_id = k.checkpoint_id',
      limit,
      answers,
    });
    const toStored = ({ writes_text, ...row }: Row & { writes_text?: string }): StoredCheckpoint =>
      stored({ ...row, writes: JSON.parse(writes_text ?? '[]') as Row['writes'] });
    return { rows: rows.map(toStored), ...more };
  },

  /** The blobs of these roots, all blobs that they reference, and their size; without the blobs when it is more than `bytesMax`. */
  blobsOf: (roots: BlobRoot[], bytesMax: number): Promise<SizedBlobs> =>
    sizedBlobs(db, statements.blobsOf, roots, bytesMax),

  /** The same of these roots and the nodes of their lists, without elements and members. */
  nodesOf: (roots: BlobRoot[], bytesMax: number): Promise<SizedBlobs> =>
    sizedBlobs(db, statements.nodesOf, roots, bytesMax),
});

export interface SizedBlobs {
  blobs: BlobRow[] | undefined;
  bytes: number;
}

const sizedBlobs = async (
  db: Database,
  statement: Statement<SizedBlob>,
  roots: BlobRoot[],
  bytesMax: number,
): Promise<SizedBlobs> => {
  if (roots.every(({ hashes }) => hashes.length === 0)) return { blobs: [], bytes: 0 };
  const rows = await db.query(statement, [...rootColumns(roots), bytesMax]);
  const bytes = rows[0]?.bytes ?? 0;
  const isBlob = (row: SizedBlob): row is BlobRow & SizedBlob => typeof row.hash === 'string';
  return { blobs: bytes > bytesMax ? undefined : rows.filter(isBlob), bytes };
};

const checkpointMetadataStorage = (db: Database) => ({
  /**
   * Replaces the metadata of the head of the root namespace by the result of `merge`. Holds the lock of the thread, as state updates
   * and new runs do. Merged in JavaScript, because the text may contain \u0000, which jsonb refuses.
   */
  patchMetadata: (
    thread_id: string,
    merge: (stored: Record<string, unknown>) => Record<string, unknown>,
    access: RowFilter,
  ): Promise<MetadataPatchOutcome> =>
    db.transact(async (tx) => {
      if ((await tx.query(statements.lock, [thread_id, access.jsonpath])).length === 0) return 'missing';
      // Statements of their own: they see what was committed while this transaction waited for the lock.
      if ((await tx.query(statements.inFlight, [thread_id])).length > 0) return 'busy';
      const [head] = await tx.query(statements.headMetadata, [thread_id]);
      if (head === undefined) return 'empty';
      const metadata = merge(JSON.parse(head.metadata) as Record<string, unknown>);
      await tx.query(statements.updateMetadata, [thread_id, head.checkpoint_id, JSON.stringify(metadata)]);
      return 'done';
    }),
});

export const checkpointStorage = (db: Database, answers = defaultAnswerLimits) => ({
  ...boundedReads(db, answers),
  ...checkpointMetadataStorage(db),

  /** Stores a flush. Returns the owners that may not write any more; nothing of them is stored. */
  async commit(batch: CheckpointBatch): Promise<string[]> {
    // One parameter per kind, because PostgreSQL parses a json value again for every member that is extracted from it.
    const { owners, heads, blobs, checkpoints, writes: newWrites, summaries, events, endings } = batch;
    const lists = [owners, heads, blobs, checkpoints, newWrites, summaries, events, endings].map((list) =>
      JSON.stringify(list),
    );
    const [row] = await db.query(statements.commit, lists);
    return row?.lost ?? [];
  },

  /** Deletes the records of ends that were stored longer ago, and returns how many. A flush must not be repeated after that time. */
  async pruneEndings(olderThanMs: number, limit: number): Promise<number> {
    const [row] = await db.query(statements.pruneEndings, [olderThanMs, limit]);
    return row?.endings ?? 0;
  },

  /** The checkpoint of the key; without an id, the head of its namespace. */
  async find({
    thread_id,
    checkpoint_ns,
    checkpoint_id,
  }: CheckpointKey): Promise<StoredCheckpoint | undefined> {
    const [row] =
      checkpoint_id === undefined
        ? await db.query(statements.head, [thread_id, checkpoint_ns])
        : await db.query(statements.get, [thread_id, checkpoint_ns, checkpoint_id]);
    return row && stored(row);
  },

  /** The head of the root namespace when the run ended; undefined when that checkpoint is deleted, or the run never began. */
  async findLeft(run_id: string): Promise<StoredCheckpoint | undefined> {
    const [row] = await db.query(statements.left, [run_id]);
    return row && stored(row);
  },

  async findHeadId(thread_id: string, checkpoint_ns: string): Promise<string | null> {
    const [row] = await db.query(statements.headId, [thread_id, checkpoint_ns]);
    return row?.checkpoint_id ?? null;
  },

  /** Undefined when the run did not create the head. */
  async findProgress(thread_id: string, run_id: string): Promise<RunProgress | undefined> {
    return (await db.query(statements.progress, [thread_id, run_id]))[0];
  },

  /** References of the interrupts that existed before the run, at a root checkpoint (by default the head). */
  async foundInterrupts(
    thread_id: string,
    checkpoint_id: string | undefined,
    run_id: string,
  ): Promise<string[]> {
    const values = [thread_id, checkpoint_id ?? null, run_id, interruptsMax];
    return (await db.query(statements.interrupts, values)).map((row) => row.ref);
  },

  /** Rows of the log of a run that may have events which its next attempt emits again (see RepeatedEvents). */
  async repeatableEvents(run_id: string): Promise<string[]> {
    const rows = await db.query(statements.repeatableEvents, [run_id, logRowsMax]);
    return rows.map(({ events }) => events);
  },

  /** Newest first. */
  async history({
    thread_id,
    checkpoint_ns,
    before = lastId,
    limit = allRows,
  }: HistoryQuery): Promise<StoredCheckpoint[]> {
    const rows =
      checkpoint_ns === undefined
        ? await db.query(statements.everywhere, [thread_id, before, limit])
        : await db.query(statements.history, [thread_id, checkpoint_ns, before, limit]);
    return rows.map(stored);
  },

  /** The blobs with these hashes, and all blobs that they reference. */
  async blobs(space: string, hashes: string[]): Promise<BlobRow[]> {
    return hashes.length === 0 ? [] : db.query(statements.blobs, [space, hashes]);
  },

  /** Removes all checkpoints of a thread, in batches. */
  async deleteThread(thread_id: string): Promise<void> {
    for (let more = true; more;) {
      const [row] = await db.query(statements.delete, [thread_id, deletedMax]);
      more = row?.more ?? false;
    }
  },

  /** The blob space of a thread; undefined when the thread does not exist. */
  async findSpace(thread_id: string): Promise<string | undefined> {
    const [row] = await db.query(statements.space, [thread_id]);
    return row?.blob_space;
  },
});
