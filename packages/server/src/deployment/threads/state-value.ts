// A page of a value of a state, as JSON text: its members, elements or characters from an offset on. It works on wire values, in which
// undefined stands for what JSON omits. Runs in parser threads too, so it has few imports.
import type { StateValue } from '@svc/contract';
import { jsonDigest } from '../../parsing/json-digest.ts';
import { jsonLength } from '../../parsing/json-length.ts';

export interface ValueRequest {
  /** JSON pointer into the values. */
  path: string;
  /** A negative one counts from the end. */
  offset: number;
  /** Members or elements of a page. */
  limit: number;
  /** Characters of a page of a string. */
  chars: number;
  /** Characters of JSON up to which an entry is sent whole. */
  whole: number;
  /** Adds digests. */
  digests?: boolean | undefined;
}

/** Characters of the entries of a page, unless it has one entry only. */
export const entriesMax = 1_048_576;
const previewMax = 200;

/** The steps of a JSON pointer, which the contract has checked. */
export const stepsOf = (path: string): string[] =>
  path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

/** Undefined when there is nothing at the path. */
export const pageAt = (
  values: unknown,
  request: ValueRequest,
  checkpoint_id: string | null,
): string | undefined => {
  const value = stepsOf(request.path).reduce(childOf, values);
  return value === undefined ? undefined : pageOf(value, request, checkpoint_id);
};

const childOf = (parent: unknown, step: string): unknown => {
  if (typeof parent !== 'object' || parent === null) return undefined;
  if (!Array.isArray(parent))
    return Object.hasOwn(parent, step) ? (parent as Record<string, unknown>)[step] : undefined;
  const list: unknown[] = parent;
  const isElement = /^(?:0|[1-9]\d*)$/.test(step) && Number(step) < list.length;
  return isElement ? (list[Number(step)] ?? null) : undefined;
};

const pageOf = (value: unknown, request: ValueRequest, checkpoint_id: string | null): string => {
  const head = {
    checkpoint_id,
    path: request.path,
    type: typeOf(value),
    length: lengthOf(value),
    size: jsonLength(value),
    ...digestOf(value, request),
  };
  if (typeof value === 'string') return JSON.stringify({ ...head, ...textPage(value, request) });
  if (typeof value !== 'object' || value === null) return JSON.stringify({ ...head, offset: 0, value });
  const { entries, ...place } = entriesPage(value, request);
  return `${JSON.stringify({ ...head, ...place }).slice(0, -1)},"entries":[${entries.join(',')}]}`;
};

const digestOf = (value: unknown, { digests }: ValueRequest): Pick<StateValue, 'digest'> =>
  digests ? { digest: jsonDigest(value) } : {};

const typeOf = (value: unknown): StateValue['type'] => {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : (typeof value as StateValue['type']);
};

/** Undefined for what has no length. */
const lengthOf = (value: unknown): number | undefined => {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? namesOf(value).length : undefined;
};

/** Names of the members that JSON has. */
const namesOf = (object: object): string[] =>
  Object.entries(object).flatMap(([name, member]) => (member === undefined ? [] : [name]));

/** The place that an offset names, at most the length. */
const placeOf = (offset: number, length: number): number =>
  offset < 0 ? Math.max(0, length + offset) : Math.min(offset, length);

const textPage = (
  text: string,
  { offset, chars }: ValueRequest,
): Pick<StateValue, 'offset' | 'text' | 'next'> => {
  const place = placeOf(offset, text.length);
  const start = splitsPair(text, place) ? place - 1 : place;
  let end = Math.min(start + chars, text.length);
  // A page with room for one character has two, so that the next page begins later.
  if (splitsPair(text, end)) end += end - 1 > start ? -1 : 1;
  const hasNext = end > start && end < text.length;
  return { offset: start, text: text.slice(start, end), ...(hasNext ? { next: end } : {}) };
};

/** True between the halves of a surrogate pair. */
const splitsPair = (text: string, at: number): boolean => (text.codePointAt(at - 1) ?? 0) > 0xffff;

const entriesPage = (
  value: object,
  request: ValueRequest,
): Pick<StateValue, 'offset' | 'next'> & { entries: string[] } => {
  const { offset, limit } = request;
  const names = Array.isArray(value) ? [...value.keys()].map(String) : namesOf(value);
  const start = placeOf(offset, names.length);
  const entries: string[] = [];
  let left = entriesMax;
  for (const name of names.slice(start, start + limit)) {
    const entry = entryText(name, (value as Record<string, unknown>)[name] ?? null, request);
    left -= entry.length;
    if (left < 0 && entries.length > 0) break;
    entries.push(entry);
  }
  const next = start + entries.length;
  return { offset: start, entries, ...(next < names.length ? { next } : {}) };
};

const entryText = (key: string, value: unknown, request: ValueRequest): string => {
  const size = jsonLength(value);
  const head = { key, type: typeOf(value), length: lengthOf(value), size };
  if (size <= request.whole) return JSON.stringify({ ...head, value });
  const preview = typeof value === 'string' ? { preview: previewOf(value) } : {};
  return JSON.stringify({ ...head, ...digestOf(value, request), ...preview });
};

const previewOf = (text: string): string =>
  text.slice(0, splitsPair(text, previewMax) ? previewMax - 1 : previewMax);
