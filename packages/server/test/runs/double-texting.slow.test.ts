// Concurrent runs on a thread: the outcome of runs in flight, compared with a model over random sequences.
import { createClient } from '@svc/sdk';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startTestServer } from '../server.ts';
import { scaled } from '../speed.ts';
import { fixture } from '../fixture.ts';

const server = fixture(() => startTestServer({ settings: { jobsPerWorker: '20', cancelGraceMs: 5_000 } }));
const client = fixture(() => createClient({ apiUrl: server.url }));

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

const openBarrier = (key: string) => client.store.put(['barriers'], key, { open: true });

/** Waits until an interrupted or rolled back run has ended, so that the next step knows which runs are in flight. */
const untilOver = (thread_id: string, run_id: string): Promise<unknown> =>
  client.runs.join(thread_id, run_id).catch((error: { status?: number }) => {
    if (error.status !== 404) throw error; // rolled back
  });

/** Applies one step to the server and to the model. */
const apply = async (thread_id: string, model: Model, one: Step): Promise<void> => {
  if (one === 'finish') {
    const running = model.runs.find(({ status }) => status === 'running');
    if (!running) return;
    await openBarrier(running.id);
    await client.runs.join(thread_id, running.id);
    model.finish();
  } else if ('make' in one) {
    const input = { do: 'barrier', ms: 0 };
    const making = client.runs.create(thread_id, 'barrier', { input, multitask_strategy: one.make });
    if (one.make === 'reject' && model.inFlight().length > 0) {
      await expect(making).rejects.toMatchObject({ status: 409 });
      return;
    }
    const stopping = one.make === 'enqueue' ? [] : model.inFlight().map(({ id }) => id);
    model.make((await making).run_id, one.make);
    await Promise.all(stopping.map((id) => untilOver(thread_id, id)));
  } else {
    const run = model.runs[one.which % Math.max(1, model.runs.length)];
    if (!run) return;
    const isInFlight = run.status === 'running' || run.status === 'pending';
    const path = `/threads/${thread_id}/runs/${run.id}/cancel?wait=1&action=${one.cancel}`;
    expect((await server.call('POST', path)).status).toBe(isInFlight ? 204 : 404);
    model.cancel(run.id, one.cancel);
  }
};

/** Lets the remaining runs finish in their order. */
const finishAll = async (thread_id: string, model: Model): Promise<void> => {
  while (model.inFlight().length > 0) await apply(thread_id, model, 'finish');
};

const compare = async (thread_id: string, model: Model): Promise<void> => {
  const expected = new Map(model.runs.map(({ id, status }) => [id, status]));
  const rows = await client.runs.list(thread_id, { limit: 100 });
  const found = new Map(rows.map(({ run_id, status }) => [run_id, status]));
  for (const [id, status] of expected) expect(found.get(id) ?? 'deleted').toBe(status);
  const { values, status } = await client.threads.get(thread_id);
  expect((values as { log?: string[] }).log ?? []).toEqual(model.log);
  expect(status).not.toBe('busy');
};

describe('concurrent runs on a thread', () => {
  it(
    `end as the model predicts, in ${sequences} random sequences`,
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
          const { thread_id } = await client.threads.create();
          const model = new Model();
          for (const one of steps) await apply(thread_id, model, one);
          await finishAll(thread_id, model);
          await compare(thread_id, model);
        }),
        { numRuns: sequences, endOnFailure: true },
      );
    },
    scaled(1_200_000),
  );

  it('all end with the interrupt strategy, and the last one created is the last to run', async () => {
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
  });
});
