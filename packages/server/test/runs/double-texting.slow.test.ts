// Concurrent runs on a thread: the outcome of runs in flight, compared with a model over random sequences.
import { type Client, createClient } from '@svc/sdk';
import fc from 'fast-check';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startTestServer, type TestServer, testProject } from '../server.ts';
import { scaled } from '../speed.ts';
import { fixture } from '../fixture.ts';
import { whyNoPythonClients } from '../python-clients/python.ts';

type Strategy = 'reject' | 'enqueue' | 'interrupt' | 'rollback';
type Step = { make: Strategy } | { cancel: 'interrupt' | 'rollback'; which: number } | 'finish';

/** The expected state of a thread. Runs wait until the test ends them, so nothing depends on time. */
class Model {
  readonly runs: { id: string; status: 'running' | 'pending' | 'interrupted' | 'success' | 'deleted' }[] = [];
  readonly log: string[] = [];

  inFlight() {
    return this.runs.filter(({ status }) => status === 'running' || status === 'pending');
  }

  settle(): void {
    if (this.runs.some(({ status }) => status === 'running')) return;
    const next = this.runs.find(({ status }) => status === 'pending');
    if (next) next.status = 'running';
  }

  make(id: string, strategy: Strategy): void {
    if (strategy === 'interrupt' || strategy === 'rollback') {
      for (const run of this.inFlight()) run.status = strategy === 'rollback' ? 'deleted' : 'interrupted';
    }
    this.runs.push({ id, status: 'pending' });
    this.settle();
  }

  cancel(id: string, action: 'interrupt' | 'rollback'): void {
    const run = this.inFlight().find((one) => one.id === id);
    if (run) run.status = action === 'rollback' ? 'deleted' : 'interrupted';
    this.settle();
  }

  finish(): string | undefined {
    const run = this.runs.find(({ status }) => status === 'running');
    if (!run) return undefined;
    run.status = 'success';
    this.log.push(run.id);
    this.settle();
    return run.id;
  }
}

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ make: fc.constantFrom<Strategy>('reject', 'enqueue', 'interrupt', 'rollback') }),
  fc.record({
    cancel: fc.constantFrom<'interrupt' | 'rollback'>('interrupt', 'rollback'),
    which: fc.nat({ max: 20 }),
  }),
  fc.constant<Step>('finish'),
);

const sequences = Number(process.env['SVC_MODEL_RUNS'] ?? 60);

/** Waits until an interrupted or rolled back run has ended, so that the next step knows which runs are in flight. */
const untilOver = (client: Client, thread_id: string, run_id: string): Promise<unknown> =>
  client.runs.join(thread_id, run_id).catch((error: { status?: number }) => {
    if (error.status !== 404) throw error; // rolled back
  });

/** A thread of the server, and the model of it. */
class Play {
  readonly #server: TestServer;
  readonly #client: Client;
  readonly #thread_id: string;
  readonly #model = new Model();

  constructor(server: TestServer, client: Client, thread_id: string) {
    this.#server = server;
    this.#client = client;
    this.#thread_id = thread_id;
  }

  /** Applies one step to the server and to the model. */
  async apply(one: Step): Promise<void> {
    if (one === 'finish') return this.#finish();
    if ('make' in one) return this.#make(one.make);
    const run = this.#model.runs[one.which % Math.max(1, this.#model.runs.length)];
    if (!run) return;
    const isInFlight = run.status === 'running' || run.status === 'pending';
    const path = `/threads/${this.#thread_id}/runs/${run.id}/cancel?wait=1&action=${one.cancel}`;
    expect((await this.#server.call('POST', path)).status).toBe(isInFlight ? 204 : 404);
    this.#model.cancel(run.id, one.cancel);
  }

  async #finish(): Promise<void> {
    const running = this.#model.runs.find(({ status }) => status === 'running');
    if (!running) return;
    await this.#client.store.put(['barriers'], running.id, { open: true });
    await this.#client.runs.join(this.#thread_id, running.id);
    this.#model.finish();
  }

  async #make(strategy: Strategy): Promise<void> {
    const input = { do: 'barrier', ms: 0 };
    const making = this.#client.runs.create(this.#thread_id, 'barrier', {
      input,
      multitask_strategy: strategy,
    });
    if (strategy === 'reject' && this.#model.inFlight().length > 0) {
      await expect(making).rejects.toMatchObject({ status: 409 });
      return;
    }
    const stopping = strategy === 'enqueue' ? [] : this.#model.inFlight().map(({ id }) => id);
    this.#model.make((await making).run_id, strategy);
    await Promise.all(stopping.map((id) => untilOver(this.#client, this.#thread_id, id)));
  }

  /** Lets the remaining runs finish in their order. */
  async finishAll(): Promise<void> {
    while (this.#model.inFlight().length > 0) await this.#finish();
  }

  async compare(): Promise<void> {
    const expected = new Map(this.#model.runs.map(({ id, status }) => [id, status]));
    const rows = await this.#client.runs.list(this.#thread_id, { limit: 100 });
    const found = new Map(rows.map(({ run_id, status }) => [run_id, status]));
    for (const [id, status] of expected) expect(found.get(id) ?? 'deleted').toBe(status);
    const { values, status } = await this.#client.threads.get(this.#thread_id);
    expect((values as { log?: string[] }).log ?? []).toEqual(this.#model.log);
    expect(status).not.toBe('busy');
  }
}

const pythonProject = fileURLToPath(new URL('../python/graphs/svc.json', import.meta.url));

describe.for([
  { language: 'JavaScript', project: testProject, isSkipped: false },
  { language: 'Python', project: pythonProject, isSkipped: whyNoPythonClients() !== undefined },
])('concurrent runs of a $language graph on a thread', ({ project, isSkipped }) => {
  const server = fixture(() =>
    startTestServer({ project, settings: { jobsPerWorker: '20', cancelGraceMs: scaled(5_000) } }),
  );
  const client = fixture(() => createClient({ apiUrl: server.url }));

  it.skipIf(isSkipped)(
    `end as the model predicts, in ${sequences} random sequences`,
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
          const { thread_id } = await client.threads.create();
          const play = new Play(server, client, thread_id);
          for (const one of steps) await play.apply(one);
          await play.finishAll();
          await play.compare();
        }),
        { numRuns: sequences, endOnFailure: true },
      );
    },
    scaled(1_200_000),
  );

  it.skipIf(isSkipped)(
    'all end with the interrupt strategy, and the last one created is the last to run',
    async () => {
      const { thread_id } = await client.threads.create();
      await Promise.all(
        Array.from({ length: 20 }, () =>
          client.runs.create(thread_id, 'probe', {
            input: { do: 'sleep', ms: 30 },
            multitask_strategy: 'interrupt',
          }),
        ),
      );
      const [newest] = await client.runs.list(thread_id, { limit: 1 });
      await client.runs.join(thread_id, newest?.run_id ?? '');
      const rows = await client.runs.list(thread_id, { limit: 100 });
      expect(rows.filter(({ status }) => status === 'pending' || status === 'running')).toEqual([]);
      expect((await client.threads.get(thread_id)).status).toBe('idle');
      // All graphs have stopped by themselves, also those that were cancelled when they began.
      const { body } = await server.call('GET', '/metrics');
      expect(String(body)).toMatch(/^svc_executor_kills_total 0$/m);
    },
  );
});
