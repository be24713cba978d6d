// Computes the expected state of a thread after the given steps: the bare engine runs them with an in-memory saver.
import {
  Command,
  InMemoryStore,
  MemorySaver,
  type CompiledStateGraph,
  type StateSnapshot,
} from '@langchain/langgraph';
import { withCheckpointer } from '../engine-copy.ts';
import { eventually } from '../eventually.ts';
import { expect } from 'vitest';
import { type Plan, survey } from './survey.ts';

/** One run or state update. `isCancelled`: the run is cancelled while its node waits at the barrier. */
export type Step =
  | { do: 'input'; plan: Plan; isCancelled: boolean }
  | { do: 'resume'; answer: string; isCancelled: boolean }
  /** The answer to each question. */
  | { do: 'answer'; answers: Record<string, string>; isCancelled: boolean }
  | { do: 'continue'; isCancelled: boolean }
  | { do: 'update'; as_node: string; line: string };

interface Interrupt {
  id?: string;
  value: unknown;
}

/** The comparable part of a state; ids are left out because each engine assigns its own. */
export interface Described {
  plan: unknown;
  log: unknown;
  tasks: { name: string; questions: unknown[]; inner: Described | undefined }[];
}

export interface Outcome {
  state: Described;
  next: string[];
  status: 'idle' | 'interrupted';
  /** The open questions of the thread. */
  questions: string[];
}

type Graph = Pick<CompiledStateGraph<unknown, unknown, string>, 'getState' | 'stream' | 'updateState'>;

export const withSaver = (checkpointer: object): Graph => withCheckpointer(survey, checkpointer);

export const describeState = ({ values, tasks }: StateSnapshot): Described => {
  const { plan, log } = values as { plan?: unknown; log?: unknown };
  return {
    plan,
    log,
    tasks: tasks
      .map(({ name, interrupts, state }) => ({
        name,
        questions: interrupts.map(({ value }) => value as unknown),
        inner: state && 'values' in state ? describeState(state) : undefined,
      }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  };
};

class BareThread {
  readonly #graph = withSaver(new MemorySaver());
  readonly #store = new InMemoryStore();
  readonly taken: Step[] = [];
  #status: Outcome['status'] = 'idle';
  #interrupts: Interrupt[] = [];

  async take(step: Step): Promise<void> {
    this.taken.push(step);
    const config = { configurable: { thread_id: 'thread' } };
    if (step.do === 'update') {
      await this.#graph.updateState(config, { log: [step.line] }, step.as_node);
      this.#interrupts = [];
      if ((await this.#graph.getState(config)).tasks.length === 0) this.#status = 'idle';
      return;
    }
    const run_id = String(this.taken.length);
    const abort = new AbortController();
    if (!step.isCancelled) await this.#store.put(['barriers'], run_id, {});
    const running = this.#run(this.#inputOf(step), run_id, abort.signal);
    if (step.isCancelled) {
      await eventually(async () => expect(await this.#store.get(['waiting'], run_id)).toBeTruthy());
      abort.abort();
      await running.catch(() => undefined);
    } else this.#interrupts = await running;
    const { tasks } = await this.#graph.getState(config);
    // A cancelled run leaves the questions open of all tasks that have not finished.
    if (step.isCancelled)
      this.#interrupts = tasks
        .filter(({ result }) => result === undefined || result === null)
        .flatMap(({ interrupts }) => interrupts as Interrupt[]);
    this.#status = tasks.length > 0 ? 'interrupted' : 'idle';
  }

  async outcome(): Promise<Outcome> {
    const state = await this.#graph.getState({ configurable: { thread_id: 'thread' } }, { subgraphs: true });
    return {
      state: describeState(state),
      next: state.tasks.map(({ name }) => name),
      status: this.#status,
      questions: this.#interrupts.map(({ value }) => String(value)).toSorted(),
    };
  }

  #inputOf(step: Exclude<Step, { do: 'update' }>): unknown {
    switch (step.do) {
      case 'input':
        return { plan: step.plan };
      case 'continue':
        return null;
      case 'resume':
        return new Command({ resume: step.answer });
      case 'answer': {
        const byId = this.#interrupts.flatMap(({ id, value }) => {
          const answer = step.answers[String(value)];
          return id === undefined || answer === undefined ? [] : [[id, answer]];
        });
        return new Command({ resume: Object.fromEntries(byId) as Record<string, string> });
      }
    }
  }

  /** Runs the graph and returns the interrupts that it raised. */
  async #run(input: unknown, run_id: string, signal: AbortSignal): Promise<Interrupt[]> {
    const interrupts: Interrupt[] = [];
    const stream = await this.#graph.stream(input as never, {
      configurable: { thread_id: 'thread', run_id },
      store: this.#store,
      streamMode: 'updates',
      signal,
    });
    for await (const chunk of stream as AsyncIterable<{ __interrupt__?: Interrupt[] }>) {
      interrupts.push(...(chunk.__interrupt__ ?? []));
    }
    return interrupts;
  }
}

/** Reuses the bare thread while steps are only appended, because replaying all steps gets slower with every step. */
export class BareThreads {
  #thread = new BareThread();

  async after(steps: readonly Step[]): Promise<Outcome> {
    const { taken } = this.#thread;
    if (!taken.every((step, at) => step === steps[at])) this.#thread = new BareThread();
    for (const step of steps.slice(this.#thread.taken.length)) await this.#thread.take(step);
    return this.#thread.outcome();
  }
}
