// Keys of teams: a table of their hashes, so that who reads it cannot use them. A key is 32 random bytes, and what cannot be
// guessed needs no slow hash.
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface TeamKey {
  /** SHA-256 of the key, in hex. */
  hash: string;
  team: string;
  /** Whose key it is: a person, or a program. */
  name: string;
  kind: 'person' | 'service';
}

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');

/** The key itself is kept nowhere. */
export const newKey = (owner: Omit<TeamKey, 'hash'>): { key: string; row: TeamKey } => {
  const key = `team_${randomBytes(32).toString('base64url')}`;
  return { key, row: { hash: hashOf(key), ...owner } };
};

export interface TeamKeys {
  /** Undefined for a key that is nobody's. */
  find(key: string): TeamKey | undefined;
}

/** The table as the file has it now: a change counts from the next start. */
export const teamKeys = (file: string | URL): TeamKeys => {
  const rows = JSON.parse(readFileSync(file, 'utf8')) as TeamKey[];
  const byHash = new Map(rows.map((row) => [row.hash, row]));
  return { find: (key) => byHash.get(hashOf(key)) };
};
