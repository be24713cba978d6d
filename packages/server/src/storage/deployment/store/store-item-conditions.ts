// The conditions of searches of the store: presence, authorization, namespace prefix and filter.
import { invalid } from '@svc/contract/problem';
import type { RowFilter } from '../../postgres/row-filter.ts';
import { raw, type Sql, sql } from '../../postgres/sql.ts';

export interface ItemCondition {
  prefix: string[];
  /** Maps a key to the value that it must equal, or to operators: $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin. */
  filter?: Record<string, unknown> | undefined;
}

/** An expired item counts as deleted before it is swept. */
export const present = '(expires_at is null or expires_at > now())';
/** The JSON that an access filter is applied to: the value, with namespace and key. */
export const seen = (item = ''): string =>
  `(${item}value || jsonb_build_object('namespace', to_jsonb(${item}namespace), 'key', ${item}key))`;

/**
 * The namespaces that begin with these labels, as a range of the index. The successor of a label in byte order is the label followed
 * by the lowest character.
 */
export const below = (prefix: string[]): Sql[] => {
  const last = prefix.at(-1);
  if (last === undefined) return [];
  const end = [...prefix.slice(0, -1), `${last}\u0001`];
  return [sql`namespace >= ${prefix}::text[]`, sql`namespace < ${end}::text[]`];
};

type Compare = (field: Sql, operand: unknown) => Sql;

const isOperators = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.keys(value).some((key) => key.startsWith('$'));

const jsonb = (value: unknown) => sql`${JSON.stringify(value)}::jsonb`;

/** Values are ordered only within one JSON type: a number is never greater than a string. */
const ordered =
  (compare: (field: Sql, operand: Sql) => Sql): Compare =>
  (field, operand) =>
    sql`(jsonb_typeof(${field}) = jsonb_typeof(${jsonb(operand)}) and ${compare(field, jsonb(operand))})`;

const anyOf = (field: Sql, operand: unknown): Sql =>
  sql`coalesce(${field} = any (array(select jsonb_array_elements(${jsonb(operand)}))), false)`;

/** A missing key equals nothing, and differs from everything. */
const comparisons: Record<string, Compare> = {
  $eq: (field, operand) => sql`${field} = ${jsonb(operand)}`,
  $ne: (field, operand) => sql`${field} is distinct from ${jsonb(operand)}`,
  $gt: ordered((field, operand) => sql`${field} > ${operand}`),
  $gte: ordered((field, operand) => sql`${field} >= ${operand}`),
  $lt: ordered((field, operand) => sql`${field} < ${operand}`),
  $lte: ordered((field, operand) => sql`${field} <= ${operand}`),
  $in: anyOf,
  $nin: (field, operand) => sql`not ${anyOf(field, operand)}`,
};

const takesList = new Set(['$in', '$nin']);

/** The same condition in the form that the index on values supports; useless for objects and lists. */
const indexed = (key: string, wanted: unknown): Sql[] =>
  typeof wanted === 'object' && wanted !== null ? [] : [sql`value @> ${jsonb({ [key]: wanted })}`];

const fieldCondition = (key: string, wanted: unknown): Sql[] => {
  const field = sql`value -> ${key}`;
  if (wanted === undefined) return [sql`${field} is null`];
  const operators = isOperators(wanted) ? wanted : { $eq: wanted };
  return Object.entries(operators).flatMap(([operator, operand]) => {
    const place = ['filter', key, operator];
    const compare = Object.hasOwn(comparisons, operator) ? comparisons[operator] : undefined;
    if (!compare) {
      const known = Object.keys(comparisons).join(', ');
      throw invalid(place, `${operator} is not an operator; the operators are ${known}`);
    }
    if (operand === undefined) throw invalid(place, `${operator} of ${key} needs a value to compare with`);
    if (takesList.has(operator) && !Array.isArray(operand))
      throw invalid(place, `${operator} of ${key} needs a list`);
    return [...(operator === '$eq' ? indexed(key, operand) : []), compare(field, operand)];
  });
};

export const passing = (access: RowFilter): Sql[] =>
  access.isEverything ? [] : [sql`${raw(seen())} @@ ${access.jsonpath}::jsonpath`];

/** The conditions on rows of `store_items` that a search may return. */
export const itemConditions = ({ prefix, filter = {} }: ItemCondition, access: RowFilter): Sql[] => [
  raw(present),
  ...passing(access),
  ...below(prefix),
  ...Object.entries(filter).flatMap(([key, wanted]) => fieldCondition(key, wanted)),
];
