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

/** A time in a request. */
export const When = z.iso.datetime({ offset: true }).meta({ description: 'ISO 8601 with time zone' });

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
    .pipe(z.int().min(min).max(max));

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
