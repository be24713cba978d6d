// A thread as clients see it, as JSON text: values may be large, and are text already.
import type { Thread } from '@svc/contract';
import type { JsonPart } from '../../parsing/json-bytes.ts';
import { JsonText, objectText } from '../../api/json-text.ts';
import { between } from '../../parsing/json-bytes.ts';
import type { ListedThread, ThreadRow } from '../../storage/deployment/threads.ts';

export type ThreadField = keyof Thread;

/** `values` is undefined when they are not included. `fields`: the requested fields. */
export const threadText = (
  row: ThreadRow | ListedThread,
  values: JsonPart | undefined,
  fields?: ReadonlySet<string>,
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
  };
  const wanted = Object.entries(members).filter(([name]) => fields?.has(name) ?? true);
  const text = objectText(Object.fromEntries(wanted));
  if (typeof values !== 'object') return text;
  return between(text === '{}' ? '{"values":' : `${text.slice(0, -1)},"values":`, values, '}');
};

const textOr = (value: unknown): unknown => (typeof value === 'string' ? new JsonText(value) : value);

const ttlColumns = new Set(['ttl_strategy', 'ttl_minutes', 'expires_at']);

/** True for the columns that the fields need. */
export const isColumnOf =
  (fields: ReadonlySet<string>) =>
  (column: string): boolean =>
    fields.has(ttlColumns.has(column) ? 'ttl' : column);
