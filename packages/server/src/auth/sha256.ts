import { hash } from 'node:crypto';

/** The digest of a secret or name with high entropy, for comparisons in constant time and as a key in the database. */
export const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');
