// What is different between two JSON values, by path.
import { StoredPart } from '../stored/stored-part.ts';
import { isBranch } from './json-entries.ts';

export interface Change {
  kind: 'added' | 'removed' | 'changed';
  /** `messages[2].content`; empty for the value itself. */
  path: string;
  before: unknown;
  after: unknown;
}

const changesMax = 500;

/** At most 500 changes, and one more of the last list. A value that is an object on one side only is one change. */
export const diffValues = (before: unknown, after: unknown): Change[] => {
  const changes: Change[] = [];
  collect(before, after, '', changes);
  return changes;
};

const collect = (before: unknown, after: unknown, path: string, changes: Change[]): void => {
  if (changes.length >= changesMax || Object.is(before, after)) return;
  if (before instanceof StoredPart || after instanceof StoredPart) {
    collectParts(before, after, path, changes);
    return;
  }
  const isSameKind = isBranch(before) && isBranch(after) && Array.isArray(before) === Array.isArray(after);
  if (!isSameKind) {
    changes.push({ kind: kindOf(before, after), path, before, after });
    return;
  }
  const isList = Array.isArray(before);
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const inner = isList ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    collect(valueAt(before, key), valueAt(after, key), inner, changes);
  }
};

/** Parts that are not in the page are compared by their digest. A list that has grown shows where it has. */
const collectParts = (before: unknown, after: unknown, path: string, changes: Change[]): void => {
  const isPart = before instanceof StoredPart && after instanceof StoredPart;
  if (isPart && before.digest !== undefined && before.digest === after.digest) return;
  changes.push({ kind: kindOf(before, after), path, before, after });
  const known = lengthOfList(before);
  if (known === undefined || !(after instanceof StoredPart) || after.type !== 'array') return;
  if (after.length > known)
    changes.push({
      kind: 'added',
      path: after.length === known + 1 ? `${path}[${known}]` : `${path}[${known}] to [${after.length - 1}]`,
      before: undefined,
      after: after.startingAt(known),
    });
};

const kindOf = (before: unknown, after: unknown): Change['kind'] =>
  before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';

const lengthOfList = (value: unknown): number | undefined => {
  if (Array.isArray(value)) return value.length;
  return value instanceof StoredPart && value.type === 'array' ? value.length : undefined;
};

const valueAt = (value: object, key: string): unknown =>
  Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
