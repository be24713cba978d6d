import { createHash } from 'node:crypto';

/** A UUID of version 8 (RFC 9562) that is derived from the texts. */
export const hashUuid = (...texts: string[]): string => {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text);
  const hex = hash.digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};
