// Which parts of a state a request selects. Not in state-selection.ts, which parser threads load without the contract.
import { extraStateFields, stateFields } from '@svc/contract';
import type { StateSelection } from './state-selection.ts';

const allFields = [...stateFields, ...extraStateFields] as const;

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
