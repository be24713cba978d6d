const controlCharacter = /\p{Cc}/u;
const loneSurrogate = /\p{Cs}/u;

/** Of a path of our own making. Throws for one that could lead elsewhere: that is a mistake of ours. */
export const partsOfKey = (key: string): string[] => {
  const parts = key.split('/');
  const fault = parts.map(pathPartFault).find((each) => each !== undefined);
  if (fault !== undefined) throw new Error(`A key of a store ${fault}`);
  return parts;
};

/** Why something cannot be a part of a path, or undefined. */
export const pathPartFault = (part: string): string | undefined => {
  if (part === '') return 'must not have an empty part (//)';
  if (part === '.' || part === '..') return 'must not have the part . or ..';
  if (controlCharacter.test(part)) return 'must not have control characters';
  return loneSurrogate.test(part) ? 'must be text that can be written as UTF-8' : undefined;
};
