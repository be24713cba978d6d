// A tracer: posts runs of traces, and their ends a moment later, often to a node of another release.
import { randomUUID } from 'node:crypto';
import type { BackgroundClient, ClientOptions } from './background-load.ts';

interface TraceRun {
  id: string;
  text: string;
}

const batchSize = 3;
/** Ids of a query. */
const queryMax = 100;

export class TraceClient implements BackgroundClient {
  readonly #options: ClientOptions & { key: string };
  /** Accepted starts without an accepted end. */
  #open: TraceRun[] = [];
  readonly #ended: TraceRun[] = [];

  constructor(options: ClientOptions & { key: string }) {
    this.#options = options;
  }

  async act(): Promise<void> {
    const started = Array.from({ length: batchSize }, () => ({
      id: randomUUID(),
      text: randomUUID(),
    }));
    const ended = this.#open;
    const now = Date.now();
    await this.#post('/runs/batch', {
      post: started.map(({ id, text }) => ({
        id,
        name: 'work',
        run_type: 'chain',
        session_name: 'rolling',
        start_time: new Date(now).toISOString(),
        inputs: { text },
      })),
      patch: ended.map(({ id, text }) => ({
        id,
        end_time: new Date(now).toISOString(),
        outputs: { text },
      })),
    });
    this.#open = started;
    this.#ended.push(...ended);
  }

  async check(): Promise<string[]> {
    const wrong: string[] = [];
    for (let at = 0; at < this.#ended.length; at += queryMax) {
      const sent = this.#ended.slice(at, at + queryMax);
      const { runs } = (await this.#post('/runs/query', {
        id: sent.map(({ id }) => id),
        limit: queryMax,
      })) as { runs: { id: string; status: string; inputs?: TraceRun; outputs?: TraceRun }[] };
      const found = new Map(runs.map((run) => [run.id, run]));
      for (const { id, text } of sent) {
        const run = found.get(id);
        if (run?.inputs?.text !== text || run.outputs?.text !== text || run.status !== 'success')
          wrong.push(`trace run ${id} was accepted, and is ${JSON.stringify(run)}`);
      }
    }
    return wrong;
  }

  summary(): string {
    return `${this.#ended.length} trace runs`;
  }

  async #post(path: string, body: object): Promise<unknown> {
    const { caller, key } = this.#options;
    const headers = { 'x-api-key': key };
    const request = { method: 'POST', path: `/api/v1${path}`, headers, body } as const;
    let answer = await caller.call(request);
    // Tracers repeat these requests too. The test counts the 500s.
    if (answer.status === 500) answer = await caller.call(request);
    if (answer.status >= 300)
      throw new Error(`${path} was answered with ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }
}
