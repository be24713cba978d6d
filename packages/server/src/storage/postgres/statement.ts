// Statements, which are prepared under names that are derived from their texts. A statement and the type of its rows are declared together.
import { createHash } from 'node:crypto';

export interface Statement<Row = unknown> {
  /** Name of the prepared statement; absent for a statement that is rarely repeated. */
  name?: string;
  text: string;
  /** The statement only reads, so it is sent again when the connection breaks. */
  reads?: boolean;
  /** The statement reads a few short rows by their keys. Such reads of all callers share one connection (shared-reads.ts). */
  isShort?: boolean;
  /** Time limit, for results that are useless later. */
  timeoutMs?: number;
  /** Called each time the statement is sent, after the wait for a connection. */
  onSend?: () => void;
  /** Never set: it holds the type of the rows. */
  row?: Row;
}

/** It is prepared once per connection. */
export interface PreparedStatement<Row> extends Statement<Row> {
  name: string;
}

/** The first table or function of the text, and a hash: short enough for PostgreSQL, which cuts names after 63 bytes. */
export const nameOf = (text: string): string => {
  const [, first = 'statement'] =
    /\b(?:from|into|update)\s+([a-z_]+)/.exec(text) ?? /\bselect\s+([a-z_]+)/.exec(text) ?? [];
  return `${first.slice(0, 38)}_${createHash('sha1').update(text).digest('hex').slice(0, 24)}`;
};

type Options = Pick<Statement, 'isShort' | 'timeoutMs'>;

/** Computes a hash. For a constant text, call it when the module is loaded. */
export const statement = <Row = never>(text: string, options: Options = {}): PreparedStatement<Row> => ({
  name: nameOf(text),
  text,
  ...options,
});

export const readStatement = <Row = never>(text: string, options: Options = {}): PreparedStatement<Row> => ({
  ...statement<Row>(text, options),
  reads: true,
});

export interface NamedStatement<Row> extends PreparedStatement<Row> {
  /** The values in the order of the placeholders. Throws when one is missing. */
  values: (record: object) => unknown[];
}

/** A parameter, but not the type in a cast such as `::uuid`. */
const placeholder = /(?<!:):([a-z_]+)\b/g;

/** A statement with named parameters, for long lists: `:name` in the text, and the values as a record. */
export const namedStatement = <Row = never>(text: string): NamedStatement<Row> => {
  const names: string[] = [];
  const numbered = text.replaceAll(placeholder, (_, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return {
    ...statement<Row>(numbered),
    values: (record) => {
      const values = new Map(Object.entries(record));
      const missing = names.find((name) => !values.has(name));
      if (missing !== undefined) throw new Error(`The statement has no value for ${missing}`);
      return names.map((name) => values.get(name) as unknown);
    },
  };
};

/** The arguments of a SQL function by name, for a named statement: the parameter `name` is passed as `p_name`. */
export const namedArguments = (names: readonly string[]): string =>
  names.map((name) => `p_${name} => :${name}`).join(', ');
