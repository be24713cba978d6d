// Facts about a message: its model, its usage, why it ended.
import { isRecord } from '../../../engine/codec/tagged.ts';
import type { JsonRecord } from './protocol-event.ts';

const usageDetails = ['input_token_details', 'output_token_details'] as const;

const addNumbers = (a: JsonRecord, b: JsonRecord): JsonRecord => {
  const sum: Record<string, unknown> = { ...a };
  for (const [name, value] of Object.entries(b))
    if (typeof value === 'number') sum[name] = value + (typeof sum[name] === 'number' ? sum[name] : 0);
  return sum;
};

/** Providers report usage in parts, which are added up. */
export const addUsage = (before: JsonRecord | undefined, part: unknown): JsonRecord | undefined => {
  if (!isRecord(part)) return before;
  const usage: Record<string, unknown> = { ...addNumbers(before ?? {}, part) };
  for (const name of usageDetails) {
    const [old, added] = [before?.[name], part[name]];
    if (isRecord(added)) usage[name] = addNumbers(isRecord(old) ? old : {}, added);
  }
  return usage;
};

/** Newer models mark the last chunk of a message. */
export const isLast = ({ chunk_position }: JsonRecord): boolean => chunk_position === 'last';

export const reasonOf = ({ finish_reason, stop_reason }: JsonRecord): string => {
  const reason = finish_reason ?? stop_reason;
  return typeof reason === 'string' ? reason : 'stop';
};

/** Facts about the model, from the metadata of a chunk. */
export const startMetadata = (metadata: JsonRecord): { metadata?: JsonRecord } => {
  const facts = Object.entries({
    provider: metadata['ls_provider'],
    model: metadata['ls_model_name'],
    model_type: metadata['ls_model_type'],
  }).filter(([, value]) => typeof value === 'string');
  return facts.length === 0 ? {} : { metadata: Object.fromEntries(facts) };
};
