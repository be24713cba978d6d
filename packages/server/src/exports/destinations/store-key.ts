const controlCharacter = /\p{Cc}/u;
const loneSurrogate = /\p{Cs}/u;

/** Splits a key. Throws for a key that could lead out of the store, which is a bug of the caller. */
export const partsOfKey = (key: string): string[] => {
  const parts = key.split('/');
  const fault = parts.map(pathPartFault).find((each) => each !== undefined);
  if (fault !== undefined) throw new Error(`A store key ${fault}`);
  return parts;
};

/** Returns why the text cannot be a part of a path; undefined when it can. */
export const pathPartFault = (part: string): string | undefined => {
  if (part === '') return 'must not have an empty part (//)';
  if (part === '.' || part === '..') return 'must not have the part . or ..';
  if (controlCharacter.test(part)) return 'must not have control characters';
  return loneSurrogate.test(part) ? 'must be text that can be written as UTF-8' : undefined;
};
