// The requested parts of a state. Other parts are not read.
import { stateFields } from '@svc/contract';

export type StateField = (typeof stateFields)[number];

/** Plain data, since it is sent to parser threads. */
export interface StateSelection {
  fields: readonly StateField[];
  /** Names of values; all of them when undefined. */
  keys: readonly string[] | undefined;
}

export const wholeState: StateSelection = { fields: stateFields, keys: undefined };

const valuePrefix = 'values.';

/** `select`: names of fields, and `values.<name>` for single values. */
export const toSelection = (select: readonly string[] | undefined): StateSelection => {
  if (select === undefined || select.length === 0) return wholeState;
  const keys = select
    .filter((name) => name.startsWith(valuePrefix))
    .map((name) => name.slice(valuePrefix.length));
  const hasAll = select.includes('values');
  const fields = stateFields.filter(
    (field) => select.includes(field) || (field === 'values' && keys.length > 0),
  );
  return { fields, keys: hasAll || keys.length === 0 ? undefined : keys };
};

/** Selects only the values. */
export const valuesOnly = (keys?: readonly string[]): StateSelection => ({ fields: ['values'], keys });
