// The text of a metadata filter: `key:value` pairs, separated by spaces or commas. A key or value in double quotes is a JSON string, and
// always text. A value without quotes is a number, a boolean or null if it is one in JSON, and text otherwise.
import { visibleText } from '../ui/visible-text.ts';
import { mayBeRounded } from '../values/read-json.ts';

export interface MetadataFilter {
  /** Undefined without a condition. */
  metadata: Record<string, unknown> | undefined;
  /** Why the text is no filter. It must not be used then: fewer conditions match more. */
  problem: string | undefined;
}

const separators = /[\s,]*/y;
const quoted = /"(?:[^"\\]|\\.)*"/y;
const bareKey = /[^\s,":]+/y;
const bareValue = /[^\s,"]+/y;
const scalar = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

class Reader {
  private at = 0;
  private readonly text: string;
  constructor(text: string) {
    this.text = text;
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    this.at += found?.length ?? 0;
    return found;
  }

  takeText(bare: RegExp): { text: string; isQuoted: boolean } | undefined {
    const literal = this.take(quoted);
    if (literal !== undefined) return { text: unquoted(literal), isQuoted: true };
    const text = this.take(bare);
    return text === undefined ? undefined : { text, isQuoted: false };
  }

  /** What is left of the word at which the reader stopped. */
  rest(): string {
    return /^[^\s,]*/.exec(this.text.slice(this.at))?.[0] ?? '';
  }
}

const unquoted = (literal: string): string => {
  try {
    return JSON.parse(literal) as string;
  } catch {
    throw new SyntaxError(`${literal} is not a JSON string. Write \\" for a quote and \\\\ for a backslash.`);
  }
};

const valueOf = (key: string, { text, isQuoted }: { text: string; isQuoted: boolean }): unknown => {
  if (isQuoted || !scalar.test(text)) return text;
  const value: unknown = JSON.parse(text);
  if (mayBeRounded(value))
    throw new SyntaxError(`${text} is too large for a number. Write ${key}:"${text}" for the text.`);
  return value;
};

const readPair = (reader: Reader): [key: string, value: unknown] => {
  const key = reader.takeText(bareKey);
  const hasValue = key !== undefined && reader.take(/:/y) !== undefined;
  if (!hasValue)
    throw new SyntaxError(
      `${key?.text ?? reader.rest()} is not key:value. Write a value with spaces or commas in double quotes, such as name:"Ann Lee".`,
    );
  const value = reader.takeText(bareValue);
  if (value === undefined)
    throw new SyntaxError(
      reader.rest() === ''
        ? `${key.text} has no value. Write key:value, or ${key.text}:"" for the empty text.`
        : `The value of ${key.text} has no closing double quote.`,
    );
  if (reader.rest() !== '')
    throw new SyntaxError(
      `The value of ${key.text} continues after a double quote. Quote the whole value, with \\" for a quote.`,
    );
  return [key.text, valueOf(key.text, value)];
};

const readPairs = (text: string): Map<string, unknown> => {
  const reader = new Reader(text);
  const pairs = new Map<string, unknown>();
  for (reader.take(separators); !reader.isAtEnd; reader.take(separators)) {
    const [key, value] = readPair(reader);
    if (pairs.has(key)) throw new SyntaxError(`${key} is named twice. Name each key once.`);
    pairs.set(key, value);
  }
  return pairs;
};

export const readMetadataFilter = (text: string | undefined): MetadataFilter => {
  try {
    const pairs = readPairs(text ?? '');
    return { metadata: pairs.size > 0 ? Object.fromEntries(pairs) : undefined, problem: undefined };
  } catch (error) {
    return { metadata: undefined, problem: visibleText((error as Error).message) };
  }
};

export const metadataProblem = (text: string): string | undefined => readMetadataFilter(text).problem;

/** The conditions of a text. Throws if it has a problem: the caller would search without the filter. */
export const metadataOf = (text: string | undefined): Record<string, unknown> | undefined => {
  const { metadata, problem } = readMetadataFilter(text);
  if (problem !== undefined) throw new SyntaxError(problem);
  return metadata;
};

/** For a list without rows: how to search for the text that looks like the number, boolean or null of the filter. */
export const textHint = (text: string | undefined): string | undefined => {
  const [first] = Object.entries(readMetadataFilter(text).metadata ?? {}).filter(
    ([, value]) => typeof value !== 'string',
  );
  if (first === undefined) return undefined;
  const [key, value] = first;
  const hint = `${key}:${String(value)} is a ${value === null ? 'null' : typeof value}. Write ${key}:"${String(value)}" for the text.`;
  return visibleText(hint);
};

/** The pair of a text or a number as the filter writes it; undefined for a value that the filter cannot have. */
export const pairOf = (key: string, value: unknown): string | undefined => {
  if (value !== null && !['string', 'number', 'boolean'].includes(typeof value)) return undefined;
  if (mayBeRounded(value)) return undefined;
  const isBare = typeof value === 'string' && /^[^\s,"]+$/.test(value) && !scalar.test(value);
  const bareName = /^[^\s,":]+$/.test(key);
  return `${bareName ? key : JSON.stringify(key)}:${isBare ? value : JSON.stringify(value)}`;
};

/** A filter with one more pair. The pair takes the place of another one with its key. */
export const withPair = (text: string | undefined, key: string, value: unknown): string | undefined => {
  const { metadata = {}, problem } = readMetadataFilter(text);
  if (problem !== undefined) return text;
  const pairs = Object.entries({ ...metadata, [key]: value }).map(([name, one]) => pairOf(name, one));
  return pairs.filter((pair) => pair !== undefined).join(' ') || undefined;
};
