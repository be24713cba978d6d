// LISTEN on a connection of its own. Notifications are lost while the connection is broken, so listeners look for themselves
// after a reconnect.
//
//   connect ──LISTEN──▶ listening ──broken, or silent to a heartbeat──▶ away ──backoff──▶ connect
import type pg from 'pg';
import { Backoff, pause } from '../../backoff.ts';
import type { Connecting } from './connection-options.ts';

export interface ListenOptions {
  connecting: Connecting;
  channel: string;
  /** Must not throw. */
  onNotify: (payload: string) => void;
  /** Notifications may have been missed. Must not throw. */
  onReconnect?: (() => void) | undefined;
}

const heartbeatMs = 15_000;
const heartbeatTimeoutMs = 5_000;
const backoffMs = { first: 50, max: 5_000 };

/** Resolves once it listens; rejects when the first connection cannot be made. */
export const openListener = async (options: ListenOptions): Promise<AsyncDisposable> => {
  const stop = new AbortController();
  const first = await connect(options);
  const keeping = keep(options, first, stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await keeping;
    },
  };
};

interface Listening {
  client: pg.Client;
  /** Resolves when the connection is gone. */
  lost: Promise<void>;
}

/** A connection of its own, to the first host that can be reached and is of the wanted kind. */
export const connectAny = async ({ Client, config, route }: Connecting): Promise<pg.Client> => {
  for (let tries = 1; ; tries++) {
    const client = new Client(config);
    try {
      await client.connect();
      return client;
    } catch (error) {
      void client.end();
      if (tries >= route.length) throw error;
    }
  }
};

const connect = async ({ connecting, channel, onNotify }: ListenOptions): Promise<Listening> => {
  const client = await connectAny(connecting);
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

const keep = async (options: ListenOptions, first: Listening, stop: AbortSignal): Promise<void> => {
  let listening = first;
  while (!stop.aborted) {
    await untilLost(listening, options.connecting, stop);
    listening.client.removeAllListeners('notification');
    const ended = listening.client.end();
    if (stop.aborted) return ended;
    const next = await reconnect(options, stop);
    if (next === undefined) return;
    listening = next;
    options.onReconnect?.();
  }
};

/** A peer that has silently gone answers no heartbeat. */
const untilLost = async (
  { client, lost }: Listening,
  { route }: Connecting,
  stop: AbortSignal,
): Promise<void> => {
  const gone = new AbortController();
  void lost.then(() => gone.abort());
  const over = AbortSignal.any([stop, gone.signal]);
  while (!over.aborted) {
    const asked = new AbortController();
    using _moved = route.onMoved(() => asked.abort());
    await pause(heartbeatMs, AbortSignal.any([over, asked.signal]));
    if (over.aborted) return;
    const beat: pg.QueryConfig & { query_timeout: number } = {
      text: `select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as moved`,
      query_timeout: heartbeatTimeoutMs,
    };
    // Notifications are sent by the server that takes writes.
    const isWell = await client.query<{ moved: boolean }>(beat).then(
      ({ rows }) => rows[0]?.moved === false,
      () => false,
    );
    if (!isWell) return;
  }
};

const reconnect = async (options: ListenOptions, stop: AbortSignal): Promise<Listening | undefined> => {
  const backoff = new Backoff(backoffMs);
  for (;;) {
    await pause(backoff.next(), stop);
    if (stop.aborted) return undefined;
    try {
      const listening = await connect(options);
      if (!stop.aborted) return listening;
      await listening.client.end();
    } catch {
      // Still away: tried again until it is back or nobody listens any more.
    }
  }
};
