// The index of the store by meaning, as the server process uses it: executors do the work, with the project's embedding model.
import { Problem } from '@svc/contract/problem';
import { within } from '../../backoff.ts';
import { parseItemVectors, parseRanking } from '../../engine/dispatch/executor-message.ts';
import type { ExecutorPool } from '../../engine/dispatch/executor-pool.ts';
import type { ItemIndexing, MeaningSearch, StoreIndexCommand } from '../../engine/dispatch/protocol.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { ItemVectors, RankedItem } from '../../storage/deployment/store/store-vectors.ts';

interface Limits {
  /** Requests at a time; each holds a value of up to 1 MB. */
  requestsMax: number;
  /** Longer than the time limits of an embedding and of a search: an executor whose event loop is blocked keeps no limits. */
  timeMs: number;
}

const defaultLimits: Limits = { requestsMax: 100, timeMs: 60_000 };

export class ItemIndex {
  readonly #pool: Pick<ExecutorPool, 'askStoreIndex'>;
  readonly #limits: Limits;
  #requests = 0;

  constructor(pool: Pick<ExecutorPool, 'askStoreIndex'>, limits = defaultLimits) {
    this.#pool = pool;
    this.#limits = limits;
  }

  /** The vectors of a value, given as JSON text; null when it has no texts to embed. */
  async embed(value: string, index: ItemIndexing): Promise<ItemVectors | null> {
    if (index === false) return null;
    const vectors = parseItemVectors(await this.#ask({ task: 'embed', value, index }));
    if (vectors === undefined) throw badAnswer();
    return vectors;
  }

  /** The most similar items that pass the filter, best first. */
  async rank(search: MeaningSearch, { jsonpath, isEverything }: RowFilter): Promise<RankedItem[]> {
    const access = { jsonpath, isEverything };
    const ranking = parseRanking(await this.#ask({ task: 'rank', search, access }));
    if (ranking === undefined) throw badAnswer();
    return ranking;
  }

  async #ask(command: StoreIndexCommand): Promise<unknown> {
    const { requestsMax, timeMs } = this.#limits;
    if (this.#requests >= requestsMax)
      throw new Problem('unavailable', 'Too many requests wait for the embedding model. Try again shortly', {
        retryAfterSeconds: 1,
      });
    this.#requests++;
    const answer = this.#pool.askStoreIndex(command);
    const isDone = (): void => void this.#requests--;
    // Also after the time limit: the executor still holds the value.
    answer.then(isDone, isDone);
    return within(answer, timeMs, () => {
      const message = `The index of the store did not answer within ${timeMs / 1_000} s`;
      throw new Problem('unavailable', message);
    });
  }
}

const badAnswer = () =>
  new Problem('unavailable', 'The executor sent an answer of the index that is not valid');
