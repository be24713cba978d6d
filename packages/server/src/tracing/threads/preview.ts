// A short text that represents a payload in lists: its last message, its only string, or the beginning of its JSON text.
import { previewedMax } from '../../storage/tracing/trace-sums.ts';
import { isRecord } from '../../json/is-record.ts';

const charsMax = 500;

/** `text`: JSON text, which may be truncated if it is longer than `previewedMax`. */
export const previewOf = (text: string | null): string | null => {
  if (text === null) return null;
  if (text.length > previewedMax) return text.slice(0, charsMax);
  const value: unknown = JSON.parse(text);
  return (contentOf(value) ?? text).slice(0, charsMax);
};

const contentOf = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.length === 0 ? undefined : contentOf(value.at(-1));
  if (!isRecord(value)) return undefined;
  for (const name of ['messages', 'message', 'kwargs', 'content', 'text', 'input', 'output']) {
    const found = value[name];
    const content = found === undefined || found === null ? undefined : contentOf(found);
    if (content !== undefined) return content;
  }
  const [only, ...others] = Object.values(value);
  return others.length === 0 && typeof only === 'string' ? only : undefined;
};
