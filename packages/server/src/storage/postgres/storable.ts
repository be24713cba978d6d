// Checks that the store can keep keys and values unchanged. JSON of clients was checked when it was parsed; a graph may pass any
// value.
import { invalid, Problem } from '@svc/contract/problem';

const depthMax = 100;
const loneSurrogate = /\p{Surrogate}/u;

/** Limits in bytes of UTF-8. Namespace and key together form an index row, which PostgreSQL limits to 2,704 bytes. */
const bytesMax = { label: 128, namespace: 1_536, key: 512, value: 1_000_000 };
export const labelsMax = 32;

type Path = readonly (string | number)[];

const fail = (path: Path, what: string): never => {
  throw invalid([...path], `${path.join('.')} ${what}`);
};

const assertText = (text: string, path: Path): void => {
  if (text.includes('\u0000') || loneSurrogate.test(text))
    fail(path, 'contains NUL or an unpaired surrogate, which the store cannot keep');
};

const assertName = (name: unknown, max: number, path: Path): number => {
  if (typeof name !== 'string' || name === '') return fail(path, 'must be a non-empty string');
  assertText(name, path);
  const bytes = Buffer.byteLength(name);
  if (bytes > max) fail(path, `has ${bytes} bytes; the limit is ${max}`);
  return bytes;
};

/** Throws `invalid` when the key is not allowed. */
export const assertStorableKey = ({ namespace, key }: { namespace: string[]; key: string }): void => {
  const path = ['namespace'];
  if (namespace.length === 0) fail(path, 'must have at least one label');
  if (namespace.length > labelsMax) fail(path, `has ${namespace.length} labels; the limit is ${labelsMax}`);
  let bytes = 0;
  for (const [index, label] of namespace.entries()) {
    bytes += assertName(label, bytesMax.label, ['namespace', index]);
    if (label.includes('.')) fail(['namespace', index], 'must not contain a dot');
  }
  if (bytes > bytesMax.namespace)
    fail(path, `has ${bytes} bytes in all its labels; the limit is ${bytesMax.namespace}`);
  assertName(key, bytesMax.key, ['key']);
};

/** The value as JSON text. Throws `invalid`, with the path, when JSON would lose something. */
export const storableText = (value: unknown): string => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    fail(['value'], 'must be an object');
  assertStorable(value, ['value']);
  const text = JSON.stringify(value);
  assertStorableSize(Buffer.byteLength(text));
  return text;
};

/** Throws `too_large` when the JSON text of a value exceeds the limit. */
export const assertStorableSize = (bytes: number): void => {
  if (bytes <= bytesMax.value) return;
  throw new Problem('too_large', `The value has ${bytes} bytes of JSON; the limit is ${bytesMax.value}`);
};

/** The value that JSON.stringify would use: dates and messages have a toJSON method. */
const replaced = (value: unknown, path: Path): unknown => {
  if (typeof value !== 'object' || value === null || !('toJSON' in value)) return value;
  return typeof value.toJSON === 'function' ? (value.toJSON(String(path.at(-1))) as unknown) : value;
};

/** Throws `invalid`, with the path, when JSON in the database would lose a part of the value. */
export const assertStorable = (given: unknown, path: Path): void => {
  const value = replaced(given, path);
  switch (typeof value) {
    case 'bigint':
    case 'function':
    case 'symbol':
      return fail(path, `is a ${typeof value}, which JSON cannot represent`);
    case 'number':
      if (!Number.isFinite(value)) fail(path, `is ${value}, which JSON cannot represent`);
      return;
    case 'string':
      return assertText(value, path);
    case 'object':
      if (value !== null) assertObject(value, path);
      return;
    case 'boolean':
    case 'undefined':
      return;
  }
};

const isLossy = (value: object): boolean =>
  value instanceof Map || value instanceof Set || value instanceof ArrayBuffer || ArrayBuffer.isView(value);

const assertObject = (value: object, path: Path): void => {
  if (path.length > depthMax) fail(path, `is nested deeper than ${depthMax} levels, or contains itself`);
  if (isLossy(value)) fail(path, `is a ${value.constructor.name}, which JSON cannot represent`);
  for (const [key, child] of Object.entries(value)) {
    const place = [...path, key];
    assertText(key, place);
    assertStorable(child, place);
  }
};
