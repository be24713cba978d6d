// SQL that is composed at run time. Fixed statements are written out.
//
//   sql`status = ${status}`              a parameter
//   sql`not ${condition}`                a nested part, with its parameters
//   raw(column)                          trusted text; never input from a request
import type { Database } from './database.ts';
import { readStatement } from './statement.ts';
import pg from 'pg';

export class Sql {
  readonly strings: readonly string[];
  /** Parameters and nested parts, between the strings. */
  readonly values: readonly unknown[];

  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings;
    this.values = values;
  }
}

export const sql = (strings: TemplateStringsArray, ...values: unknown[]): Sql => new Sql(strings, values);

export const raw = (text: string): Sql => new Sql([text], []);

/** The conjunction of the conditions; true when there are none. */
export const all = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0
    ? raw('true')
    : new Sql(['', ...conditions.slice(1).map(() => ' and '), ''], conditions);

/** The statement's text with numbered parameters, and their values. */
export const compile = (query: Sql): { text: string; values: unknown[] } => {
  const values: unknown[] = [];
  const textOf = ({ strings, values: parts }: Sql): string =>
    strings.reduce((text, string, at) => {
      const part = parts[at - 1];
      return `${text}${part instanceof Sql ? textOf(part) : `$${values.push(part)}`}${string}`;
    });
  return { text: textOf(query), values };
};

/** Executes a query that only reads. */
export const select = <Row>(db: Pick<Database, 'query'>, query: Sql): Promise<Row[]> => {
  const { text, values } = compile(query);
  return db.query(readStatement<Row>(text), values);
};

export const count = async (
  db: Pick<Database, 'query'>,
  table: string,
  conditions: readonly Sql[],
): Promise<number> => {
  const [row] = await select<{ count: number }>(
    db,
    sql`select count(*) from ${raw(table)} where ${all(conditions)}`,
  );
  return row?.count ?? 0;
};

/** Counts no further than `most`: the time does not grow with the table. */
export const countUpTo = async (
  db: Pick<Database, 'query'>,
  table: string,
  conditions: readonly Sql[],
  most: number,
): Promise<number> => {
  const [row] = await select<{ count: number }>(
    db,
    sql`select count(*)::integer as count from (select from ${raw(table)} where ${all(conditions)} limit ${most}) c`,
  );
  return row?.count ?? 0;
};

const arrayItem = (text: string): string => `"${text.replaceAll(/["\\]/g, (found) => `\\${found}`)}"`;

/** A string, number or list of strings as a literal. PostgreSQL derives its type from the context. */
export const literal = (value: unknown): string => {
  if (typeof value === 'number' && Number.isFinite(value)) return pg.escapeLiteral(String(value));
  const text = Array.isArray(value) ? `{${value.map((item) => arrayItem(String(item))).join(',')}}` : value;
  if (typeof text !== 'string')
    throw new TypeError('A literal must be a string, a number or a list of strings');
  // NUL ends the statement in the protocol.
  if (text.includes('\0')) throw new RangeError('A literal must not contain NUL');
  return pg.escapeLiteral(text);
};

/** The text of a query with its values as literals. */
export const inlined = ({ strings, values }: Sql): string =>
  strings.reduce((text, string, at) => {
    const part = values[at - 1];
    return `${text}${part instanceof Sql ? inlined(part) : literal(part)}${string}`;
  });
