import { createHash } from 'node:crypto';

/**
 * The run id for a client's Idempotency-Key, a UUID of version 8. The same key of the same user on the same thread gives the same id.
 */
export const runIdOf = (key: string, thread_id: string | null, identity = ''): string => {
  const hash = createHash('sha256')
    .update(JSON.stringify([thread_id ?? 'no thread', key, identity]))
    .digest('hex');
  const variant = ((Number.parseInt(hash.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `${variant}${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-');
};
