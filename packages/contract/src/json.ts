// Schemas that many operations share. The body parser has checked that a body is JSON, so the schemas do not check it again.
import * as z from 'zod';

export const Json = z.unknown().meta({ id: 'Json', description: 'Any JSON value' });

/** Null means the same as absent. */
export const nullish = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => (value === null ? undefined : value));

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const JsonObject = z
  .custom<Record<string, unknown>>(isPlain, 'must be an object')
  .meta({ id: 'JsonObject', type: 'object', description: 'An object of JSON values' });

/** Free-form metadata of an object; at most 64 KB of JSON. */
export const Metadata = z
  .custom<Record<string, unknown>>(isPlain, 'must be an object')
  .refine((value) => JSON.stringify(value).length <= 65_536, 'must be at most 64 KB of JSON')
  .meta({ id: 'Metadata', type: 'object', description: 'Free-form key/value map, at most 64 KB of JSON' });

/** A UUID of any version, in lower case. */
export const Id = z
  .guid('must be a UUID')
  .transform((value) => value.toLowerCase())
  .meta({ id: 'Id', type: 'string', format: 'uuid' });

export const AssistantRef = z.string().min(1).max(256).meta({
  id: 'AssistantRef',
  description: 'An assistant id, or a graph id for the default assistant of that graph',
});

export const Time = z
  .string()
  .meta({ id: 'Time', format: 'date-time', description: 'ISO 8601 with time zone' });

/** The database and its clients know the years 1 to 9999. */
const firstMs = Date.parse('0001-01-01T00:00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');
const timeParts = /^(.{16})(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d:\d\d)?$/;

/** A time of the syntax of `When` in UTC, with microseconds; undefined when it is not in the years 1 to 9999. */
const inUtc = (text: string): string | undefined => {
  const [, minute = '', second = '00', fraction = '', zone = 'Z'] = timeParts.exec(text) ?? [];
  const ms = Date.parse(`${minute}:${second}${zone}`);
  if (!(ms >= firstMs && ms <= lastMs)) return undefined;
  return `${new Date(ms).toISOString().slice(0, 19)}.${fraction.slice(0, 6).padEnd(6, '0')}Z`;
};

/** A time in a request; in UTC when it has no zone. The handler gets it in UTC, with microseconds. */
export const When = z.iso
  .datetime({ offset: true, local: true, error: 'must be a time, such as 2026-01-31T12:00:00Z' })
  .meta({ description: 'ISO 8601; UTC when it has no zone' })
  .transform((text, context) => {
    const time = inUtc(text);
    if (time !== undefined) return time;
    context.addIssue('must be a time in the years 1 to 9999 UTC');
    return z.NEVER;
  });

/** A boolean in a query string, in any case: Python clients send `True`. */
export const QueryBoolean = z
  .string()
  .toLowerCase()
  .pipe(z.enum(['true', 'false', '1', '0', 'yes', 'no']))
  .transform((value) => value === 'true' || value === '1' || value === 'yes')
  .meta({ type: 'boolean', enum: [true, false] });

/** A whole number in a query string. */
export const queryInteger = (min: number, max: number) =>
  z
    .string()
    .regex(/^-?\d{1,15}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .meta({ type: 'integer', minimum: min, maximum: max });

/** A list of 1 to `max` ids in a body, or a single id. */
export const idList = (max: number) =>
  z.union([z.array(Id).min(1).max(max), Id.transform((id) => [id])], 'must be a UUID or a list of UUIDs');

const toList = (value: unknown): unknown => {
  if (value === undefined || Array.isArray(value)) return value;
  if (typeof value !== 'string' || !value.startsWith('[')) return [value];
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return [value]; // not a JSON list: the schema reports the fault
  }
};

/** A list in a query string: repeated keys, one JSON array, or a single value. */
export const queryList = <T extends z.ZodType>(element: T) =>
  z.preprocess(toList, z.array(element).max(1000).optional());

export const Empty = z.undefined().meta({ description: 'No content' });
