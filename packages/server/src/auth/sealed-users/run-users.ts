// Whom a run acts for: sealed while the run waits or executes, opened for its graph, and bound to the identity that the
// run's metadata names.
import type { Sealer } from './sealer.ts';
import { ownerKey } from '../authorization/authorizer.ts';
import type { User } from '../principal/caller.ts';

export class RunUsers {
  readonly #sealer: Sealer | undefined;
  readonly #compat: boolean;

  /** Without a sealer there are no users. `compat` adds the stock names of the keys. */
  constructor(sealer: Sealer | undefined, compat: boolean) {
    this.#sealer = sealer;
    this.#compat = compat;
  }

  /** Null for nobody. */
  seal(user: User | undefined): string | null {
    if (user === undefined) return null;
    if (!this.#sealer) throw new Error('there is a user, and nothing to seal it with');
    return this.#sealer.seal(JSON.stringify(user), user.identity);
  }

  /** What the graph sees in `configurable`. Throws a SealError. */
  open(sealed: string | null, metadata: Readonly<Record<string, unknown>>): Record<string, unknown> {
    if (sealed === null) return {};
    if (!this.#sealer)
      throw new Error('the run has a user, and this server has no key: set SVC_ENCRYPTION_KEY');
    const text = this.#sealer.open(sealed, String(metadata[ownerKey]));
    return this.keys(JSON.parse(text) as User);
  }

  /** What a graph sees of a user in `configurable`; no client can set these. */
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
