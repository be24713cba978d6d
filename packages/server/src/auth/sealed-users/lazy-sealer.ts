// Opens the sealer for the first secret: servers without secrets need no key, and need not have the same one.
import { ConfigError } from '../../config/project/mistake.ts';
import type { Secret } from '../../config/settings/secret.ts';
import type { EncryptionKeyStorage } from '../../storage/auth/encryption-keys.ts';
import { assertSameKey, openSealer } from './encryption-key.ts';
import type { Sealer } from './sealer.ts';

export interface SealerParts {
  encryptionKey: Secret | undefined;
  storage: { dataDir: string; databaseUri: Secret | undefined };
  keys: EncryptionKeyStorage;
}

export class LazySealer {
  readonly #parts: SealerParts;
  #opened: Promise<Sealer> | undefined;

  constructor(parts: SealerParts) {
    this.#parts = parts;
  }

  /** Opens it once. Throws a ConfigError when this server's key is not the database's; the next call checks again. */
  async get(): Promise<Sealer> {
    this.#opened ??= this.#open();
    try {
      return await this.#opened;
    } catch (error) {
      this.#opened = undefined;
      throw error;
    }
  }

  /**
   * For what can be left out. Undefined when this server's key is not the database's, and when other servers may share the database but no key
   * is set: a generated key would then become the one that all of them need.
   */
  async find(): Promise<Sealer | undefined> {
    const { encryptionKey, storage, keys } = this.#parts;
    const isShared = storage.databaseUri !== undefined && encryptionKey === undefined;
    if (isShared && (await keys.find()) === undefined) return undefined;
    try {
      return await this.get();
    } catch (error) {
      if (error instanceof ConfigError) return undefined;
      throw error;
    }
  }

  async #open(): Promise<Sealer> {
    const { encryptionKey, storage, keys } = this.#parts;
    const sealer = await openSealer(encryptionKey, storage.dataDir);
    await assertSameKey(sealer, keys, storage);
    return sealer;
  }
}
