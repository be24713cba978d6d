// A page of a value of a state, as JSON text: its members, elements or characters from an offset on. It works on wire values, in which
// undefined stands for what JSON omits. Runs in parser threads too, so it has few imports.
import type { StateValue } from '@svc/contract';
import { Unread, unreadIn } from '../../engine/codec/partial-wire.ts';
import { jsonDigest } from '../../engine/codec/json-digest.ts';
import { jsonLength } from '../../json/json-length.ts';

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
/** Characters of JSON that a blob of an element or a member has at least; shorter values are stored inline. */
const blobCharsMin = 16;

/** The steps of a JSON pointer, which the contract has checked. */
export const stepsOf = (path: string): string[] =>
  path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

/** Blobs that were not read, and that the page needs: `at`, because the path leads into it, or those of its entries. */
export interface Missing {
  at?: string;
  entries: string[];
}

export const missingFor = (values: unknown, request: ValueRequest): Missing => {
  let value = values;
  for (const step of stepsOf(request.path)) {
    if (value instanceof Unread) break;
    value = childOf(value, step);
  }
  if (value instanceof Unread) return { at: value.hash, entries: [] };
  if (typeof value !== 'object' || value === null) return { entries: [] };
  const { names } = namesOfPage(value, request);
  const unread = names.map((name) => unreadIn((value as Record<string, unknown>)[name]));
  return { entries: unread.filter((hashes) => hashes.length <= blobsMax(request)).flat() };
};

/** More blobs than this in an entry are more than `whole` characters. */
const blobsMax = ({ whole }: ValueRequest): number => Math.max(1, whole / blobCharsMin);

/** Undefined when there is nothing at the path. Nothing may be missing for the page: entries that are partly read are not whole. */
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
    size: sizeOf(value),
  };
  if (typeof value === 'string') return JSON.stringify({ ...head, ...textPage(value, request) });
  if (typeof value !== 'object' || value === null) return JSON.stringify({ ...head, offset: 0, value });
  const { entries, ...place } = entriesPage(value, request);
  return `${JSON.stringify({ ...head, ...place }).slice(0, -1)},"entries":[${entries.join(',')}]}`;
};

/** Undefined for a value of which only a part was read. */
const sizeOf = (value: unknown): number | undefined =>
  unreadIn(value).length === 0 ? jsonLength(value) : undefined;

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

/** The names of the entries of a page, the place of the first one, and how many entries there are. */
const namesOfPage = (
  value: object,
  { offset, limit }: ValueRequest,
): { names: string[]; start: number; length: number } => {
  if (!Array.isArray(value)) {
    const all = namesOf(value);
    const start = placeOf(offset, all.length);
    return { names: all.slice(start, start + limit), start, length: all.length };
  }
  const start = placeOf(offset, value.length);
  const count = Math.min(limit, value.length - start);
  const names = Array.from({ length: count }, (_, index) => String(start + index));
  return { names, start, length: value.length };
};

const entriesPage = (
  value: object,
  request: ValueRequest,
): Pick<StateValue, 'offset' | 'next'> & { entries: string[] } => {
  const { names, start, length } = namesOfPage(value, request);
  const entries: string[] = [];
  let left = entriesMax;
  for (const name of names) {
    const entry = entryText(name, (value as Record<string, unknown>)[name] ?? null, request);
    left -= entry.length;
    if (left < 0 && entries.length > 0) break;
    entries.push(entry);
  }
  const next = start + entries.length;
  return { offset: start, entries, ...(next < length ? { next } : {}) };
};

const entryText = (key: string, value: unknown, request: ValueRequest): string => {
  const size = sizeOf(value);
  const head = { key, type: typeOf(value), length: lengthOf(value), size };
  if (size !== undefined && size <= request.whole) return JSON.stringify({ ...head, value });
  const preview = typeof value === 'string' ? { preview: previewOf(value) } : {};
  const digest = request.digests ? { digest: jsonDigest(value) } : {};
  return JSON.stringify({ ...head, ...digest, ...preview });
};

const previewOf = (text: string): string =>
  text.slice(0, splitsPair(text, previewMax) ? previewMax - 1 : previewMax);
