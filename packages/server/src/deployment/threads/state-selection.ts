// The requested parts of a state. Other parts are not read.
import type { extraStateFields, stateFields } from '@svc/contract';

export type StateField = (typeof stateFields | typeof extraStateFields)[number];

/** Plain data, since it is sent to parser threads. */
export interface StateSelection {
  fields: readonly StateField[];
  /** Names of values; all of them when undefined. */
  keys: readonly string[] | undefined;
  /** Names of metadata; all of them when absent. */
  metadataKeys?: readonly string[] | undefined;
}

/** Selects only the values. */
export const valuesOnly = (keys?: readonly string[]): StateSelection => ({ fields: ['values'], keys });

/** Whether a field of the metadata is selected. */
export const hasMetadata = ({ fields, metadataKeys }: StateSelection, key: string): boolean =>
  fields.includes('metadata') && (metadataKeys?.includes(key) ?? true);
