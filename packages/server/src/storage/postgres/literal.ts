// Values inside of a statement, for the few that take no parameters.
import pg from 'pg';

const arrayItem = (text: string): string => `"${text.replaceAll(/["\\]/g, (found) => `\\${found}`)}"`;

/** A text, number or list of texts as a constant whose type PostgreSQL takes from where it stands. */
export const literal = (value: unknown): string => {
  if (typeof value === 'number' && Number.isFinite(value)) return pg.escapeLiteral(String(value));
  const text = Array.isArray(value) ? `{${value.map((item) => arrayItem(String(item))).join(',')}}` : value;
  if (typeof text !== 'string') throw new TypeError('Only texts, numbers and lists of texts are constants');
  // It would end the statement.
  if (text.includes('\0')) throw new RangeError('PostgreSQL has no NUL in texts');
  return pg.escapeLiteral(text);
};
