// Requests are closed: a key that no schema names is refused, so that a misspelled filter does not return everything.
import { z } from 'zod';

/** Names of keys, each with the reason why the operation does not use it. */
export type IgnoredKeys = Readonly<Record<string, string>>;

const ignoredKey = (reason: string): z.ZodType =>
  z
    .unknown()
    .transform(() => undefined)
    .optional()
    .describe(`Ignored. ${reason}`);

/**
 * The schema of a body or of a query, which refuses unknown keys. Its value has no ignored keys. Objects that are declared loose stay
 * open; objects within the schema are declared strict where they are written.
 */
export const closed = <T extends z.ZodType>(schema: T, ignored: IgnoredKeys = {}): T => {
  if (schema instanceof z.ZodArray)
    return schema.clone({ ...schema.def, element: closed(schema.def.element as z.ZodType, ignored) });
  if (!(schema instanceof z.ZodObject)) return schema;
  const keys = Object.entries(ignored).map(([key, reason]) => [key, ignoredKey(reason)] as const);
  const extended = schema.safeExtend(Object.fromEntries(keys));
  const result = schema.def.catchall === undefined ? extended.strict() : extended;
  return result.meta(schema.meta() ?? {}) as unknown as T;
};
