import { types } from 'node:util';
import { boundedText, errorName, isLonger } from './bounded-text.ts';

type Child = (key: string, value: unknown) => unknown;

const bytesOf = (value: ArrayBufferView | ArrayBufferLike): Buffer =>
  ArrayBuffer.isView(value)
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    : Buffer.from(value as ArrayBuffer);

const bytesTree = (value: ArrayBufferView | ArrayBufferLike): unknown => {
  const kind = Buffer.isBuffer(value) ? 'Buffer' : Object.prototype.toString.call(value).slice(8, -1);
  return {
    $: 'bytes',
    kind: kind === 'SharedArrayBuffer' ? 'ArrayBuffer' : kind,
    of: bytesOf(value).toString('base64'),
  };
};

const errorKeys: ReadonlySet<string> = new Set(['name', 'message', 'stack', 'cause', 'errors']);

/** Characters of one extra field of an error. */
const ownCharsMax = 16_384;

/**
 * The tree of an extra field. Undefined when the field is too long (such as the whole response of a service), or cannot
 * be read or stored.
 */
const ownPart = (error: Error, key: string, optional: Child): unknown => {
  let value: unknown;
  try {
    value = (error as unknown as Record<string, unknown>)[key];
    if (typeof value === 'function' || typeof value === 'symbol') return undefined;
    if (isLonger(value, ownCharsMax)) return undefined;
  } catch {
    return undefined; // a getter throws
  }
  return optional(key, value);
};

/**
 * The stack of an error is not stored: it differs between runs and contains paths. Extra fields are stored where
 * possible: HTTP clients attach sockets and callbacks to their errors, which must not prevent the error from being
 * stored.
 */
const errorTree = (error: Error, child: Child, optional: Child): unknown => {
  const tree: Record<string, unknown> = {
    $: 'error',
    name: errorName(error),
    message: typeof error.message === 'string' ? boundedText(error.message) : '',
  };
  if (error.cause !== undefined) tree['cause'] = optional('cause', error.cause);
  const { errors } = error as { errors?: unknown };
  if (Array.isArray(errors)) tree['errors'] = child('errors', errors);
  const own = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(error)) {
    if (errorKeys.has(key)) continue;
    const part = ownPart(error, key, optional);
    if (part !== undefined) own[key] = part;
  }
  if (Object.keys(own).length > 0) tree['own'] = own;
  return tree;
};

interface EngineObject {
  lg_name?: unknown;
  node?: unknown;
  args?: unknown;
  timeout?: unknown;
  graph?: unknown;
  update?: unknown;
  resume?: unknown;
  goto?: unknown;
  value?: unknown;
}

const present = (value: EngineObject, keys: (keyof EngineObject)[], child: Child): Record<string, unknown> =>
  Object.fromEntries(
    keys.filter((key) => value[key] !== undefined).map((key) => [key, child(key, value[key])]),
  );

/** Objects that LangGraph itself puts into channels and writes. */
const engineTree = (value: EngineObject, child: Child): unknown => {
  switch (value.lg_name) {
    case 'Send':
      return { $: 'send', ...present(value, ['node', 'args', 'timeout'], child) };
    case 'Command':
      return { $: 'command', ...present(value, ['graph', 'update', 'resume', 'goto'], child) };
    case 'Overwrite':
      return { $: 'overwrite', of: child('value', value.value) };
    case 'DeltaSnapshot':
      return { $: 'delta', of: child('value', value.value) };
    default:
      return undefined;
  }
};

interface DocumentLike {
  pageContent: string;
  metadata: unknown;
  id?: unknown;
}

const isDocument = (value: object): value is DocumentLike =>
  value.constructor?.name === 'Document' &&
  'metadata' in value &&
  'pageContent' in value &&
  typeof value.pageContent === 'string';

/** The tree of an instance of a known class; undefined for other classes. */
export const instanceTree = (value: object, child: Child, optional: Child): unknown => {
  if (types.isDate(value)) {
    const time = value.getTime();
    return { $: 'date', of: Number.isNaN(time) ? null : time };
  }
  if (types.isMap(value)) {
    const entries = [...value].map(([key, item], index) => [
      child(`key ${index}`, key),
      child(typeof key === 'string' ? key : `value ${index}`, item),
    ]);
    return { $: 'map', of: entries };
  }
  if (types.isSet(value)) return { $: 'set', of: child('values', [...value]) };
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return bytesTree(value);
  if (types.isRegExp(value)) {
    const { source, flags, lastIndex } = value;
    return lastIndex === 0
      ? { $: 'regexp', of: source, flags }
      : { $: 'regexp', of: source, flags, at: lastIndex };
  }
  if (value instanceof Error || types.isNativeError(value)) return errorTree(value, child, optional);
  if (value instanceof URL) return { $: 'url', of: value.href };
  if (types.isBoxedPrimitive(value)) return child('valueOf()', value.valueOf());
  if ('lg_name' in value) {
    const tree = engineTree(value, child);
    if (tree !== undefined) return tree;
  }
  if (isDocument(value)) {
    const { pageContent, metadata, id } = value;
    const tree = { $: 'document', pageContent, metadata: child('metadata', metadata) };
    return id === undefined ? tree : { ...tree, id: child('id', id) };
  }
  return undefined;
};
