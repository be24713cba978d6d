// Converts values that PostgreSQL sends to the bytes that a file stores. Most are passed through unchanged, without decoding them to
// JavaScript strings.
import { exactMark, fromExactText } from '../../storage/postgres/exact-text.ts';
import { exactLabels, extraText, withLong } from '../../tracing/traces/run-text.ts';

const markBytes = Buffer.from(exactMark);
const withLongBytes = Buffer.from(withLong);
const [comma, labelsHead, objectHead, objectEnd] = [',', '"metadata":', '{', '}'].map((text) =>
  Buffer.from(text),
);
const emptyObject = Buffer.from('{}');

/** True when a value of the row may be in the exact form (storage/postgres/exact-text.ts). */
export const mayBeExact = (row: Buffer): boolean => row.includes(markBytes);

/** A lone surrogate becomes U+FFFD, because it cannot be encoded as UTF-8. */
export const exactBytes = (bytes: Buffer): Buffer => Buffer.from(fromExactText(bytes.toString()));

/** JSON keeps lone surrogates and NUL as escapes. */
export const exactJsonBytes = (bytes: Buffer): Buffer => Buffer.from(exactLabels(bytes.toString()));

/** `extraText` on bytes. */
export const extraBytes = (rest: Buffer | null, labels: Buffer, isExact: boolean): Buffer | null => {
  const hasLong = rest !== null && rest.subarray(0, withLongBytes.length).equals(withLongBytes);
  if (isExact || hasLong || !labelsHead || !comma || !objectHead || !objectEnd) {
    const text = extraText(rest === null ? null : rest.toString(), labels.toString());
    return text === null ? null : Buffer.from(text);
  }
  if (labels.length === emptyObject.length) return rest;
  if (rest === null) return Buffer.concat([objectHead, labelsHead, labels, objectEnd]);
  const isEmpty = rest.length === emptyObject.length;
  return Buffer.concat([rest.subarray(0, -1), ...(isEmpty ? [] : [comma]), labelsHead, labels, objectEnd]);
};

/** The `metadata` object of the same values as JSON. */
export const metadataBytes = (rest: Buffer | null, labels: Buffer, isExact: boolean): Buffer => {
  if (rest === null) return isExact ? exactJsonBytes(labels) : labels;
  const { metadata } = JSON.parse(extraText(rest.toString(), labels.toString()) ?? '{}') as {
    metadata?: object;
  };
  return Buffer.from(JSON.stringify(metadata ?? {}));
};

const idChars = 36;

/** The ids of a trace run's ancestors, from its dotted order, root first. */
export const ancestorIds = (dottedOrder: Buffer): string[] => {
  if (!dottedOrder.includes('.')) return [];
  return dottedOrder
    .toString('latin1')
    .split('.')
    .slice(0, -1)
    .map((segment) => segment.slice(-idChars));
};

/** Parses a JSON list of strings; null is an empty list. */
export const textsOf = (json: Buffer | null, isExact: boolean): string[] => {
  if (json === null) return [];
  return JSON.parse(isExact ? exactLabels(json.toString()) : json.toString()) as string[];
};
