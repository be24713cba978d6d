// Lends connections of a pool, one to each piece of work, and takes back only those that can be used again.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { onAbort } from '../../abort.ts';
import type { Connecting } from './connection-options.ts';
import { CopyOut, type OnRow } from './copy-out.ts';
import type { HostRoute } from './host-route.ts';
import { meaningOf, toProblem } from './sql-state.ts';

export interface Borrowed {
  client: pg.PoolClient;
  /** Whether it is given back; else it is closed. */
  isSound: boolean;
  /** The server behind it is the wrong one. */
  isMoved: boolean;
}

/** Since when no connection could be made. */
export interface Outage {
  /** Monotonic milliseconds. */
  sinceMs: number;
  error: unknown;
}

/** How long a database that restarts is waited for. */
export const reconnectMs = { max: 10_000, pause: 50 };

export class Lender implements AsyncDisposable {
  readonly #pool: pg.Pool;
  readonly #route: HostRoute;
  readonly #atWork = new Set<Promise<unknown>>();
  /** In which generation connections were made; those of an older one are closed. */
  readonly #generations = new WeakMap<pg.PoolClient, number>();
  #generation = 0;
  #outage: Outage | undefined;

  constructor({ config, Client, route }: Connecting) {
    this.#pool = new pg.Pool({ ...config, Client });
    this.#route = route;
    // An idle connection that breaks is replaced when the next one is needed; without this it would end the process.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => this.#generations.set(client, this.#generation));
  }

  get state() {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { pool_total: totalCount, pool_idle: idleCount, pool_waiting: waitingCount };
  }

  get outage(): Outage | undefined {
    return this.#outage;
  }

  /** `isPatient`: a database that is away is waited for. */
  async lend<T>(work: (borrowed: Borrowed) => Promise<T>, isPatient = true): Promise<T> {
    const promise = this.#withClient(work, isPatient);
    this.#atWork.add(promise);
    try {
      return await promise;
    } finally {
      this.#atWork.delete(promise);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#pool.ending) return;
    // A pool that ends forgets who waits for a connection: they would wait for ever.
    while (this.#atWork.size > 0) await Promise.allSettled(this.#atWork);
    await this.#pool.end();
  }

  async #withClient<T>(work: (borrowed: Borrowed) => Promise<T>, isPatient: boolean): Promise<T> {
    const client = await this.#connect(isPatient);
    const borrowed: Borrowed = { client, isSound: true, isMoved: false };
    // It may break between two statements, when no query is there to be told.
    const onError = (): void => void (borrowed.isSound = false);
    client.on('error', onError);
    try {
      return await work(borrowed);
    } finally {
      client.off('error', onError);
      if (borrowed.isMoved && this.#isNewest(client)) {
        this.#generation += 1;
        this.#route.moved();
      }
      client.release(!borrowed.isSound);
    }
  }

  #isNewest(client: pg.PoolClient): boolean {
    return this.#generations.get(client) === this.#generation;
  }

  /** Nothing was sent yet, so trying again is safe. All hosts are tried before it pauses or gives up. */
  async #connect(isPatient: boolean): Promise<pg.PoolClient> {
    const untilMs = performance.now() + (isPatient ? reconnectMs.max : 0);
    for (let tries = 1; ;) {
      try {
        const client = await this.#pool.connect();
        this.#outage = undefined;
        if (this.#isNewest(client)) return client;
        client.release(true);
      } catch (error) {
        this.#outage = { sinceMs: this.#outage?.sinceMs ?? performance.now(), error };
        const isRoundOver = tries++ % this.#route.length === 0;
        if (this.#pool.ending || (isRoundOver && performance.now() > untilMs)) throw toProblem(error);
        if (isRoundOver) await sleep(reconnectMs.pause);
      }
    }
  }
}

const note = (borrowed: Borrowed, error: unknown): void => {
  const { connection } = meaningOf(error);
  if (connection !== 'kept') borrowed.isSound = false;
  if (connection === 'all dropped') borrowed.isMoved = true;
};

export const runQuery = async <Row extends pg.QueryResultRow>(
  borrowed: Borrowed,
  query: pg.QueryConfig,
): Promise<pg.QueryResult<Row>> => {
  try {
    return await borrowed.client.query<Row>(query);
  } catch (error) {
    note(borrowed, error);
    throw toProblem(error);
  }
};

export const copyRows = async (
  borrowed: Borrowed,
  text: string,
  onRow: OnRow,
  signal?: AbortSignal,
): Promise<void> => {
  signal?.throwIfAborted();
  const query = new CopyOut(text, onRow);
  const stopWaiting = signal && onAbort(signal, () => streamOf(borrowed.client).destroy());
  try {
    borrowed.client.query(query);
    await query.done;
  } catch (error) {
    note(borrowed, error);
    signal?.throwIfAborted();
    throw toProblem(error);
  } finally {
    stopWaiting?.();
  }
};

/** The driver's types keep it to themselves. */
const streamOf = (client: pg.PoolClient): { destroy(): void } =>
  (client as unknown as { connection: pg.Connection }).connection.stream;
