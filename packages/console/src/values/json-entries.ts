import { StoredPart } from '../stored/stored-part.ts';
import { countText } from '../ui/number-text.ts';

/** An object or a list. */
export const isBranch = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The first entries of an object or a list, and how many there are. */
export const entriesOf = (value: object, max: number): { total: number; entries: [string, unknown][] } => {
  if (Array.isArray(value)) {
    const first = (value as unknown[]).slice(0, max);
    return { total: value.length, entries: first.map((element, index) => [String(index), element]) };
  }
  const keys = Object.keys(value);
  const first = keys.slice(0, max);
  return { total: keys.length, entries: first.map((key) => [key, (value as Record<string, unknown>)[key]]) };
};

/** What a closed branch shows: its size, and the role or the type if it has one. */
export const summaryOf = (value: object): string => {
  if (value instanceof StoredPart)
    return value.type === 'array' ? countText(value.length, 'element') : countText(value.length, 'key');
  if (Array.isArray(value)) return countText(value.length, 'element');
  const { type, role, name } = value as Record<string, unknown>;
  const kind = [type, role, name].find((one) => typeof one === 'string' && one !== '') as string | undefined;
  const size = countText(Object.keys(value).length, 'key');
  return kind === undefined ? size : `${kind}, ${size}`;
};
