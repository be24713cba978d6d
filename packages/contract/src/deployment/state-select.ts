// The fields of a state that a request may name, so that the others are not read.
import * as z from 'zod';
import { queryList } from '../json.ts';

/** The fields that a state has without `select`. */
export const stateFields = [
  'values',
  'next',
  'tasks',
  'interrupts',
  'metadata',
  'created_at',
  'checkpoint',
  'parent_checkpoint',
  'checkpoint_id',
  'parent_checkpoint_id',
] as const;

/** Fields that a state has only when they are selected. */
export const extraStateFields = ['nodes'] as const;

const names = [...stateFields, ...extraStateFields] as const;

/** Names in one `select`. */
export const selectMax = 1_000;

export const StateField = z
  .union([
    z.enum(names),
    z.string().startsWith('values.').max(256),
    z.string().startsWith('metadata.').max(256),
  ])
  .meta({
    description: `A field of a state (${names.join(', ')}), or one value: values.<name> or metadata.<name>`,
  });

export const stateSelect = queryList(StateField).describe(
  'The fields that are returned; all of them except `nodes` by default',
);
