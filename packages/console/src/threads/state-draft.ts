// What an editor of a state begins with: an update that changes nothing when it is sent unedited. The page does not know the reducers of the
// channels, so values that a reducer may add to themselves are left out. Only unusual reducers change something then, such as one that
// appends messages whose id it already has.
import { isObject, readMessage } from '../messages/read-messages.ts';
import { StoredPart } from '../stored/stored-part.ts';
import { diffValues } from '../values/json-diff.ts';
import { mayBeRounded } from '../values/read-json.ts';

export interface StateDraft {
  /** What the step has changed, as an update that writes it again. Empty without a parent. */
  update: Record<string, unknown>;
  /** Channels that the page has read whole. */
  channels: Record<string, unknown>;
  /** Channels that the page has not read whole, or not exactly. They are never sent back. */
  unread: string[];
  /** Changed numbers, and lists and texts that have grown: a reducer may add them once more. */
  additive: string[];
}

const isEqual = (left: unknown, right: unknown): boolean => diffValues(left, right).length === 0;

const isMessages = (value: unknown): value is object[] =>
  Array.isArray(value) && value.length > 0 && value.every((one) => readMessage(one)?.id !== undefined);

/** Reducers of messages replace messages by id, so those that are not edited need not be sent. */
const changedMessages = (before: unknown, after: object[]): object[] => {
  const earlier = Array.isArray(before) ? (before as unknown[]) : [];
  const byId = new Map(earlier.map((one) => [readMessage(one)?.id, one]));
  return after.filter((one) => !isEqual(byId.get(readMessage(one)?.id), one));
};

/** A list without an earlier value, or with one that the page cannot compare, may have grown. */
const hasGrownList = (before: unknown, after: unknown[]): boolean =>
  after.length > 0 &&
  (!Array.isArray(before) ||
    (after.length > before.length && isEqual(before, after.slice(0, before.length))));

const hasGrownText = (before: unknown, after: string): boolean =>
  before instanceof StoredPart ||
  (typeof before === 'string' && before !== '' && after.length > before.length && after.startsWith(before));

const isAdditive = (before: unknown, after: unknown): boolean => {
  if (Array.isArray(after)) return hasGrownList(before, after);
  return typeof after === 'string' ? hasGrownText(before, after) : typeof after === 'number';
};

/** `before`: the values of the parent; undefined when there is none. */
export const draftOf = (before: unknown, after: unknown): StateDraft => {
  // A state with so many channels that they are read in parts.
  if (!isObject(after) || after instanceof StoredPart)
    return { update: {}, channels: {}, unread: [], additive: [] };
  const earlier =
    isObject(before) && !(before instanceof StoredPart) ? new Map(Object.entries(before)) : undefined;
  // Maps, because an object has members such as `__proto__`, which a channel may have as its name.
  const update = new Map<string, unknown>();
  const channels = new Map<string, unknown>();
  const unread: string[] = [];
  const additive: string[] = [];
  for (const [name, value] of Object.entries(after)) {
    if (value instanceof StoredPart || mayBeRounded(value)) {
      unread.push(name);
      continue;
    }
    channels.set(name, value);
    const old = earlier?.get(name);
    if (!earlier || isEqual(old, value)) continue;
    if (isMessages(value)) {
      const changed = changedMessages(old, value);
      if (changed.length > 0) update.set(name, changed);
    } else if (isAdditive(old, value)) additive.push(name);
    else update.set(name, value);
  }
  return { update: Object.fromEntries(update), channels: Object.fromEntries(channels), unread, additive };
};
