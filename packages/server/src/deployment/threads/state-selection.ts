// The requested parts of a state. Other parts are not read.
import { extraStateFields, stateFields } from '@svc/contract';

const allFields = [...stateFields, ...extraStateFields] as const;

export type StateField = (typeof allFields)[number];

/** Plain data, since it is sent to parser threads. */
export interface StateSelection {
  fields: readonly StateField[];
  /** Names of values; all of them when undefined. */
  keys: readonly string[] | undefined;
  /** Names of metadata; all of them when absent. */
  metadataKeys?: readonly string[] | undefined;
}

export const wholeState: StateSelection = { fields: stateFields, keys: undefined };

/** `select`: names of fields, `values.<name>` for single values, and `metadata.<name>` for single metadata. */
export const toSelection = (select: readonly string[] | undefined): StateSelection => {
  if (select === undefined || select.length === 0) return wholeState;
  const names = new Set(select.map((name) => name.split('.', 1)[0]));
  return {
    fields: allFields.filter((field) => names.has(field)),
    keys: keysWithin('values', select),
    metadataKeys: keysWithin('metadata', select),
  };
};

/** Undefined when the whole field is selected, or nothing of it. */
const keysWithin = (field: string, select: readonly string[]): string[] | undefined => {
  const prefix = `${field}.`;
  const keys = select.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  return select.includes(field) || keys.length === 0 ? undefined : keys;
};

/** Selects only the values. */
export const valuesOnly = (keys?: readonly string[]): StateSelection => ({ fields: ['values'], keys });

/** Whether a field of the metadata is selected. */
export const hasMetadata = ({ fields, metadataKeys }: StateSelection, key: string): boolean =>
  fields.includes('metadata') && (metadataKeys?.includes(key) ?? true);
