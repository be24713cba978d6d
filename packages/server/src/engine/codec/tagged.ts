// The stored form of a value is JSON in which an object with the key "$" stands for something JSON lacks:
// "$" says what, the other keys hold its parts. A user's own object with that key is wrapped: {"$":"object","of":{…}}.

export const tagKey = '$';

/** If this is nowhere in a JSON text, the text holds no tag: inside a JSON string the quotes would be escaped. */
export const tagMark = '"$"';

export const hasTag = (text: string): boolean => text.includes(tagMark);

export type Tagged = { $: string } & Record<string, unknown>;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isTagged = (value: Record<string, unknown>): value is Tagged => Object.hasOwn(value, tagKey);

/** Sets an own property whatever its name: plain assignment to `__proto__` would change the prototype. */
export const setOwn = (target: object, key: string, value: unknown): void => {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    (target as Record<string, unknown>)[key] = value;
  }
};
