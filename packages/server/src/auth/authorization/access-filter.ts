// What an auth handler lets through, as a condition on metadata. A handler's filter is checked whole when it comes:
// anything that is not understood is an error, never "everything".
//
//   {owner: 'alice'}  {owner: {$eq: 'alice'}}     equal
//   {tags: {$contains: 'a'}}  {$contains: ['a']}  a list that holds it, or all of these
//   several keys; {$and: […]}; {$or: […]}         {} alone: no restriction
//
// Compiled to a jsonpath of strict mode: lax mode would look into lists where equality is asked for. A missing key is
// an error there, which the operator @@ makes "unknown", and unknown is not true.
import { everyRow, type RowFilter } from '../../storage/postgres/row-filter.ts';

type Scalar = string | number | boolean;

type Condition =
  | { kind: 'equals'; key: string; value: Scalar }
  | { kind: 'contains'; key: string; value: Scalar }
  | { kind: 'and' | 'or'; conditions: Condition[] };

/** A handler's filter that is none. For the log: handlers are the developer's. */
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

  /** Throws a AccessFilterError for what is no filter. */
  static parse(given: unknown): AccessFilter {
    if (isPlainObject(given) && Object.keys(given).length === 0) return AccessFilter.everything;
    const condition = parseFilter(given, 1);
    if (count(condition) > conditionsMax)
      throw new AccessFilterError(`a filter may have ${conditionsMax} conditions`);
    return new AccessFilter(condition);
  }

  /** What the database would say of a row with this metadata. */
  matches(metadata: Readonly<Record<string, unknown>>): boolean {
    return this.#condition === undefined || holds(this.#condition, metadata);
  }
}

const parseFilter = (given: unknown, depth: number): Condition => {
  if (depth > depthMax) throw new AccessFilterError(`a filter may be nested ${depthMax} deep`);
  if (!isPlainObject(given)) throw new AccessFilterError('a filter must be a plain object');
  const entries = Object.entries(given);
  if (entries.length === 0) throw new AccessFilterError('{} means everything only when it stands alone');
  const conditions = entries.map(([key, value]) => {
    if (key === '$and' || key === '$or') return parseList(key, value, depth);
    if (key.startsWith('$')) throw new AccessFilterError(`there is no operator ${key}`);
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
  if (operators.length === 0) throw new AccessFilterError(`${key}: {} is no condition`);
  return all(
    operators.map(([operator, operand]): Condition => {
      if (operator === '$eq') return { kind: 'equals', key, value: parseScalar(key, operand) };
      if (operator !== '$contains') throw new AccessFilterError(`${key}: there is no operator ${operator}`);
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
  throw new AccessFilterError(
    `${key}: a condition compares with a text, a number or a boolean, not with ${shown}`,
  );
};

/** What PostgreSQL cannot hold in a text can be in no metadata either. */
const assertText = (text: string): string => {
  if (text.includes('\0') || loneSurrogate.test(text))
    throw new AccessFilterError('a filter has a text that cannot be stored');
  return text;
};

/** Of any realm: a module of the project may live in another one. */
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

/** JSON is a literal of jsonpath, and its text the quoted name of a key. */
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
