// A thread of the server, with the operations of a thread of the engine.
import type { ThreadState } from '@svc/contract';
import { ApiError, type Client } from '@svc/sdk';
import { armKillSwitch, disarmKillSwitch } from './kill-switch.ts';
import { type CommandValue, streamModes } from './bare-engine.ts';
import type { RunOptions } from './operations.ts';
import {
  byName,
  common,
  eventData,
  type Outcome,
  type SeenEvent,
  type SeenState,
  type SeenTask,
  withoutResultIds,
} from './observation.ts';

type Fields = Record<string, unknown>;

/** How the run of an operation went, and whether its executor was killed. */
interface RunOutcome extends Outcome {
  isKilled: boolean;
}

export class ServerThread {
  readonly #client: Client;
  readonly #graphId: string;
  thread_id: string;
  /** The ids of its runs; undefined for a refused one. */
  readonly #runs: (string | undefined)[] = [];
  /** The deleted runs, counted from 1. */
  readonly deletedRuns = new Set<number>();

  private constructor(client: Client, graphId: string, thread_id: string) {
    this.#client = client;
    this.#graphId = graphId;
    this.thread_id = thread_id;
  }

  static async create(client: Client, graphId: string): Promise<ServerThread> {
    const { thread_id } = await client.threads.create({ graphId });
    return new ServerThread(client, graphId, thread_id);
  }

  async run(
    input: unknown,
    command: CommandValue | undefined,
    { durability, before, after, kill }: RunOptions,
    at?: SeenState,
  ): Promise<RunOutcome> {
    const events: SeenEvent[] = [];
    let error: string | null = null;
    const nth = this.#runs.push(undefined) - 1;
    if (kill !== undefined) armKillSwitch(this.thread_id, kill);
    try {
      const stream = this.#client.runs.stream(this.thread_id, this.#graphId, {
        ...(command ? { command: command as Fields } : { input }),
        stream_mode: [...streamModes],
        stream_subgraphs: true,
        // The log of such a run has each update once, also after the loss of its executor.
        stream_resumable: kill !== undefined,
        durability,
        ...(before ? { interrupt_before: before } : {}),
        ...(after ? { interrupt_after: after } : {}),
        ...(at ? { checkpoint: placeOf(at) } : {}),
      });
      for await (const { event, data } of stream) {
        if (event === 'metadata') this.#runs[nth] = (data as { run_id: string }).run_id;
        if (event === 'error') error = (data as { message: string }).message;
        else if (event !== 'metadata') events.push(toEvent(event, data));
        // With `exit` nothing is stored before the end: an attempt after a kill executes, and reports, everything again.
        else if (durability === 'exit') events.length = 0;
      }
    } catch (thrown) {
      error = messageOf(thrown);
    }
    const isKilled = kill !== undefined && !disarmKillSwitch(this.thread_id);
    return { error, events, isKilled };
  }

  async update(values: unknown, asNode: string | undefined, at?: SeenState): Promise<Outcome> {
    try {
      await this.#client.threads.updateState(this.thread_id, {
        values,
        ...(asNode === undefined ? {} : { asNode }),
        ...(at ? { checkpointId: placeOf(at).checkpoint_id, checkpointNs: at.namespace } : {}),
      });
    } catch (error) {
      return { error: messageOf(error), events: [] };
    }
    return { error: null, events: [] };
  }

  async state(): Promise<SeenState> {
    return toState(await this.#client.threads.getState(this.thread_id, { subgraphs: true }));
  }

  async stateAt(checkpointId: string): Promise<SeenState> {
    return toState(await this.#client.threads.getState(this.thread_id, { checkpointId, subgraphs: true }));
  }

  async history(): Promise<SeenState[]> {
    return (await this.#client.threads.getHistory(this.thread_id, { limit: 1_000 })).map(toState);
  }

  /** What the thread itself has of its state. */
  async summary(): Promise<{ values: unknown; interrupts: unknown; status: string }> {
    const { values, interrupts, status } = await this.#client.threads.get(this.thread_id);
    return { values: common(values ?? {}), interrupts: common(interrupts ?? {}), status };
  }

  /**
   * Deletes the nth of the runs before the newest one, but not the run that has stored the newest checkpoint, when the newest run has failed before
   * it stored one: the state would be deleted too.
   */
  async deleteRun(nth: number): Promise<void> {
    const [, ...earlier] = await this.#client.runs.list(this.thread_id, { limit: 100 });
    const { metadata } = await this.#client.threads.getState(this.thread_id);
    const runs = earlier.filter(({ run_id }) => run_id !== (metadata as { run_id?: string }).run_id);
    const run = runs[nth % runs.length];
    if (!run) return;
    await this.#client.runs.delete(this.thread_id, run.run_id);
    this.deletedRuns.add(this.#runs.indexOf(run.run_id) + 1);
  }

  /** Continues with a copy. */
  async copy(): Promise<void> {
    const { thread_id } = await this.#client.threads.copy(this.thread_id);
    this.thread_id = thread_id;
  }

  async prune(): Promise<void> {
    await this.#client.threads.prune([this.thread_id], { strategy: 'keep_latest' });
  }
}

const messageOf = (error: unknown): string =>
  error instanceof ApiError ? `${error.status} ${error.message}` : String(error);

const placeOf = ({ checkpoint, namespace }: SeenState): { checkpoint_id: string; checkpoint_ns: string } => ({
  checkpoint_id: checkpoint ?? '',
  checkpoint_ns: namespace,
});

const toTask = ({
  id,
  name,
  path,
  error,
  interrupts,
  result,
  checkpoint,
  state,
}: ThreadState['tasks'][number]): SeenTask => ({
  id,
  name,
  path,
  error,
  interrupts: common(interrupts),
  result: common(result ?? null),
  // The engine omits the subgraph of a task that has failed.
  subgraph: error !== null ? null : state ? toState(state) : (checkpoint?.checkpoint_ns ?? null),
});

const toState = ({
  values,
  next,
  tasks,
  metadata,
  checkpoint,
  parent_checkpoint,
}: ThreadState): SeenState => {
  const { source = null, step = null, parents = {} } = metadata;
  return {
    values: common(values ?? {}),
    next: next.toSorted(),
    tasks: tasks.map(toTask).toSorted(byName),
    // The other keys are those that the server adds (docs/compatibility.md).
    metadata: { source, step, parents },
    namespace: checkpoint.checkpoint_ns,
    checkpoint: checkpoint.checkpoint_id ?? null,
    parent: parent_checkpoint?.checkpoint_id ?? null,
  };
};

/** The data of `checkpoints` is a state; its tasks have the errors of the engine. */
const toEvent = (event: string, data: unknown): SeenEvent => {
  const [mode = '', ...namespace] = event.split('|');
  const seen =
    mode === 'checkpoints'
      ? withoutResultIds(
          toState({
            ...(data as ThreadState),
            tasks: (data as ThreadState).tasks.map((task) => ({
              ...task,
              error: (task.error as unknown as Error | undefined)?.message ?? null,
            })),
          }),
        )
      : eventData(mode, common(data));
  return { namespace: namespace.join('|'), mode, data: seen };
};
