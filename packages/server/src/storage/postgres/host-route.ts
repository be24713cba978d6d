// Which host the next connection goes to. All connections of a process go the same way: to the first host that could be
// reached and is of the wanted kind, until that fails.
import pg from 'pg';
import type { SessionAttributes } from '../../config/settings/database-uri.ts';

/** One thing to try: a host, and the kind of server that it must be. */
export interface Stop {
  /** Undefined: what the configuration says already. */
  connectionString: string | undefined;
  wanted: Exclude<SessionAttributes, 'prefer-standby'>;
}

/** Rejected connections, described for the person who starts the server. */
export class WrongServer extends Error {
  override readonly name = 'WrongServer';

  constructor(wanted: string, { standby, read_only }: ServerKind) {
    const kind = standby ? 'a standby' : read_only ? 'read-only' : 'a primary that takes writes';
    super(`target_session_attrs=${wanted}, and the server is ${kind}`);
  }
}

interface ServerKind {
  standby: boolean;
  read_only: boolean;
}

const kindText = `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as read_only`;

export class HostRoute {
  readonly #stops: readonly Stop[];
  readonly #listeners = new Set<() => void>();
  #at = 0;

  constructor(uris: readonly string[], wanted: SessionAttributes) {
    const toStops = (kind: Stop['wanted']): Stop[] =>
      uris.map((connectionString) => ({ connectionString, wanted: kind }));
    this.#stops = wanted === 'prefer-standby' ? [...toStops('standby'), ...toStops('any')] : toStops(wanted);
    if (uris.length === 0) this.#stops = [{ connectionString: undefined, wanted: 'any' }];
  }

  /** How many there are to try. */
  get length(): number {
    return this.#stops.length;
  }

  get current(): Stop {
    return this.#stops[this.#at] as Stop;
  }

  /** `listener` is called when the server that connections lead to turns out to take no writes. Must not throw. */
  onMoved(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** A server took no writes. */
  moved(): void {
    for (const listener of this.#listeners) listener();
  }

  /** A connection to this one failed: the next one is another, unless somebody has gone on already. */
  leave(stop: Stop): void {
    if (stop === this.current) this.#at = (this.#at + 1) % this.#stops.length;
  }
}

/** Throws WrongServer when the connection leads to a server of another kind than is wanted there. */
export const checkKind = async (client: pg.ClientBase, { wanted }: Stop): Promise<void> => {
  if (wanted === 'any') return;
  const { rows } = await client.query<ServerKind>(kindText);
  const kind = rows[0];
  if (!kind) return;
  const isFit = {
    'read-write': !kind.standby && !kind.read_only,
    'read-only': kind.standby || kind.read_only,
    primary: !kind.standby,
    standby: kind.standby,
  }[wanted];
  if (!isFit) throw new WrongServer(wanted, kind);
};

/** Clients that connect to where the route leads when they are made, and leave it when that fails. */
export const clientOf = (route: HostRoute): typeof pg.Client =>
  class RoutedClient extends pg.Client {
    readonly #stop: Stop;

    constructor(config: pg.ClientConfig) {
      const stop = route.current;
      super(
        stop.connectionString === undefined ? config : { ...config, connectionString: stop.connectionString },
      );
      this.#stop = stop;
      // A connection that breaks while nobody watches it would end the process; its next user gets the error.
      this.on('error', () => undefined);
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<pg.Client> | void {
      const connected = this.#connect();
      if (callback === undefined) return connected.then(() => this as pg.Client);
      connected.then(callback as () => void, callback);
    }

    async #connect(): Promise<void> {
      try {
        await super.connect();
        await checkKind(this, this.#stop);
      } catch (error) {
        route.leave(this.#stop);
        if (error instanceof WrongServer) await this.end();
        throw error;
      }
    }
  };
