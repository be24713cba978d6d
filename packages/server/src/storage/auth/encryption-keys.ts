// Which key the secrets in this database are sealed with: its id, never the key.
import type { Database } from '../postgres/database.ts';

const statements = {
  register: {
    name: 'encryption_keys_register',
    text: `with first as (
        insert into encryption_keys (key_id) values ($1) on conflict (only_row) do nothing returning key_id
      )
      select key_id from first union all select key_id from encryption_keys limit 1`,
  },
};

export type EncryptionKeyStorage = ReturnType<typeof encryptionKeyStorage>;

export const encryptionKeyStorage = (db: Database) => ({
  /** The id of the database's key: this one, if it has none yet. */
  async register(key_id: string): Promise<string> {
    const [row] = await db.query<{ key_id: string }>(statements.register, [key_id]);
    // Somebody else registered theirs just now, which a statement that began before does not see.
    return row?.key_id ?? this.register(key_id);
  },
});
