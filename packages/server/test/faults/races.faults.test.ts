// Contradictory concurrent requests for one thread, at two nodes.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Cluster } from './cluster.ts';
import { sendOnce, readStream, type Answer, type RequestSpec } from './caller.ts';
import { getRun, join, journalRequest, pathOf, startJournal, startRun } from './journal-run.ts';
import { startPostgres } from './postgres.ts';
import { rounds, runScenario, type ScenarioOptions, type Stage } from './scenario.ts';
import { fixture } from '../fixture.ts';

const postgres = fixture(() => startPostgres());
const cluster = fixture(() => Cluster.open(postgres, { a: {}, b: {} }));

interface Race extends Stage {
  /** Sends one request once, to each node in turn. */
  fire: (request: RequestSpec) => Promise<Answer>;
}

const race = async (
  act: (race: Race) => Promise<void>,
  except: ScenarioOptions['except'] = [],
): Promise<void> => {
  await runScenario({
    cluster,
    except,
    async faults(stage) {
      let turn = 0;
      const urls = stage.cluster.urls();
      await act({ ...stage, fire: (request) => sendOnce(urls[turn++ % urls.length] ?? '', request) });
    },
  });
};

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** More rounds take longer. At once, they would test how many requests the client of this test can send. */
const inRounds = async (atOnce: number, make: (index: number) => Promise<unknown>): Promise<void> => {
  for (let round = 0; round < rounds; round++) await Promise.all(times(atOnce, make));
};

const count = (answers: Answer[], status: number): number =>
  answers.filter((answer) => answer.status === status).length;

const createThread = async ({ fire }: Race): Promise<string> => {
  const { body } = await fire({ method: 'POST', path: '/threads', body: {} });
  return (body as { thread_id: string }).thread_id;
};

interface State {
  values: { log?: string[] };
  checkpoint: { checkpoint_id: string };
}

const stateOf = async ({ fire }: Race, thread_id: string): Promise<State> =>
  (await fire({ method: 'GET', path: `/threads/${thread_id}/state` })).body as State;

describe('fifty clients that', () => {
  it('compete for a free thread: one gets it', async () => {
    await race(async (stage) => {
      for (let round = 0; round < 3 * rounds; round++) {
        const thread_id = await createThread(stage);
        const answers = await Promise.all(
          times(50, () =>
            stage.fire(
              journalRequest({ steps: 200, ms: 100, thread_id, more: { multitask_strategy: 'reject' } }),
            ),
          ),
        );
        expect(count(answers, 200)).toBe(1);
        expect(count(answers, 409)).toBe(49);
        const made = answers.find(({ status }) => status === 200)?.body as { run_id: string };
        const path = `${pathOf({ thread_id, ...made })}/cancel?wait=1`;
        expect((await stage.fire({ method: 'POST', path })).status).toBe(204);
      }
    });
  });

  it('update the state of one thread: accepted updates form one chain, and fork only where requested', async () => {
    await race(
      async (stage) => {
        const run = await startJournal(stage, { steps: 2, ms: 0 });
        await join(stage, run);
        const path = `/threads/${run.thread_id}/state`;
        const { checkpoint } = await stateOf(stage, run.thread_id);
        const update = (entry: string, more: object = {}): RequestSpec => ({
          method: 'POST',
          path,
          body: { values: { log: [entry] }, as_node: 'step', ...more },
        });
        const plain = times(25, (index) => stage.fire(update(`plain:${index}`)));
        const forks = times(25, (index) => stage.fire(update(`fork:${index}`, { checkpoint })));
        const answers = await Promise.all(plain);
        expect((await Promise.all(forks)).every(({ status }) => status === 200 || status === 409)).toBe(true);
        expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
        const accepted = answers.flatMap(({ status }, index) => (status === 200 ? [`plain:${index}`] : []));
        expect(accepted.length).toBeGreaterThan(0);
        // Each accepted update has a checkpoint of its own, which extends the previous state.
        const history = (
          await stage.fire({ method: 'GET', path: `/threads/${run.thread_id}/history?limit=1000` })
        ).body as State[];
        for (const entry of accepted)
          expect(history.filter(({ values }) => values.log?.at(-1) === entry)).toHaveLength(1);
      },
      ['markersAppearOnceInOrder', 'headsAreNewest'],
    );
  });

  it('update the state of one thread: without a fork every accepted update is in the end state once', async () => {
    await race(
      async (stage) => {
        const run = await startJournal(stage, { steps: 1, ms: 0 });
        await join(stage, run);
        const answers = await Promise.all(
          times(50, (index) =>
            stage.fire({
              method: 'POST',
              path: `/threads/${run.thread_id}/state`,
              body: { values: { log: [`update:${index}`] }, as_node: 'step' },
            }),
          ),
        );
        expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
        const accepted = answers.flatMap(({ status }, index) => (status === 200 ? [`update:${index}`] : []));
        const { values } = await stateOf(stage, run.thread_id);
        expect(values.log?.slice(1).sort()).toEqual(accepted.sort());
      },
      ['markersAppearOnceInOrder'],
    );
  });

  it('create a thread or an assistant with one id: one creates it, and no request fails', async () => {
    await race(async ({ fire }) => {
      const make = (path: string, body: object): Promise<Answer[]> =>
        Promise.all(times(30, () => fire({ method: 'POST', path, body })));
      for (const [path, id, more] of [
        ['/threads', 'thread_id', {}],
        ['/assistants', 'assistant_id', { graph_id: 'journal' }],
      ] as const) {
        const raised = await make(path, { [id]: randomUUID(), if_exists: 'raise', ...more });
        expect([count(raised, 200), count(raised, 409)]).toEqual([1, 29]);
        const same = await make(path, { [id]: randomUUID(), if_exists: 'do_nothing', ...more });
        expect(count(same, 200)).toBe(30);
        expect(new Set(same.map(({ body }) => (body as Record<string, unknown>)['created_at'])).size).toBe(1);
      }
    });
  });
});

describe('an update of the state', () => {
  it('of a thread with a running run is rejected, and changes nothing', async () => {
    await race(async (stage) => {
      const run = await startJournal(stage, { steps: 40, ms: 100 });
      const body = { values: { log: ['stranger:0'] }, as_node: 'step' };
      const answer = await stage.fire({ method: 'POST', path: `/threads/${run.thread_id}/state`, body });
      expect(answer.status).toBe(409);
      expect((await join(stage, run)).body).toMatchObject({ taken: 40 });
    });
  });
});

describe('a cancellation', () => {
  it('at the end of its run either interrupts the run or comes too late', async () => {
    await race(async (stage) => {
      const { fire, random, history } = stage;
      await inRounds(30, async () => {
        const run = await startJournal(stage, { steps: 2, ms: 30 });
        await stage.sleep(random.between(0, 150));
        const answer = await fire({ method: 'POST', path: `${pathOf(run)}/cancel?wait=1` });
        const { status } = await getRun(stage, run);
        if (answer.status === 404) expect(status).toBe('success');
        else {
          expect(answer.status).toBeLessThan(300);
          expect(['interrupted', 'success']).toContain(status);
          const [written] = await stage.cluster.query<{ checkpoints: number }>(
            'select count(*)::integer as checkpoints from checkpoints where run_id = $1',
            [run.run_id],
          );
          const checkpoints = written?.checkpoints ?? 0;
          history.add({ op: 'cancelled', thread_id: run.thread_id, run_id: run.run_id, checkpoints });
        }
      });
    });
  });

  it('that is sent twice at once has one effect', async () => {
    await race(async (stage) => {
      const run = await startJournal(stage, { steps: 50, ms: 100 });
      const path = `${pathOf(run)}/cancel?wait=1`;
      const answers = await Promise.all(times(2, () => stage.fire({ method: 'POST', path })));
      expect(answers.filter(({ status }) => status < 300).length).toBeGreaterThanOrEqual(1);
      expect(answers.every(({ status }) => status < 300 || status === 404)).toBe(true);
      expect((await getRun(stage, run)).status).toBe('interrupted');
      expect((await stage.fire({ method: 'POST', path })).status).toBe(404);
    });
  });

  it('of many runs does not affect a run of another thread', async () => {
    await race(async (stage) => {
      const own = await startJournal(stage, { steps: 40, ms: 100 });
      const foreign = await startJournal(stage, { steps: 40, ms: 100 });
      const body = { thread_id: own.thread_id, run_ids: [own.run_id, foreign.run_id] };
      expect((await stage.fire({ method: 'POST', path: '/runs/cancel', body })).status).toBe(200);
      expect((await join(stage, foreign)).body).toMatchObject({ taken: 40 });
      await join(stage, own);
      expect((await getRun(stage, own)).status).toBe('interrupted');
    });
  });

  it('of a pending run leaves the thread to the running run', async () => {
    await race(async (stage) => {
      const first = await startJournal(stage, { steps: 40, ms: 100 });
      const second = await startJournal(stage, { steps: 1, ms: 0, thread_id: first.thread_id });
      expect(
        (await stage.fire({ method: 'POST', path: `${pathOf(second)}/cancel?wait=1` })).status,
      ).toBeLessThan(300);
      const thread = await stage.fire({ method: 'GET', path: `/threads/${first.thread_id}` });
      expect(thread.body).toMatchObject({ status: 'busy' });
      expect((await join(stage, first)).body).toMatchObject({ taken: 40 });
      expect((await getRun(stage, second)).status).toBe('interrupted');
    });
  });
});

describe('a thread that is deleted', () => {
  it('with running, pending and streamed runs: the runs stop, the streams end, and no rows are left', async () => {
    await race(async (stage) => {
      await inRounds(6, async (index) => {
        const { thread_id, run_id } = await startJournal(stage, {
          steps: 50,
          ms: 40,
          more: { stream_resumable: true },
        });
        const waiting = await startJournal(stage, { steps: 1, ms: 0, thread_id });
        const url = stage.cluster.node(index % 2 === 0 ? 'a' : 'b').url;
        const reader = readStream(
          url,
          { method: 'GET', path: `${pathOf({ thread_id, run_id })}/stream` },
          { signal: AbortSignal.timeout(15_000) },
        );
        await stage.sleep(stage.random.between(0, 400));
        expect((await stage.fire({ method: 'DELETE', path: `/threads/${thread_id}` })).status).toBe(204);
        stage.history.add({ op: 'deleted', thread_id, run_ids: [run_id, waiting.run_id] });
        const { status, end } = await reader;
        // The cancel may have come too late.
        expect([200, 404]).toContain(status);
        if (status === 200) expect(end).toBe('clean');
        expect((await stage.fire({ method: 'GET', path: `/threads/${thread_id}` })).status).toBe(404);
      });
    });
  });

  it('while it is copied leaves a complete copy, or none', async () => {
    await race(async (stage) => {
      for (let round = 0; round < 5 * rounds; round++) {
        const run = await startJournal(stage, { steps: 4, ms: 0 });
        await join(stage, run);
        const [copy, deletion] = await Promise.all([
          stage.fire({ method: 'POST', path: `/threads/${run.thread_id}/copy` }),
          stage.fire({ method: 'DELETE', path: `/threads/${run.thread_id}` }),
        ]);
        expect(deletion.status).toBe(204);
        stage.history.add({ op: 'deleted', thread_id: run.thread_id, run_ids: [] });
        if (copy.status === 404) continue;
        const { values } = await stateOf(stage, (copy.body as { thread_id: string }).thread_id);
        expect(values.log).toHaveLength(4);
      }
    });
  });

  it('after it was copied during a run: the copy is at one checkpoint, and stays complete', async () => {
    await race(async (stage) => {
      const run = await startJournal(stage, { steps: 30, ms: 30, more: { durability: 'sync' } });
      const copies: string[] = [];
      for (let round = 0; round < 5; round++) {
        const { body } = await stage.fire({ method: 'POST', path: `/threads/${run.thread_id}/copy` });
        copies.push((body as { thread_id: string }).thread_id);
        await stage.sleep(100);
      }
      await stage.fire({ method: 'DELETE', path: `/threads/${run.thread_id}` });
      stage.history.add({ op: 'deleted', thread_id: run.thread_id, run_ids: [] });
      for (const thread_id of copies) {
        const { values } = await stateOf(stage, thread_id);
        expect(values.log ?? []).toEqual(times(values.log?.length ?? 0, (index) => `${run.marker}:${index}`));
      }
    });
  });
});

describe('an assistant that is deleted', () => {
  it('while its runs execute ends them, and leaves the threads of other assistants unchanged', async () => {
    await race(async (stage) => {
      const { body } = await stage.fire({
        method: 'POST',
        path: '/assistants',
        body: { graph_id: 'journal' },
      });
      const { assistant_id } = body as { assistant_id: string };
      const other = await startJournal(stage, { steps: 10, ms: 50 });
      const runs = await Promise.all(
        times(4, () => startJournal(stage, { steps: 10, ms: 50, more: { assistant_id } })),
      );
      const answer = await stage.fire({ method: 'DELETE', path: `/assistants/${assistant_id}` });
      expect([204, 409]).toContain(answer.status);
      for (const run of runs) {
        await join(stage, run);
        expect(['success', 'error', 'interrupted']).toContain((await getRun(stage, run)).status);
      }
      expect((await join(stage, other)).body).toMatchObject({ taken: 10 });
    });
  });
});

describe('an interrupt', () => {
  it('that is resumed twice at once takes one answer', async () => {
    await race(async (stage) => {
      for (let round = 0; round < 5 * rounds; round++) {
        const interruptedRun = await startRun(stage, 'interrupter', {});
        await join(stage, interruptedRun);
        const { thread_id } = interruptedRun;
        const answers = await Promise.all(
          times(2, (index) =>
            stage.fire({
              method: 'POST',
              path: `/threads/${thread_id}/runs/wait`,
              body: { assistant_id: 'interrupter', command: { resume: `answer ${index}` } },
            }),
          ),
        );
        expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
        expect((await stateOf(stage, thread_id)).values.log).toHaveLength(1);
      }
    });
  });
});

describe('joining', () => {
  it('a run that has ended, is unknown, is pending or deleted responds at once', async () => {
    await race(
      async (stage) => {
        const over = await startJournal(stage, { steps: 1, ms: 0 });
        await join(stage, over);
        const deleted = await startJournal(stage, { steps: 1, ms: 0, thread_id: over.thread_id });
        await join(stage, deleted);
        await stage.fire({ method: 'DELETE', path: pathOf(deleted) });
        const unknown = { thread_id: over.thread_id, run_id: randomUUID() };
        const urls = stage.cluster.urls();
        for (const url of urls) {
          for (const [run, status] of [
            [over, 200],
            [deleted, 404],
            [unknown, 404],
          ] as const) {
            expect(
              (await sendOnce(url, { method: 'GET', path: `${pathOf(run)}/join`, tryMs: 3_000 })).status,
            ).toBe(status);
            const stream = await readStream(
              url,
              { method: 'GET', path: `${pathOf(run)}/stream` },
              { signal: AbortSignal.timeout(3_000) },
            );
            expect(stream.status).toBe(status);
            if (status === 200) expect(stream.end).toBe('clean');
          }
        }
        const running = await startJournal(stage, { steps: 10, ms: 50, thread_id: over.thread_id });
        const waiting = await startJournal(stage, { steps: 2, ms: 0, thread_id: over.thread_id });
        const joined = await Promise.all(
          urls.map((url) => sendOnce(url, { method: 'GET', path: `${pathOf(waiting)}/join` })),
        );
        for (const { body } of joined) expect(body).toMatchObject({ taken: 2 });
        await join(stage, running);
      },
      ['nothingAcknowledgedIsLost', 'markersAppearOnceInOrder'],
    );
  });
});

describe('leases that end at once', () => {
  it(
    'are renewed, swept and ended concurrently, and each run has one owner',
    async () => {
      const env = { SVC_LEASE: '300ms' };
      await runScenario({
        postgres,
        nodes: { a: { env }, b: { env }, c: { env } },
        load: { clients: 10, steps: 5, ms: 100 },
        faults: ({ sleep }) => sleep(5_000 * rounds).then(() => undefined),
      });
    },
    180_000 * rounds,
  );
});
