// Random sequences of runs, answers, cancels, rollbacks, deletions and state updates on a thread whose nodes ask several questions each, in
// parallel and inside a subgraph. After each action the thread equals a thread of the bare engine that took only the remaining steps.
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { createClient, type Client } from '@svc/sdk';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ThreadSavers } from '../checkpoints/thread-savers.ts';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { BareThreads, describeState, type Outcome, type Step, withSaver } from './bare-thread.ts';
import type { Plan } from './survey.ts';
import { threadRows } from './thread-rows.ts';
import { scaled } from '../speed.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  const project = fileURLToPath(new URL('./svc.json', import.meta.url));
  server = await startTestServer({ project, settings: { cancelGraceMs: 20_000 } });
  client = createClient({ apiUrl: server.url });
});
afterAll(() => server[Symbol.asyncDispose]());

const sequences = Number(process.env['SVC_MODEL_RUNS'] ?? 12);

/** What happens to a run that waits at the barrier. `supersede`: the next run replaces it. */
type RunEnd =
  | 'pass'
  | 'crash'
  | 'interrupt'
  | 'rollback'
  | 'supersede by interrupt'
  | 'supersede by rollback';

type Action =
  | { run: 'input'; plan: Plan; runEnd: RunEnd }
  | { run: 'resume'; runEnd: RunEnd }
  /** The bits of `which` choose the questions. */
  | { run: 'answer'; which: number; runEnd: RunEnd }
  | { run: 'continue'; runEnd: RunEnd }
  | { update: 'open' | 'left' | 'close' }
  | { delete: number };

type RunAction = Extract<Action, { run: string }>;
type RunStep = Exclude<Step, { do: 'update' }>;

/** A step that remains, or a deleted one that later steps depend on. */
interface Entry {
  step: Step;
  /** Absent for a state update. */
  run_id?: string;
  isDeleted: boolean;
  /** The run has stored nothing, and the steps before it were deleted. */
  isVoid?: boolean;
}

const count = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.nat({ max: 2 }) },
);
const plan: fc.Arbitrary<Plan> = fc.record(
  {
    open: count,
    left: count,
    right: count,
    ask: count,
    again: count,
    close: count,
    hold: fc.constantFrom('open' as const, 'close' as const),
  },
  { requiredKeys: ['open', 'left', 'right', 'ask', 'again', 'close'] },
);
const runEnd: fc.Arbitrary<RunEnd> = fc.oneof(
  { weight: 12, arbitrary: fc.constant<RunEnd>('pass') },
  { weight: 1, arbitrary: fc.constant<RunEnd>('crash') },
  {
    weight: 12,
    arbitrary: fc.constantFrom<RunEnd>(
      'interrupt',
      'rollback',
      'rollback',
      'supersede by interrupt',
      'supersede by rollback',
    ),
  },
);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ run: fc.constant('input' as const), plan, runEnd }) },
  { weight: 6, arbitrary: fc.record({ run: fc.constant('resume' as const), runEnd }) },
  {
    weight: 6,
    arbitrary: fc.record({ run: fc.constant('answer' as const), which: fc.nat({ max: 7 }), runEnd }),
  },
  { weight: 2, arbitrary: fc.record({ run: fc.constant('continue' as const), runEnd }) },
  {
    weight: 1,
    arbitrary: fc.record({ update: fc.constantFrom('open' as const, 'left' as const, 'close' as const) }),
  },
  { weight: 6, arbitrary: fc.record({ delete: fc.nat({ max: 100 }) }) },
);

class Play {
  readonly #thread_id: string;
  readonly #bare = new BareThreads();
  #entries: Entry[] = [];
  /** A run at the barrier, which the next run supersedes. */
  #held: { entry: Entry; strategy: 'interrupt' | 'rollback' } | undefined;
  #answers = 0;

  constructor(thread_id: string) {
    this.#thread_id = thread_id;
  }

  async act(action: Action): Promise<void> {
    if ('run' in action) return this.#run(action);
    await this.release();
    if ('update' in action) await this.#update(action.update);
    else await this.#delete(action.delete);
  }

  /** Rolls back the run that still waits at the barrier. */
  async release(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    if (!held) return;
    await this.#cancel(held.entry, 'rollback');
  }

  /** Deletes all runs, newest first; a thread without external updates is then empty. */
  async unwind(): Promise<void> {
    await this.release();
    for (let left = this.#remaining().length; left > 0; left--) {
      await this.#delete(left - 1);
      await this.compare();
    }
    const rows = await server.database.query(
      { name: 'left', text: 'select 1 from replaced_writes where thread_id = $1' },
      [this.#thread_id],
    );
    expect(rows).toEqual([]);
    if (this.#entries.length > 0) return;
    const { heads, checkpoints, writes } = await threadRows(server.database, this.#thread_id);
    expect({ heads, checkpoints, writes }).toEqual({ heads: [], checkpoints: [], writes: [] });
  }

  async compare(): Promise<void> {
    if (this.#held) return;
    const thread_id = this.#thread_id;
    const { status, interrupts } = await client.threads.get(thread_id);
    const saver = new ThreadSavers(server.database);
    const state = await withSaver(saver).getState({ configurable: { thread_id } }, { subgraphs: true });
    const found: Outcome = {
      state: describeState(state),
      next: state.tasks.map(({ name }) => name),
      status: status as Outcome['status'],
      questions: Object.values(interrupts ?? {})
        .flat()
        .map(({ value }) => String(value))
        .toSorted(),
    };
    expect(found).toEqual(await this.#expected());
  }

  #expected(): Promise<Outcome> {
    return this.#bare.after(this.#entries.filter(({ isVoid }) => !isVoid).map(({ step }) => step));
  }

  async #run(action: RunAction): Promise<void> {
    const held = this.#held;
    const before = [...this.#entries];
    // The thread as it will be once the held run has been interrupted or rolled back.
    if (held) this.#settleHeld(held);
    const step = await this.#stepOf(action);
    if (!step) {
      this.#entries = before;
      return;
    }
    this.#held = undefined;
    const { run_id } = await client.runs.create(this.#thread_id, 'survey', {
      ...(await this.#bodyOf(step)),
      multitask_strategy: held?.strategy ?? 'enqueue',
    });
    const entry: Entry = { step, run_id, isDeleted: false };
    this.#entries.push(entry);
    if (await this.#isAtBarrier(run_id)) await this.#finish(entry, action.runEnd);
  }

  #settleHeld({ entry, strategy }: { entry: Entry; strategy: 'interrupt' | 'rollback' }): void {
    if (strategy === 'rollback') this.#entries = this.#entries.filter((one) => one !== entry);
    else
      this.#entries = this.#entries.with(-1, {
        ...entry,
        step: { ...(entry.step as RunStep), isCancelled: true },
      });
  }

  async #finish(entry: Entry, runEnd: RunEnd): Promise<void> {
    const run_id = entry.run_id ?? '';
    switch (runEnd) {
      case 'pass':
      case 'crash':
        await client.store.put(['barriers'], run_id, runEnd === 'crash' ? { exit: 1 } : {});
        await client.runs.join(this.#thread_id, run_id);
        return;
      case 'interrupt':
      case 'rollback':
        return this.#cancel(entry, runEnd);
      case 'supersede by interrupt':
      case 'supersede by rollback':
        this.#held = { entry, strategy: runEnd === 'supersede by rollback' ? 'rollback' : 'interrupt' };
    }
  }

  async #cancel(entry: Entry, action: 'interrupt' | 'rollback'): Promise<void> {
    await client.runs.cancel(this.#thread_id, entry.run_id ?? '', { action, wait: true });
    this.#settleHeld({ entry, strategy: action });
  }

  async #update(as_node: string): Promise<void> {
    if (this.#entries.length === 0) return;
    const line = `updated ${++this.#answers}`;
    await client.threads.updateState(this.#thread_id, { values: { log: [line] }, asNode: as_node });
    this.#entries.push({ step: { do: 'update', as_node, line }, isDeleted: false });
  }

  #remaining(): Entry[] {
    return this.#entries.filter(({ run_id, isDeleted }) => run_id !== undefined && !isDeleted);
  }

  async #delete(which: number): Promise<void> {
    const runs = this.#remaining();
    const entry = runs[which % Math.max(1, runs.length)];
    if (!entry) return;
    await client.runs.delete(this.#thread_id, entry.run_id ?? '');
    entry.isDeleted = true;
    const later: Entry[] = [];
    for (let last = this.#entries.at(-1); last; last = this.#entries.at(-1)) {
      if (!last.isDeleted && !last.isVoid && !(await this.#hasStoredNothing(last))) break;
      this.#entries.pop();
      if (!last.isDeleted) later.unshift(last);
    }
    // Without effect, they need not be repeated by the bare thread, which may lack what they continued.
    this.#entries.push(...later.map((one) => ({ ...one, isVoid: true })));
  }

  /** For the last entry: a run that continued the thread and was cancelled before a node had finished. Nothing depends on it, nor it on others. */
  async #hasStoredNothing({ step }: Entry): Promise<boolean> {
    if (step.do !== 'continue' || !step.isCancelled) return false;
    const steps = this.#entries.filter(({ isVoid }) => !isVoid).map((one) => one.step);
    return isDeepStrictEqual(await this.#bare.after(steps), await this.#bare.after(steps.slice(0, -1)));
  }

  /** Undefined when the action does not fit the thread: it has no open question, or nothing left to run. */
  async #stepOf(action: RunAction): Promise<RunStep | undefined> {
    if (action.run === 'input') return { do: 'input', plan: action.plan, isCancelled: false };
    const { next, questions } = await this.#expected();
    if (next.length === 0) return undefined;
    if (action.run === 'continue') return { do: 'continue', isCancelled: false };
    const answer = `a${++this.#answers}`;
    const chosen = questions.filter((_, at) => action.run === 'answer' && (action.which >> at) & 1);
    if (chosen.length === 0 || this.#held) return { do: 'resume', answer, isCancelled: false };
    return {
      do: 'answer',
      answers: Object.fromEntries(chosen.map((question, at) => [question, `${answer}.${at}`])),
      isCancelled: false,
    };
  }

  async #bodyOf(step: RunStep): Promise<object> {
    switch (step.do) {
      case 'input':
        return { input: { plan: step.plan } };
      case 'continue':
        return {};
      case 'resume':
        return { command: { resume: step.answer } };
      case 'answer': {
        const { interrupts } = await client.threads.get(this.#thread_id);
        const byId = Object.values(interrupts ?? {})
          .flat()
          .filter(({ value }) => String(value) in step.answers)
          .map(({ id, value }) => [id, step.answers[String(value)]]);
        return { command: { resume: Object.fromEntries(byId) as object } };
      }
    }
  }

  /** Waits until the run has ended or waits at the barrier. */
  #isAtBarrier(run_id: string): Promise<boolean> {
    return eventually(async () => {
      const { status } = await client.runs.get(this.#thread_id, run_id);
      if (status === 'success') return false;
      expect(status).toBe('running');
      expect(await client.store.get(['waiting'], run_id)).toBeTruthy();
      return true;
    }, 60_000);
  }
}

describe('a thread', () => {
  it(
    `equals a bare thread that took only the remaining steps, in ${sequences} random sequences`,
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 14 }), async (actions) => {
          const { thread_id } = await client.threads.create();
          const play = new Play(thread_id);
          for (const one of actions) {
            await play.act(one);
            await play.compare();
          }
          await play.unwind();
        }),
        { numRuns: sequences, endOnFailure: true },
      );
    },
    scaled(14_400_000),
  );
});
