// API keys of teams. The file contains hashes only, so a person who can read it cannot use the keys. A key has 32 random bytes and
// cannot be guessed, so a fast hash is sufficient.
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface TeamKey {
  /** SHA-256 of the key, hexadecimal. */
  hash: string;
  team: string;
  /** The person or service that owns the key. */
  name: string;
  kind: 'person' | 'service';
}

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');

/** Returns a new key and its row. The key itself is not stored. */
export const newKey = (owner: Omit<TeamKey, 'hash'>): { key: string; row: TeamKey } => {
  const key = `team_${randomBytes(32).toString('base64url')}`;
  return { key, row: { hash: hashOf(key), ...owner } };
};

export interface TeamKeys {
  /** Undefined for an unknown key. */
  find(key: string): TeamKey | undefined;
}

/** Reads the file once; changes take effect after a restart. */
export const teamKeys = (file: string | URL): TeamKeys => {
  const rows = JSON.parse(readFileSync(file, 'utf8')) as TeamKey[];
  const byHash = new Map(rows.map((row) => [row.hash, row]));
  return { find: (key) => byHash.get(hashOf(key)) };
};
