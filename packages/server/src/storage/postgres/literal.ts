// Literals, for the few statements that take no parameters.
import pg from 'pg';
import { Sql } from './sql.ts';

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
