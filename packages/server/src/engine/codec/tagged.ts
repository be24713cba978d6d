// The stored form of a value is JSON in which an object with the key "$" represents a value that JSON lacks. "$" is its
// type, the other keys are its parts. A user's own object with that key is wrapped: {"$":"object","of":{…}}.

export const tagKey = '$';

/** A JSON text without this contains no tag: inside a JSON string the quotes would be escaped. */
export const tagMark = '"$"';

export const hasTag = (text: string): boolean => text.includes(tagMark);

export type Tagged = { $: string } & Record<string, unknown>;

export const isTagged = (value: Record<string, unknown>): value is Tagged => Object.hasOwn(value, tagKey);

/** Sets an own property of any name: plain assignment to `__proto__` would change the prototype. */
export const setOwn = (target: object, key: string, value: unknown): void => {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    (target as Record<string, unknown>)[key] = value;
  }
};
