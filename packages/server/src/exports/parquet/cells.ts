// Values as PostgreSQL sends them, as they are in a file. Most pass as they are: as bytes, never made a text of JavaScript.
import { exactMark, fromExactText } from '../../storage/postgres/exact-text.ts';
import { exactLabels, extraText, withLong } from '../../tracing/traces/run-text.ts';

const markBytes = Buffer.from(exactMark);
const withLongBytes = Buffer.from(withLong);
const [comma, labelsHead, objectHead, objectEnd] = [',', '"metadata":', '{', '}'].map((text) =>
  Buffer.from(text),
);
const emptyObject = Buffer.from('{}');

/** Whether a value of the row may be in the exact form. */
export const mayBeExact = (row: Buffer): boolean => row.includes(markBytes);

/** What Unicode cannot say, a lone half of a surrogate pair, becomes U+FFFD: a text in a file is UTF-8. */
export const exactBytes = (bytes: Buffer): Buffer => Buffer.from(fromExactText(bytes.toString()));

/** JSON has escapes for all of it. */
export const exactJsonBytes = (bytes: Buffer): Buffer => Buffer.from(exactLabels(bytes.toString()));

/** As `extraText`. */
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

/** The metadata of what `extraBytes` takes. */
export const metadataBytes = (rest: Buffer | null, labels: Buffer, isExact: boolean): Buffer => {
  if (rest === null) return isExact ? exactJsonBytes(labels) : labels;
  const { metadata } = JSON.parse(extraText(rest.toString(), labels.toString()) ?? '{}') as {
    metadata?: object;
  };
  return Buffer.from(JSON.stringify(metadata ?? {}));
};

const idChars = 36;

/** The ids above a run, from its dotted order. */
export const idsAbove = (dottedOrder: Buffer): string[] => {
  if (!dottedOrder.includes('.')) return [];
  return dottedOrder
    .toString('latin1')
    .split('.')
    .slice(0, -1)
    .map((segment) => segment.slice(-idChars));
};

/** Of a list of texts as JSON; none of what is null. */
export const textsOf = (json: Buffer | null, isExact: boolean): string[] => {
  if (json === null) return [];
  return JSON.parse(isExact ? exactLabels(json.toString()) : json.toString()) as string[];
};
