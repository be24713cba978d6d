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

/** Of the code of a run, or of code that serves a request. */
type Credential = { user: User | null } & ({ attempt: SendingAttempt } | { expires_at: number });

/** How long code may go on after the request that it serves, in milliseconds. */
const lifetimeMs = 24 * 3_600_000;

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
    const validity = attempt ? { attempt } : { expires_at: Date.now() + lifetimeMs };
    const credential: Credential = { user: user ?? null, ...validity };
    return this.#sealer.seal(JSON.stringify(credential), ownHeader);
  }

  /** Accepts these credentials in addition: that of a run while its attempt executes, that of a request for a day. */
  around(authenticate: Authenticate, isExecuting: (attempt: SendingAttempt) => boolean): Authenticate {
    return (credentials) => {
      const sealed = credentials.header(ownHeader);
      if (sealed === undefined) return authenticate(credentials);
      const credential = this.#open(sealed);
      if ('attempt' in credential && !isExecuting(credential.attempt))
        throw new Problem('unauthenticated', 'The run of this request has ended.');
      if ('expires_at' in credential && Date.now() > credential.expires_at)
        throw new Problem('unauthenticated', 'The request of this code began more than a day ago.');
      return credential.user === null ? anybody : callerOf(credential.user);
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
