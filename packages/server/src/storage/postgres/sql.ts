// SQL that is put together from parts at run time. Statements that do not change are written out, with a name of their own.
//
//   sql`status = ${status}`              a parameter
//   sql`not ${condition}`                another part, with its parameters
//   raw(column)                          text of our own: never anything that a request contains
import { createHash } from 'node:crypto';
import type { Database } from './database.ts';

export class Sql {
  readonly strings: readonly string[];
  /** Between the strings: parameters and parts. */
  readonly values: readonly unknown[];

  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings;
    this.values = values;
  }
}

export const sql = (strings: TemplateStringsArray, ...values: unknown[]): Sql => new Sql(strings, values);

export const raw = (text: string): Sql => new Sql([text], []);

/** True when every condition is true, so also without one. */
export const all = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0
    ? raw('true')
    : new Sql(['', ...conditions.slice(1).map(() => ' and '), ''], conditions);

/** The text with numbered parameters, and their values. */
export const compile = (query: Sql): { text: string; values: unknown[] } => {
  const values: unknown[] = [];
  const textOf = ({ strings, values: parts }: Sql): string =>
    strings.reduce((text, string, at) => {
      const part = parts[at - 1];
      return `${text}${part instanceof Sql ? textOf(part) : `$${values.push(part)}`}${string}`;
    });
  return { text: textOf(query), values };
};

/** A name to prepare a statement by, made of its text. */
export const nameOf = (text: string): string =>
  `p_${createHash('sha1').update(text).digest('hex').slice(0, 24)}`;

/** Reads the rows of a query that changes nothing. */
export const select = <Row>(db: Pick<Database, 'query'>, query: Sql): Promise<Row[]> => {
  const { text, values } = compile(query);
  return db.query<Row>({ name: nameOf(text), text, reads: true }, values);
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
