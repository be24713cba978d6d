import { createHash } from 'node:crypto';

/**
 * The id of the run that a client's Idempotency-Key stands for: the same key of the same user, the same run. A UUID of
 * version 8.
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
