// Values of a JSON schema (OpenAPI 3.1), with faults in some places.
import type { Random } from '../faults/random.ts';

export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  format?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
}

/** JSON text in place of a value, for text that no JavaScript value serializes to. */
export class RawText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export interface ValueParts {
  random: Random;
  schemas: Record<string, Schema>;
  /** An existing or an unknown id. */
  id: (name: string) => string;
  /** From 0 to 1: how often a value is invalid. */
  faults: number;
}

const nested = (depth: number): RawText => new RawText('['.repeat(depth) + ']'.repeat(depth));
const nestedObjects = (depth: number): RawText =>
  new RawText('{"a":'.repeat(depth) + '1' + '}'.repeat(depth));

const hostile: ((random: Random) => unknown)[] = [
  () => null,
  () => true,
  () => '',
  () => [],
  () => ({}),
  () => -1,
  () => 1.5,
  () => Number.MAX_SAFE_INTEGER,
  () => 2 ** 31,
  () => 2 ** 63,
  () => 1e308,
  () => new RawText('1e999'),
  () => new RawText(`-${'9'.repeat(400)}`),
  () => new RawText(`0.${'3'.repeat(2_000)}`),
  () => '\u0000',
  () => `a\u0000b`,
  () => new RawText('"\\ud800"'),
  () => new RawText('"\\udc00\\ud800 x"'),
  () => '\u202e\ufeff\u{1f9ff}\u0301',
  () => '%00%ff..%2f..',
  () => `'; select 1 -- "\\`,
  () => '$.a ? (@ == 1)',
  () => '*'.repeat(300),
  () => 'x'.repeat(70_000),
  () => ({ ['__proto__']: { polluted: true }, constructor: { prototype: 1 } }),
  () => new RawText('{"__proto__":{"a":1},"a":1,"a":2}'),
  () => ({ '': '', '\u0000': '\u0000', 'a.b': { $eq: {} }, $ne: 1 }),
  () => ({ $in: 1, $gt: [null], $contains: { a: [] } }),
  (random) => nested(random.pick([10, 100, 600, 20_000])),
  (random) => nestedObjects(random.pick([10, 100, 600, 20_000])),
  () => Array.from({ length: 1_500 }, (_, at) => at),
  () => Object.fromEntries(Array.from({ length: 1_500 }, (_, at) => [`k${at}`, at])),
  () => '9999-12-31T23:59:59.999999Z',
  () => '0000-00-00T00:00:00Z',
  () => '-infinity',
  () => '2026-02-30T25:61:00+99:00',
  () => 'http://[::1]:1/../?#',
  () => '00000000-0000-0000-0000-000000000000',
  () => 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  () => ({ lc: 1, type: 'constructor', id: ['langchain', 'a'], kwargs: { a: 1 } }),
  () => ({ __type: 'uuid', value: 1 }),
];

export const hostileValue = (random: Random): unknown => random.pick(hostile)(random);

export const hostileText = (random: Random): string => {
  const value = hostileValue(random);
  if (value instanceof RawText) return value.text;
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
};

const words = [
  'chat',
  'a',
  'values',
  'messages',
  'updates',
  'enqueue',
  'name',
  'x y',
  'é',
  'resume',
  'eq(name, "x")',
];

const textOf = (schema: Schema, name: string, { random, id }: ValueParts): string => {
  if (schema.format === 'uuid' || /_id$|^id$/.test(name)) return id(name);
  if (schema.format === 'date-time' || /time|date/.test(name))
    return new Date(1_790_000_000_000 + random.between(0, 10_000_000_000)).toISOString();
  if (name === 'schedule') return random.pick(['0 0 1 1 *', '*/5 * * * *', '61 * * * *', '@yearly']);
  if (name === 'dotted_order') return `20261121T080000000000Z${id('run_id')}`;
  const text = random.pick(words);
  return schema.minLength === undefined ? text : text.padEnd(schema.minLength, 'x');
};

const numberOf = ({ minimum = 0, maximum = 1_000 }: Schema, random: Random): number =>
  random.pick([
    minimum,
    Math.min(maximum, minimum + 1),
    random.between(minimum, Math.min(maximum, minimum + 100)),
  ]);

const anything = (parts: ValueParts, depth: number): unknown => {
  const { random } = parts;
  const kind = random.between(0, depth > 3 ? 3 : 5);
  if (kind === 0) return random.pick(words);
  if (kind === 1) return random.between(-5, 5_000);
  if (kind === 2) return random.pick([true, false, null]);
  if (kind === 3) return [{ role: 'user', content: random.pick(words) }];
  if (kind === 4) return [anything(parts, depth + 1), anything(parts, depth + 1)];
  return { messages: [{ role: 'user', content: 'x' }], [random.pick(words)]: anything(parts, depth + 1) };
};

const objectOf = ({ properties = {}, required = [] }: Schema, parts: ValueParts, depth: number): unknown => {
  const { random, faults } = parts;
  const value: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(properties)) {
    const isThere = required.includes(name) ? random.next() > faults / 4 : random.next() < 0.4;
    if (isThere) value[name] = valueOf(schema, parts, name, depth + 1);
  }
  if (Object.keys(properties).length === 0 || random.next() < faults)
    value[random.pick(words)] = anything(parts, depth);
  return value;
};

/** A value that matches the schema, except for its faults. `name`: its property. */
export const valueOf = (schema: Schema, parts: ValueParts, name = '', depth = 0): unknown => {
  const { random, schemas, faults } = parts;
  if (random.next() < faults) return hostileValue(random);
  if (schema.$ref !== undefined)
    return valueOf(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, parts, name, depth);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return random.pick(schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return valueOf(random.pick(choices), parts, name, depth);
  if (schema.allOf) {
    const all = schema.allOf.map((one) => valueOf(one, { ...parts, faults: 0 }, name, depth));
    return all.every((one) => typeof one === 'object') ? Object.assign({}, ...all) : all[0];
  }
  const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type;
  if (type === 'object' || schema.properties) return depth > 8 ? {} : objectOf(schema, parts, depth);
  if (type === 'array') {
    const length = Math.max(schema.minItems ?? 0, random.between(0, 3));
    return Array.from({ length }, () => valueOf(schema.items ?? {}, parts, name, depth + 1));
  }
  if (type === 'string') return textOf(schema, name, parts);
  if (type === 'integer' || type === 'number') return numberOf(schema, random);
  if (type === 'boolean') return random.next() < 0.5;
  return type === 'null' ? null : anything(parts, depth);
};

/** The JSON text of such a value. */
export const textOfValue = (value: unknown): string => {
  if (value instanceof RawText) return value.text;
  if (Array.isArray(value)) return `[${value.map(textOfValue).join(',')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([name, one]) => `${JSON.stringify(name)}:${textOfValue(one)}`)
      .join(',')}}`;
  return JSON.stringify(value) ?? 'null';
};
