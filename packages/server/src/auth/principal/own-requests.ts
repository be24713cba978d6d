// Requests that code of the project sends to its own server with a client without a URL. They act for the caller for whom the code executes:
// the user of a run, until it ends, or the user of a request. Only this process issues and accepts their credentials.
import { randomBytes } from 'node:crypto';
import { Problem } from '@svc/contract/problem';
import { ownHeader } from '../../config/project/header-patterns.ts';
import type { AccessMode } from '../../config/settings/exposure.ts';
import { Sealer, SealError } from '../sealed-users/sealer.ts';
import { anybody, type Authenticate, callerOf, type User } from './caller.ts';

/** The attempt of a run whose graph sends the request. */
export interface SendingAttempt {
  readonly run_id: string;
  readonly lease_token: number;
}

interface Credential {
  user: User | null;
  /** Absent for code that serves a request. */
  attempt?: SendingAttempt;
}

export class OwnRequests {
  readonly #sealer = new Sealer(randomBytes(32));
  readonly #mode: AccessMode['kind'];

  constructor(mode: AccessMode) {
    this.#mode = mode.kind;
  }

  /** A credential for the user; undefined where requests need none, and for code that executes for no user. */
  issue(user: User | undefined, attempt?: SendingAttempt): string | undefined {
    const isNeeded = this.#mode === 'keys' || (this.#mode === 'custom' && user !== undefined);
    if (!isNeeded) return undefined;
    const credential: Credential = { user: user ?? null, ...(attempt && { attempt }) };
    return this.#sealer.seal(JSON.stringify(credential), ownHeader);
  }

  /** Accepts these credentials in addition; that of a run only while its attempt executes. */
  around(authenticate: Authenticate, isExecuting: (attempt: SendingAttempt) => boolean): Authenticate {
    return (credentials) => {
      const sealed = credentials.header(ownHeader);
      if (sealed === undefined) return authenticate(credentials);
      const { user, attempt } = this.#open(sealed);
      if (attempt !== undefined && !isExecuting(attempt))
        throw new Problem('unauthenticated', 'The run of this request has ended.');
      return user === null ? anybody : callerOf(user);
    };
  }

  #open(sealed: string): Credential {
    try {
      return JSON.parse(this.#sealer.open(sealed, ownHeader)) as Credential;
    } catch (cause) {
      if (!(cause instanceof SealError)) throw cause;
      throw new Problem('unauthenticated', `The header ${ownHeader} is not valid for this server.`, {
        cause,
      });
    }
  }
}
