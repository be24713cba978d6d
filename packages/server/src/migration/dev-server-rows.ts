// Entries of the dev server's files as rows. A row that cannot be stored throws `invalid`.
import { Problem } from '@svc/contract/problem';
import { defaultAssistantId } from '../deployment/assistants/default-assistant.ts';
import { configWithoutUser, withoutUser } from '../engine/thread-import/imported-run.ts';
import { isUuid } from '../storage/postgres/uuid.ts';
import type {
  AssistantImport,
  AssistantVersionImport,
} from '../storage/deployment/assistants/assistant-imports.ts';
import { type ItemImport, toItemImport } from '../storage/deployment/store/item-imports.ts';
import type { ThreadImport } from '../storage/deployment/threads/thread-imports.ts';
import { assertStorable } from '../storage/postgres/storable.ts';
import { isRecord } from '../json/is-record.ts';

type Fields = Record<string, unknown>;

const statuses = new Set<unknown>(['idle', 'busy', 'interrupted', 'error']);

const invalid = (reason: string): Problem => new Problem('invalid', reason);

const fieldsOf = (value: unknown): Fields => {
  if (!isRecord(value)) throw invalid('is not an object');
  return value;
};

const textOf = (fields: Fields, key: string): string => {
  const value = fields[key];
  if (typeof value !== 'string') throw invalid(`${key} is not a text`);
  return value;
};

/** A time of the file; superjson writes dates as ISO texts. */
const timeOf = (fields: Fields, key: string, fallback?: string): string => {
  const value = fields[key] ?? fallback;
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(ms)) throw invalid(`${key} is not a time`);
  return new Date(ms).toISOString();
};

const idOf = (fields: Fields, key: string): string => {
  const id = fields[key];
  if (!isUuid(id)) throw invalid(`${key} is not a UUID`);
  return id.toLowerCase();
};

/** Columns that are JSON in the database. */
const assertColumns = (fields: Fields): void => {
  for (const name of ['metadata', 'config', 'context']) assertStorable(fields[name], [name]);
};

export const toThread = (value: unknown): ThreadImport => {
  const fields = fieldsOf(value);
  assertColumns(fields);
  const { status } = fields;
  if (!statuses.has(status)) throw invalid(`the status ${JSON.stringify(status)} is unknown`);
  const created_at = timeOf(fields, 'created_at');
  return {
    thread_id: idOf(fields, 'thread_id'),
    status: status as ThreadImport['status'],
    metadata: withoutUser(fields['metadata']),
    config: configWithoutUser(fields['config']),
    created_at,
    updated_at: timeOf(fields, 'updated_at', created_at),
  };
};

/** Throws `invalid` when the database cannot keep the run. */
export const assertRun = (value: unknown): void => {
  const fields = fieldsOf(value);
  assertStorable(fields['metadata'], ['metadata']);
  timeOf(fields, 'updated_at', timeOf(fields, 'created_at'));
};

export const toVersion = (value: unknown): AssistantVersionImport => {
  const fields = fieldsOf(value);
  assertColumns(fields);
  const { version, name, description, context } = fields;
  if (!Number.isInteger(version) || Number(version) < 1) throw invalid('version is not a positive number');
  const graph_id = textOf(fields, 'graph_id');
  return {
    assistant_id: idOf(fields, 'assistant_id'),
    version: Number(version),
    graph_id,
    name: typeof name === 'string' ? name : graph_id,
    description: typeof description === 'string' ? description : null,
    config: configWithoutUser(fields['config']),
    context: context ?? {},
    metadata: withoutUser(fields['metadata']),
    created_at: timeOf(fields, 'created_at'),
  };
};

/** `versions`: those of the file. The current one is added when they lack it. */
export const toAssistant = (value: unknown, versions: AssistantVersionImport[]): AssistantImport => {
  const current = toVersion(value);
  const { assistant_id, graph_id, created_at } = current;
  const hasCurrent = versions.some(({ version }) => version === current.version);
  return {
    ...current,
    updated_at: timeOf(fieldsOf(value), 'updated_at', created_at),
    is_default: assistant_id === defaultAssistantId(graph_id),
    versions: hasCurrent ? versions : [...versions, current],
  };
};

/** An entry of a namespace: [key, item]. */
export const toItem = (value: unknown): ItemImport => {
  const [, item] = Array.isArray(value) ? (value as unknown[]) : [];
  const fields = fieldsOf(item);
  const { namespace } = fields;
  if (!Array.isArray(namespace) || !namespace.every((label) => typeof label === 'string'))
    throw invalid('namespace is not a list of texts');
  const created_at = timeOf(fields, 'createdAt');
  return toItemImport({
    namespace: namespace as string[],
    key: textOf(fields, 'key'),
    value: fieldsOf(fields['value']),
    created_at,
    updated_at: timeOf(fields, 'updatedAt', created_at),
  });
};
