// Credentials at rest. Each is bound to its workspace and destination: in another row it does not open.
import { Problem } from '@svc/contract/problem';
import type { S3Credentials } from '@svc/contract';
import { ConfigError } from '../../config/project/mistake.ts';
import type { LazySealer } from '../../auth/sealed-users/lazy-sealer.ts';
import { SealError, type Sealer } from '../../auth/sealed-users/sealer.ts';

interface Owner {
  tenant_id: string;
  id: string;
}

const ownerText = ({ tenant_id, id }: Owner): string => `export destination ${tenant_id}/${id}`;

export class CredentialVault {
  readonly #sealer: LazySealer;

  constructor(sealer: LazySealer) {
    this.#sealer = sealer;
  }

  seal(credentials: S3Credentials, owner: Owner): Promise<string> {
    return opening((sealer) => sealer.seal(JSON.stringify(credentials), ownerText(owner)), this.#sealer);
  }

  /** Throws `unavailable` when this server has another key than the one that sealed them. */
  open(sealed: string, owner: Owner): Promise<S3Credentials> {
    const read = (sealer: Sealer) => JSON.parse(sealer.open(sealed, ownerText(owner))) as S3Credentials;
    return opening(read, this.#sealer);
  }
}

const opening = async <T>(work: (sealer: Sealer) => T, lazy: LazySealer): Promise<T> => {
  try {
    return work(await lazy.get());
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof SealError)) throw error;
    throw new Problem('unavailable', 'This server cannot open the credentials; its log says why.', {
      cause: error,
    });
  }
};
