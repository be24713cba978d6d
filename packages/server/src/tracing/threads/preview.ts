// What a payload says to a reader: its last message, its only text, or its beginning.
import { previewedMax } from '../../storage/tracing/trace-sums.ts';
import { isObject } from '../filter/matching.ts';

const charsMax = 500;

/** Of JSON text, of which no more than one character beyond `previewedMax` needs to be there. */
export const previewOf = (text: string | null): string | null => {
  if (text === null) return null;
  if (text.length > previewedMax) return text.slice(0, charsMax);
  const value: unknown = JSON.parse(text);
  return (sayingOf(value) ?? text).slice(0, charsMax);
};

const sayingOf = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.length === 0 ? undefined : sayingOf(value.at(-1));
  if (!isObject(value)) return undefined;
  for (const name of ['messages', 'message', 'kwargs', 'content', 'text', 'input', 'output']) {
    const found = value[name];
    const saying = found === undefined || found === null ? undefined : sayingOf(found);
    if (saying !== undefined) return saying;
  }
  const [only, ...others] = Object.values(value);
  return others.length === 0 && typeof only === 'string' ? only : undefined;
};
