// Encrypts stored credentials. The ciphertext is bound to the workspace and destination, so it cannot be decrypted in another row.
import { Problem } from '@svc/contract/problem';
import type { S3Credentials } from '@svc/contract';
import { ConfigError } from '../../config/project/mistake.ts';
import { SealError, type Sealer } from '../../auth/sealed-users/sealer.ts';

/** Opens the sealer for the first secret. */
export interface SealerSource {
  get(): Promise<Sealer>;
}

interface Owner {
  tenant_id: string;
  id: string;
}

/** The associated data of the encryption. */
const ownerText = ({ tenant_id, id }: Owner): string => `export destination ${tenant_id}/${id}`;

export class CredentialVault {
  readonly #sealer: SealerSource;

  constructor(sealer: SealerSource) {
    this.#sealer = sealer;
  }

  seal(credentials: S3Credentials, owner: Owner): Promise<string> {
    return withSealer((sealer) => sealer.seal(JSON.stringify(credentials), ownerText(owner)), this.#sealer);
  }

  /** Throws `unavailable` when this server has no key, or not the one that encrypted them. */
  open(sealed: string, owner: Owner): Promise<S3Credentials> {
    const read = (sealer: Sealer) => JSON.parse(sealer.open(sealed, ownerText(owner))) as S3Credentials;
    return withSealer(read, this.#sealer);
  }
}

const withSealer = async <T>(work: (sealer: Sealer) => T, lazy: SealerSource): Promise<T> => {
  try {
    return work(await lazy.get());
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof SealError)) throw error;
    throw new Problem('unavailable', 'This server cannot encrypt or decrypt credentials; see its log.', {
      cause: error,
    });
  }
};
