// Requests are closed: a key that no schema names is refused, so that a misspelled filter does not return everything.
import * as z from 'zod';

/** Names of keys, each with the reason why the operation does not use it. */
export type IgnoredKeys = Readonly<Record<string, string>>;

/** Names of filters that stock clients can send, each with what to use instead. */
export type UnsupportedKeys = Readonly<Record<string, string>>;

const ignoredKey = (reason: string): z.ZodType =>
  z
    .unknown()
    .transform(() => undefined)
    .optional()
    .describe(`Ignored. ${reason}`);

const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);

const unsupportedKey = (advice: string): z.ZodType =>
  z
    .unknown()
    .refine((value) => value === undefined || isEmpty(value), `is not supported: ${advice}`)
    .transform(() => undefined)
    .optional()
    .describe(`Not supported. ${advice}`);

/**
 * The schema of a body or of a query, which refuses unknown keys, and unsupported ones unless they are empty: a filter that is not
 * applied would return too much. Its value has no ignored keys. Objects that are declared loose stay open; objects within the schema are
 * declared strict where they are written.
 */
export const closed = <T extends z.ZodType>(
  schema: T,
  ignored: IgnoredKeys = {},
  unsupported: UnsupportedKeys = {},
): T => {
  if (schema instanceof z.ZodArray) {
    const element = closed(schema.def.element as z.ZodType, ignored, unsupported);
    return schema.clone({ ...schema.def, element });
  }
  if (!(schema instanceof z.ZodObject)) return schema;
  const keys = [
    ...Object.entries(ignored).map(([key, reason]) => [key, ignoredKey(reason)] as const),
    ...Object.entries(unsupported).map(([key, advice]) => [key, unsupportedKey(advice)] as const),
  ];
  const extended = schema.safeExtend(Object.fromEntries(keys));
  const result = schema.def.catchall === undefined ? extended.strict() : extended;
  return result.meta(schema.meta() ?? {}) as unknown as T;
};
