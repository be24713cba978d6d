// The filter that an auth handler returns, as a condition on metadata. It is validated completely when it is returned: anything unknown is
// an error, never "everything".
//
//   {owner: 'alice'}  {owner: {$eq: 'alice'}}     equal
//   {tags: {$contains: 'a'}}  {$contains: ['a']}  the list contains the value, or all of the values
//   several keys; {$and: […]}; {$or: […]}         {} alone: no restriction
//
// Compiled to a jsonpath in strict mode, because lax mode would unwrap lists for an equality. In strict mode a comparison with a
// missing key is unknown: `$or` can still be true by another key. If the whole is unknown, the operator @@ gives null, and the row does not pass.
import { everyRow, type RowFilter } from '../../storage/postgres/row-filter.ts';

type Scalar = string | number | boolean;

type Condition =
  | { kind: 'equals'; key: string; value: Scalar }
  | { kind: 'contains'; key: string; value: Scalar }
  | { kind: 'and' | 'or'; conditions: Condition[] };

/** An invalid filter. For the log, since handlers are written by the developer. */
export class AccessFilterError extends Error {
  override readonly name = 'AccessFilterError';
}

const depthMax = 10;
const conditionsMax = 200;
const loneSurrogate = /\p{Surrogate}/u;

export class AccessFilter implements RowFilter {
  static readonly everything = new AccessFilter(undefined);

  readonly jsonpath: string;
  readonly #condition: Condition | undefined;

  private constructor(condition: Condition | undefined) {
    this.#condition = condition;
    this.jsonpath = condition === undefined ? everyRow.jsonpath : `strict ${toPath(condition)}`;
  }

  get isEverything(): boolean {
    return this.#condition === undefined;
  }

  /** Throws an AccessFilterError for an invalid filter. */
  static parse(given: unknown): AccessFilter {
    if (isPlainObject(given) && Object.keys(given).length === 0) return AccessFilter.everything;
    const condition = parseFilter(given, 1);
    if (count(condition) > conditionsMax)
      throw new AccessFilterError(`a filter may have at most ${conditionsMax} conditions`);
    return new AccessFilter(condition);
  }

  /** True when a row with this metadata passes, as in the database. */
  matches(metadata: Readonly<Record<string, unknown>>): boolean {
    return this.#condition === undefined || holds(this.#condition, metadata);
  }
}

const parseFilter = (given: unknown, depth: number): Condition => {
  if (depth > depthMax) throw new AccessFilterError(`a filter may be nested at most ${depthMax} levels deep`);
  if (!isPlainObject(given)) throw new AccessFilterError('a filter must be a plain object');
  const entries = Object.entries(given);
  if (entries.length === 0)
    throw new AccessFilterError('{} is only allowed as the whole filter, where it means everything');
  const conditions = entries.map(([key, value]) => {
    if (key === '$and' || key === '$or') return parseList(key, value, depth);
    if (key.startsWith('$')) throw new AccessFilterError(`unknown operator ${key}`);
    return parseKey(assertText(key), value);
  });
  return all(conditions);
};

const parseList = (operator: '$and' | '$or', given: unknown, depth: number): Condition => {
  if (!Array.isArray(given) || given.length === 0)
    throw new AccessFilterError(`${operator} needs a list of filters`);
  const conditions = given.map((one) => parseFilter(one, depth + 1));
  return operator === '$and' ? all(conditions) : { kind: 'or', conditions };
};

const parseKey = (key: string, given: unknown): Condition => {
  if (!isPlainObject(given)) return { kind: 'equals', key, value: parseScalar(key, given) };
  const operators = Object.entries(given);
  if (operators.length === 0) throw new AccessFilterError(`${key}: {} is not a condition`);
  return all(
    operators.map(([operator, operand]): Condition => {
      if (operator === '$eq') return { kind: 'equals', key, value: parseScalar(key, operand) };
      if (operator !== '$contains') throw new AccessFilterError(`${key}: unknown operator ${operator}`);
      const values: unknown[] = Array.isArray(operand) ? operand : [operand];
      if (values.length === 0) throw new AccessFilterError(`${key}: $contains needs at least one value`);
      return all(values.map((value) => ({ kind: 'contains', key, value: parseScalar(key, value) })));
    }),
  );
};

const parseScalar = (key: string, given: unknown): Scalar => {
  if (typeof given === 'string') return assertText(given);
  if (typeof given === 'boolean') return given;
  if (typeof given === 'number' && Number.isFinite(given)) return given;
  const shown = given === null ? 'null' : Array.isArray(given) ? 'a list' : typeof given;
  throw new AccessFilterError(`${key}: a condition needs a string, a number or a boolean, not ${shown}`);
};

/** Metadata cannot contain text that PostgreSQL cannot store, so a filter must not either. */
const assertText = (text: string): string => {
  if (text.includes('\0') || loneSurrogate.test(text))
    throw new AccessFilterError(
      'a filter contains a string that cannot be stored (NUL or an unpaired surrogate)',
    );
  return text;
};

/** Also true for objects of another realm, since a project's module may run in one. */
const isPlainObject = (value: unknown): value is Record<string, unknown> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

const all = (conditions: Condition[]): Condition =>
  conditions.length === 1 && conditions[0] !== undefined ? conditions[0] : { kind: 'and', conditions };

const count = (condition: Condition): number =>
  'conditions' in condition ? condition.conditions.reduce((sum, one) => sum + count(one), 0) : 1;

const toPath = (condition: Condition): string => {
  switch (condition.kind) {
    case 'equals':
      return `$.${literal(condition.key)} == ${literal(condition.value)}`;
    case 'contains':
      return `exists($.${literal(condition.key)}[*] ? (@ == ${literal(condition.value)}))`;
    case 'and':
    case 'or':
      return condition.conditions
        .map((one) => `(${toPath(one)})`)
        .join(condition.kind === 'and' ? ' && ' : ' || ');
  }
};

/** A JSON value is a valid jsonpath literal, and a JSON string a valid quoted key. */
const literal = (value: Scalar): string => JSON.stringify(value);

const holds = (condition: Condition, metadata: Readonly<Record<string, unknown>>): boolean => {
  switch (condition.kind) {
    case 'and':
      return condition.conditions.every((one) => holds(one, metadata));
    case 'or':
      return condition.conditions.some((one) => holds(one, metadata));
    case 'equals':
      return Object.hasOwn(metadata, condition.key) && metadata[condition.key] === condition.value;
    case 'contains': {
      const held = Object.hasOwn(metadata, condition.key) ? metadata[condition.key] : undefined;
      return Array.isArray(held) && held.includes(condition.value);
    }
  }
};
