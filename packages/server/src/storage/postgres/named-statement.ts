// Statements with named parameters, for long parameter lists: `:name` in the text, and the values as a record.
import type { Statement } from './database.ts';

export interface NamedStatement<Name extends string> {
  statement: Statement;
  /** The values in the order of the placeholders. */
  values: (record: Readonly<Record<Name, unknown>>) => unknown[];
}

/** A parameter, but not the type in a cast such as `::uuid`. */
const placeholder = /(?<!:):([a-z_]+)\b/g;

/** Throws when the text and `parameters` do not have the same names. */
export const namedStatement = <const Name extends string>({
  parameters,
  text,
  ...options
}: Omit<Statement, 'onSend'> & { parameters: readonly Name[] }): NamedStatement<Name> => {
  const unused = new Set<string>(parameters);
  const numbered = text.replaceAll(placeholder, (_, name: string) => {
    const index = parameters.indexOf(name as Name);
    if (index === -1) throw new Error(`Statement ${options.name} has no parameter ${name}`);
    unused.delete(name);
    return `$${index + 1}`;
  });
  if (unused.size > 0) throw new Error(`Statement ${options.name} does not use ${[...unused].join(', ')}`);
  return {
    statement: { ...options, text: numbered },
    values: (record) => parameters.map((name) => record[name]),
  };
};

/**
 * Calls a SQL function with named arguments: the parameter `name` is passed as `p_name`. `as` names the result of a function
 * that returns a single value; without it, all columns are selected.
 */
export const functionCall = <const Name extends string>({
  function: called,
  as,
  ...options
}: {
  name: string;
  function: string;
  parameters: readonly Name[];
  as?: string;
}): NamedStatement<Name> => {
  const list = options.parameters.map((name) => `p_${name} => :${name}`);
  const call = `${called}(${list.join(', ')})`;
  const text = as === undefined ? `select * from ${call}` : `select ${call} as ${as}`;
  return namedStatement({ ...options, text });
};
