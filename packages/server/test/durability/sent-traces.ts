// Traces that are sent until the server is killed, and a check of what is stored afterwards.
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';

interface Sent {
  id: string;
  inputs: { text: string };
  acknowledged: boolean;
}

const batchSize = 10;
const senders = 4;
/** Between the batches of a sender, so that the server has time for other requests. */
const pauseMs = 100;
/** Ids per query. */
const checkedMax = 500;

export const postTraces = (url: string, key: string, path: string, body: unknown): Promise<Response> =>
  fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

export class SentTraces {
  readonly #all = new Map<string, Sent>();
  /** Traces of the last send(). */
  #last: Sent[] = [];

  get acknowledged(): number {
    return [...this.#all.values()].filter((one) => one.acknowledged).length;
  }

  /**
   * Sends batches until the server is killed. Batches without a 202 are sent again by the next call, as tracers do. Calls `onAccepted`
   * for each batch that was answered with 202.
   */
  async send(url: string, key: string, onAccepted: () => void): Promise<void> {
    const again = [...this.#all.values()].filter((one) => !one.acknowledged);
    this.#last = [];
    await Promise.all(
      Array.from({ length: senders }, async () => {
        for (;;) {
          const status = await this.#sendBatch(url, key, again.splice(0, batchSize));
          if (status === undefined) return;
          if (status === 202) onAccepted();
          await sleep(pauseMs);
        }
      }),
    );
  }

  /** Expects every acknowledged trace of the last send() once, and of the others each at most once. */
  checkLast(url: string, key: string): Promise<void> {
    return check(url, key, this.#last);
  }

  /** The same for all traces that were ever sent. */
  checkAll(url: string, key: string): Promise<void> {
    return check(url, key, [...this.#all.values()]);
  }

  /** Returns the status of the response; undefined without a response. */
  async #sendBatch(url: string, key: string, again: Sent[]): Promise<number | undefined> {
    const fresh = Array.from({ length: batchSize }, () => ({
      id: randomUUID(),
      inputs: { text: randomBytes(1_000).toString('hex') },
      acknowledged: false,
    }));
    const batch = [...again, ...fresh];
    this.#last.push(...batch);
    for (const one of batch) this.#all.set(one.id, one);
    const body = batch.map(({ id, inputs }) => ({
      id,
      inputs,
      name: 'x',
      start_time: '2026-11-20T00:00:00Z',
    }));
    const answer = await postTraces(url, key, '/runs/batch', { post: body }).catch(() => undefined);
    if (answer?.status === 202) for (const one of batch) one.acknowledged = true;
    return answer?.status;
  }
}

const check = async (url: string, key: string, sent: Sent[]): Promise<void> => {
  for (let at = 0; at < sent.length; at += checkedMax) {
    const part = sent.slice(at, at + checkedMax);
    const response = await postTraces(url, key, '/runs/query', { id: part.map(({ id }) => id) });
    const { runs } = (await response.json()) as { runs: Sent[] };
    const found = new Map(runs.map((run) => [run.id, run]));
    expect(runs).toHaveLength(found.size);
    for (const { id, inputs, acknowledged } of part)
      if (acknowledged || found.has(id)) expect(found.get(id)?.inputs).toEqual(inputs);
  }
};
