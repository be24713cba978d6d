// A thread as clients see it, as JSON text: values may be large, and are text already.
import type { Thread, ThreadStorageReport } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import { type JsonPart, between } from '../../parsing/json-bytes.ts';
import { JsonText, objectText } from '../../api/json-text.ts';
import { type ExtractPath, partAt } from './extract-paths.ts';
import type { ListedThread, ThreadRow } from '../../storage/deployment/threads/threads.ts';
import type { ThreadUsage } from '../../storage/deployment/threads/thread-usage.ts';

export type ThreadField = keyof Thread;

/** `values` is undefined when they are not included. `fields`: the requested fields. `extracted`: JSON text, if it was requested. */
export const threadText = (
  row: ThreadRow | Omit<ListedThread, 'place'>,
  values: JsonPart | undefined,
  fields?: ReadonlySet<string>,
  extracted?: string,
): JsonPart => {
  const { ttl_strategy: strategy, ttl_minutes, expires_at } = row;
  const hasTtl = ttl_minutes !== null && ttl_minutes !== undefined;
  const members: Record<ThreadField, unknown> = {
    thread_id: row.thread_id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    state_updated_at: row.state_updated_at,
    metadata: textOr(row.metadata),
    config: textOr(row.config),
    status: row.status,
    values: typeof values === 'string' ? new JsonText(values) : undefined,
    interrupts: textOr(row.interrupts),
    error: textOr(row.error ?? undefined),
    ttl: hasTtl ? { strategy, ttl_minutes, expires_at } : undefined,
    extracted: textOr(extracted),
  };
  const wanted = Object.entries(members).filter(
    ([name]) => name === 'extracted' || (fields?.has(name) ?? true),
  );
  const text = objectText(Object.fromEntries(wanted));
  if (typeof values !== 'object') return text;
  return between(text === '{}' ? '{"values":' : `${text.slice(0, -1)},"values":`, values, '}');
};

/** Characters that a search may extract from one thread. */
export const extractedMax = 1_048_576;

/** `parts`: those of the values, as JSON texts, in the order of the paths. Undefined without paths. */
export const extractedText = (
  row: ListedThread,
  extracts: readonly ExtractPath[],
  parts: readonly string[],
): string | undefined => {
  if (extracts.length === 0) return undefined;
  let next = 0;
  const members = extracts.map(({ alias, root, steps }) => {
    if (root === 'values') return [alias, new JsonText(parts[next++] ?? 'null')];
    const column = row[root];
    const value: unknown = typeof column === 'string' ? JSON.parse(column) : column;
    return [alias, partAt(value, steps)];
  });
  const text = objectText(Object.fromEntries(members) as object);
  if (text.length > extractedMax) throw tooMuchExtracted(text.length);
  return text;
};

export const tooMuchExtracted = (length: number): Problem =>
  new Problem(
    'too_large',
    `A search extracts at most ${extractedMax} characters from a thread, and the paths of one have ${length}. Extract smaller parts, or select the values.`,
  );

const textOr = (value: unknown): unknown => (typeof value === 'string' ? new JsonText(value) : value);

const ttlColumns = new Set(['ttl_strategy', 'ttl_minutes', 'expires_at']);

/** True for the columns that the fields need. */
export const isColumnOf =
  (fields: ReadonlySet<string>) =>
  (column: string): boolean =>
    fields.has(ttlColumns.has(column) ? 'ttl' : column);

/** What `GET /threads/{id}/storage` returns. */
export const usageReport = (thread_id: string, usage: ThreadUsage): ThreadStorageReport => ({
  thread_id,
  total_bytes: usage.checkpoint_bytes + usage.values_bytes + usage.writes_bytes,
  checkpoints: { count: usage.checkpoints, bytes: usage.checkpoint_bytes },
  channel_values: {
    count: usage.values,
    bytes: usage.values_bytes,
    by_channel: Object.fromEntries(usage.channels.map(({ channel, ...of }) => [channel, of])),
  },
  pending_writes: { count: usage.writes, bytes: usage.writes_bytes },
});
