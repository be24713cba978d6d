// The users of runs. A user is encrypted while the run waits or executes, decrypted for its graph, and bound to the identity in the
// run's metadata.
import type { Sealer } from './sealer.ts';
import { ownerKey } from '../authorization/authorizer.ts';
import type { User } from '../principal/caller.ts';
import type { SendingAttempt } from '../principal/own-requests.ts';

/** A key with the credential of the attempt for requests to this server, if they need one. */
export type CredentialFor = (user: User | undefined, attempt: SendingAttempt) => Record<string, unknown>;

interface StoredRun extends SendingAttempt {
  readonly metadata: Readonly<Record<string, unknown>>;
}

export class RunUsers {
  readonly #sealer: Sealer | undefined;
  readonly #compat: boolean;
  readonly #credentialFor: CredentialFor;

  /** Without a sealer there are no users. `compat` adds the stock names of the keys. */
  constructor(sealer: Sealer | undefined, compat: boolean, credentialFor: CredentialFor = () => ({})) {
    this.#sealer = sealer;
    this.#compat = compat;
    this.#credentialFor = credentialFor;
  }

  /** Encrypts the user; null without a user. */
  seal(user: User | undefined): string | null {
    if (user === undefined) return null;
    if (!this.#sealer) throw new Error('A run has a user, but there is no encryption key');
    return this.#sealer.seal(JSON.stringify(user), user.identity);
  }

  /** Decrypts the user into the keys that the graph gets in `configurable`. Throws a SealError. */
  open(sealed: string | null, run: StoredRun): Record<string, unknown> {
    if (sealed === null) return this.ofRun(undefined, run);
    return this.ofRun(this.userOf(sealed, String(run.metadata[ownerKey])), run);
  }

  /** Decrypts a user with this identity. Throws a SealError. */
  userOf(sealed: string, identity: string): User {
    if (!this.#sealer)
      throw new Error('A stored user needs a key, which this server has not: set SVC_ENCRYPTION_KEY');
    return JSON.parse(this.#sealer.open(sealed, identity)) as User;
  }

  /** The keys for a run of the user: also the credential of its requests to this server. */
  ofRun(user: User | undefined, { run_id, lease_token }: SendingAttempt): Record<string, unknown> {
    return { ...this.keys(user), ...this.#credentialFor(user, { run_id, lease_token }) };
  }

  /** The keys of a user in `configurable`; clients cannot set them. */
  keys(user: User | undefined): Record<string, unknown> {
    if (user === undefined) return {};
    const names = this.#compat ? ['svc_auth', 'langgraph_auth'] : ['svc_auth'];
    return Object.fromEntries(
      names.flatMap((name) => [
        [`${name}_user`, user],
        [`${name}_user_id`, user.identity],
        [`${name}_permissions`, user.permissions],
      ]),
    );
  }
}
