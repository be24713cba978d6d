// Records the id of the encryption key of the secrets in this database; never the key itself.
import type { Database } from '../postgres/database.ts';
import { statement } from '../postgres/statement.ts';

export const statements = {
  find: statement<{ key_id: string }>('select key_id from encryption_keys limit 1'),
  register: statement<{ key_id: string }>(`with first as (
        insert into encryption_keys (key_id) values ($1) on conflict (only_row) do nothing returning key_id
      )
      select key_id from first union all select key_id from encryption_keys limit 1`),
};

export type EncryptionKeyStorage = ReturnType<typeof encryptionKeyStorage>;

export const encryptionKeyStorage = (db: Database) => ({
  /** The id of the database's key; undefined when nothing was encrypted yet. */
  async find(): Promise<string | undefined> {
    return (await db.query(statements.find, []))[0]?.key_id;
  },

  /** Returns the id of the database's key; records this id when there is none yet. */
  async register(key_id: string): Promise<string> {
    const [row] = await db.query(statements.register, [key_id]);
    // Another process has just registered its key, which this statement's snapshot does not contain.
    return row?.key_id ?? this.register(key_id);
  },
});
