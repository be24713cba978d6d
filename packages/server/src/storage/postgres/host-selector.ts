// Selects the host of the next connection. All connections of a process go to the same host: the first reachable host of the
// required kind, until a connection to it fails.
import pg from 'pg';
import type { SessionAttributes } from '../../config/settings/database-uri.ts';
import { sendLongParameters } from './long-parameter.ts';

/** A host to try, and the kind of server that it must be. */
export interface HostCandidate {
  /** Undefined: as in the configuration. */
  connectionString: string | undefined;
  /** Candidates of the same group are the same host: sslmode allows connections with and without TLS. */
  group?: number;
  wanted: Exclude<SessionAttributes, 'prefer-standby'>;
}

/** The server is reachable and of the wrong kind. The message is for the operator. */
export class WrongServer extends Error {
  override readonly name = 'WrongServer';

  constructor(wanted: string, { standby, read_only }: ServerKind) {
    const kind = standby ? 'a standby' : read_only ? 'read-only' : 'a primary that takes writes';
    super(`target_session_attrs=${wanted}, but the server is ${kind}`);
  }
}

interface ServerKind {
  standby: boolean;
  read_only: boolean;
}

const kindText = `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as read_only`;

export class HostSelector {
  readonly #candidates: readonly HostCandidate[];
  readonly #listeners = new Set<() => void>();
  #at = 0;

  /** `hosts`: for each host how to connect, in the order of attempts. */
  constructor(hosts: readonly (readonly string[])[], wanted: SessionAttributes) {
    const kinds = wanted === 'prefer-standby' ? (['standby', 'any'] as const) : [wanted];
    this.#candidates = kinds
      .flatMap((kind) => hosts.map((uris) => ({ kind, uris })))
      .flatMap(({ kind, uris }, group) =>
        uris.map((connectionString) => ({ connectionString, wanted: kind, group })),
      );
    if (hosts.length === 0) this.#candidates = [{ connectionString: undefined, wanted: 'any' }];
  }

  /** The number of hosts to try. */
  get length(): number {
    return this.#candidates.length;
  }

  get current(): HostCandidate {
    return this.#candidates[this.#at] as HostCandidate;
  }

  /** `listener` is called when the current server turns out to be read-only. It must not throw. */
  onFailover(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Reports that a server refused a write. */
  reportFailover(): void {
    for (const listener of this.#listeners) listener();
  }

  /**
   * Reports a failed connection: the next connection goes to the next host, unless another caller has already switched. Only when the server
   * has refused the connection because of TLS, the other way to connect to the same host is tried first, as by libpq: an outage must not
   * lead to connections without TLS.
   */
  leave(candidate: HostCandidate, error: unknown): void {
    if (candidate !== this.current) return;
    const following = this.#at + 1;
    const isAlternative =
      candidate.group !== undefined && this.#candidates[following]?.group === candidate.group;
    const next =
      isAlternative && isTlsRefusal(error)
        ? following
        : this.#candidates.findIndex(({ group = 0 }) => group > (candidate.group ?? 0));
    this.#at = Math.max(next, 0);
  }
}

/** Whether the server is reachable, and refuses connections with, or without, TLS. */
const isTlsRefusal = (error: unknown): boolean => {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code === 'string' && /^(?:28000|EPROTO|ERR_SSL_\w+)$/.test(code)) return true;
  return typeof message === 'string' && message.includes('does not support SSL');
};

/** Throws WrongServer when the server is not of the required kind. */
export const checkKind = async (client: pg.ClientBase, { wanted }: HostCandidate): Promise<void> => {
  if (wanted === 'any') return;
  const { rows } = await client.query<ServerKind>(kindText);
  const kind = rows[0];
  if (!kind) return;
  const isRequiredKind = {
    'read-write': !kind.standby && !kind.read_only,
    'read-only': kind.standby || kind.read_only,
    primary: !kind.standby,
    standby: kind.standby,
  }[wanted];
  if (!isRequiredKind) throw new WrongServer(wanted, kind);
};

/** A client class that connects to the selected host, and selects the next host when that fails. */
export const clientOf = (hosts: HostSelector): typeof pg.Client =>
  class RoutedClient extends pg.Client {
    readonly #candidate: HostCandidate;

    constructor(config: pg.ClientConfig) {
      const candidate = hosts.current;
      super(
        candidate.connectionString === undefined
          ? config
          : { ...config, connectionString: candidate.connectionString },
      );
      this.#candidate = candidate;
      sendLongParameters(this);
      // Without a listener, a connection that breaks while it is idle would end the process. Its next query fails.
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
        await checkKind(this, this.#candidate);
      } catch (error) {
        hosts.leave(this.#candidate, error);
        if (error instanceof WrongServer) await this.end();
        throw error;
      }
    }
  };
