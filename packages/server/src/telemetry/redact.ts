// Removes secrets from log records.

const secretKey =
  /^(proxy-)?authorization$|^(set-)?cookie$|^x-(api|auth)-key$|password|secret|^api_?key$|_api_?key$/i;

const depthMax = 8;

/**
 * Keeps the texts and numbers of a serialised error. Drops its objects, which are often requests and responses with credentials.
 */
export function redactError(error: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(error).flatMap(([key, value]): [string, unknown][] => {
      if (secretKey.test(key)) return [[key, '[redacted]']];
      if (key === 'aggregateErrors' && Array.isArray(value)) return [[key, value.map(redactError)]];
      return typeof value === 'object' && value !== null ? [] : [[key, value]];
    }),
  );
}

/** Copies a record without secrets, at any depth. Errors are not changed: the logger serialises them. */
export function redact(record: Record<string, unknown>, depth = 0): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [
      key,
      secretKey.test(key) ? '[redacted]' : inside(value, depth),
    ]),
  );
}

function inside(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  // Ends cycles too.
  if (depth >= depthMax) return '[deep]';
  if (Array.isArray(value)) return value.map((element: unknown) => inside(element, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  const plain = prototype === Object.prototype || prototype === null;
  return plain ? redact(value as Record<string, unknown>, depth + 1) : value;
}
