// Requests that code of the project sends to its own server with a client without a URL. They act for the caller for whom the code executes:
// the user of a run, or the one of a request. Only this process issues and accepts their credentials.
import { randomBytes } from 'node:crypto';
import { Problem } from '@svc/contract/problem';
import { ownHeader } from '../../config/project/header-patterns.ts';
import type { AccessMode } from '../../config/settings/exposure.ts';
import { Sealer, SealError } from '../sealed-users/sealer.ts';
import { anybody, type Authenticate, type Caller, callerOf, type User } from './caller.ts';

export class OwnRequests {
  readonly #sealer = new Sealer(randomBytes(32));
  readonly #mode: AccessMode['kind'];

  constructor(mode: AccessMode) {
    this.#mode = mode.kind;
  }

  /** A credential for the user; undefined where requests need none, and for code that executes for no user. */
  readonly issue = (user: User | undefined): string | undefined => {
    const isNeeded = this.#mode === 'keys' || (this.#mode === 'custom' && user !== undefined);
    return isNeeded ? this.#sealer.seal(JSON.stringify(user ?? null), ownHeader) : undefined;
  };

  /** Accepts these credentials in addition. */
  around(authenticate: Authenticate): Authenticate {
    return (credentials) => {
      const credential = credentials.header(ownHeader);
      return credential === undefined ? authenticate(credentials) : this.#callerOf(credential);
    };
  }

  #callerOf(credential: string): Caller {
    try {
      const user = JSON.parse(this.#sealer.open(credential, ownHeader)) as User | null;
      return user === null ? anybody : callerOf(user);
    } catch (cause) {
      if (!(cause instanceof SealError)) throw cause;
      throw new Problem('unauthenticated', `The header ${ownHeader} is not valid for this server.`, {
        cause,
      });
    }
  }
}
