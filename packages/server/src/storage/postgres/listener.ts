// LISTEN on a connection of its own. Notifications are lost while the connection is broken, so listeners look for themselves
// after a reconnect.
//
//   connect ──LISTEN──▶ listening ──broken, or silent to a heartbeat──▶ away ──backoff──▶ connect
import type pg from 'pg';
import { pause, retry } from '../../backoff.ts';
import type { ConnectionSetup } from './connection-options.ts';

export interface ListenOptions {
  setup: ConnectionSetup;
  channel: string;
  /** Must not throw. */
  onNotify: (payload: string) => void;
  /** Called after a reconnect, since notifications may have been missed. Must not throw. */
  onReconnect?: (() => void) | undefined;
}

const heartbeatMs = 15_000;
const heartbeatTimeoutMs = 5_000;
const backoffMs = { first: 50, max: 5_000 };

/** Resolves when the connection listens; rejects when the first connection cannot be opened. */
export const openListener = async (options: ListenOptions): Promise<AsyncDisposable> => {
  const stop = new AbortController();
  const first = await connect(options);
  const listening = stayConnected(options, first, stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await listening;
    },
  };
};

interface Listening {
  client: pg.Client;
  /** Resolves when the connection is lost. */
  lost: Promise<void>;
}

/** Opens a connection outside of the pool, to the first reachable host of the required kind. */
export const connectAny = async ({ Client, config, hosts }: ConnectionSetup): Promise<pg.Client> => {
  for (let attempts = 1; ; attempts++) {
    const client = new Client(config);
    try {
      await client.connect();
      return client;
    } catch (error) {
      void client.end();
      if (attempts >= hosts.length) throw error;
    }
  }
};

const connect = async ({ setup, channel, onNotify }: ListenOptions): Promise<Listening> => {
  const client = await connectAny(setup);
  const lost = new Promise<void>((resolve) => {
    client.on('error', () => resolve());
    client.on('end', () => resolve());
  });
  client.on('notification', ({ payload = '' }) => onNotify(payload));
  try {
    await client.query(`listen ${client.escapeIdentifier(channel)}`);
    return { client, lost };
  } catch (error) {
    void client.end();
    throw error;
  }
};

const stayConnected = async (options: ListenOptions, first: Listening, stop: AbortSignal): Promise<void> => {
  let listening = first;
  while (!stop.aborted) {
    await untilLost(listening, options.setup, stop);
    listening.client.removeAllListeners('notification');
    const ended = listening.client.end();
    if (stop.aborted) return ended;
    const next = await reconnect(options, stop);
    if (next === undefined) return;
    listening = next;
    options.onReconnect?.();
  }
};

/** Resolves when the connection is lost. A heartbeat query detects a peer that disappeared without closing the connection. */
const untilLost = async (
  { client, lost }: Listening,
  { hosts }: ConnectionSetup,
  stop: AbortSignal,
): Promise<void> => {
  const connectionLost = new AbortController();
  void lost.then(() => connectionLost.abort());
  const over = AbortSignal.any([stop, connectionLost.signal]);
  while (!over.aborted) {
    const failover = new AbortController();
    using _listener = hosts.onFailover(() => failover.abort());
    await pause(heartbeatMs, AbortSignal.any([over, failover.signal]));
    if (over.aborted) return;
    const beat: pg.QueryConfig & { query_timeout: number } = {
      text: `select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as is_read_only`,
      query_timeout: heartbeatTimeoutMs,
    };
    // Only the primary sends notifications.
    const isHealthy = await client.query<{ is_read_only: boolean }>(beat).then(
      ({ rows }) => rows[0]?.is_read_only === false,
      () => false,
    );
    if (!isHealthy) return;
  }
};

/** Undefined after `stop`. */
const reconnect = async (options: ListenOptions, stop: AbortSignal): Promise<Listening | undefined> => {
  await pause(backoffMs.first, stop);
  // `retry` tries once more after an abort, and a try may wait ten seconds for a host that does not respond.
  const connectUnlessStopped = async (): Promise<Listening> => {
    stop.throwIfAborted();
    return connect(options);
  };
  try {
    // Without a bound: listeners poll until the database is back, and their queries log the outage.
    const listening = await retry(connectUnlessStopped, {
      pauseMs: backoffMs,
      forMs: Infinity,
      signal: stop,
    });
    if (!stop.aborted) return listening;
    await listening.client.end();
  } catch (error) {
    if (!stop.aborted) throw error;
  }
  return undefined;
};
