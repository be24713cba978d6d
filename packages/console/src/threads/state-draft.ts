// What an editor of a state begins with: an update that can be sent as it is, and changes nothing.
import { isObject, readMessage } from '../messages/read-messages.ts';
import { StoredPart } from '../stored/stored-part.ts';
import { diffValues } from '../values/json-diff.ts';
import { mayBeRounded } from '../values/rounded-integer.ts';

export interface StateDraft {
  /** What the step has changed, as an update that writes it again. */
  update: Record<string, unknown>;
  /** Channels that the page has read whole. */
  channels: Record<string, unknown>;
  /** Channels that the page has not read whole, or not exactly. They are never sent back. */
  unread: string[];
  /** Lists that have grown: a reducer that appends would append them again. */
  appended: string[];
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

const hasGrown = (before: unknown, after: unknown): boolean =>
  Array.isArray(before) &&
  Array.isArray(after) &&
  before.length > 0 &&
  after.length > before.length &&
  isEqual(before, after.slice(0, before.length));

/** `before`: the values of the parent; an empty object when there is none. */
export const draftOf = (before: unknown, after: unknown): StateDraft => {
  const draft: StateDraft = { update: {}, channels: {}, unread: [], appended: [] };
  // A state with so many channels that they are read in parts.
  if (!isObject(after) || after instanceof StoredPart) return draft;
  const earlier = isObject(before) && !(before instanceof StoredPart) ? before : undefined;
  for (const [name, value] of Object.entries(after)) {
    if (value instanceof StoredPart || mayBeRounded(value)) {
      draft.unread.push(name);
      continue;
    }
    draft.channels[name] = value;
    const old = earlier?.[name];
    if (!earlier || isEqual(old, value)) continue;
    if (isMessages(value)) {
      const changed = changedMessages(old, value);
      if (changed.length > 0) draft.update[name] = changed;
    } else if (hasGrown(old, value)) draft.appended.push(name);
    else draft.update[name] = value;
  }
  return draft;
};
