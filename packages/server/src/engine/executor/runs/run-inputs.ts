// Takes inputs that were sent into a run. The engine ends before a superstep (GraphDrained), and goes on from its checkpoint with the command
// `{ update: input }`: it stores the update as writes on this checkpoint, and applies them by the reducers of the graph. The flush of these writes ends
// the runs that hold the inputs, so that each input is taken once.
import type { RunInputStorage, WaitingInput } from '../../../storage/deployment/runs/run-inputs.ts';
import type { CheckpointStorage } from '../../../storage/deployment/checkpoints/checkpoints.ts';
import { isRecord } from '../../../json/is-record.ts';
import { type EphemeralCheckpointer, SvcCheckpointer } from '../../checkpoints/checkpointer.ts';
import type { ValueCodec } from '../../codec/value-codec.ts';
import type { ThreadSession } from '../../checkpoints/thread-session.ts';
import type { ParsedRunCommand, RunKwargs } from '../../dispatch/protocol.ts';
import type { EmitEvent } from '../events/chunk-events.ts';
import type { Graph } from '../graphs/graph-registry.ts';
import { type RunStart, stepsOf, withoutInput } from './later-attempt.ts';
import type { DrainControl } from './run-input.ts';
import { isAttemptLost, isDrained } from './run-outcome.ts';

interface Parts {
  command: ParsedRunCommand;
  control: DrainControl;
  storage: { inputs: RunInputStorage; checkpoints: Pick<CheckpointStorage, 'findProgress'> };
  emit: EmitEvent;
  /** The newest values of the graph. */
  values: () => unknown;
  codec: ValueCodec;
  limitSteps: (steps: NonNullable<RunStart['steps']>) => void;
  session: () => ThreadSession | undefined;
  /** The run is stopped, or is given back before its next superstep. */
  isOver: () => boolean;
}

/** What the engine repeats when it goes on from a checkpoint without a command. */
const repeated: readonly string[] = ['values', 'checkpoints', 'debug'];

export class RunInputs {
  readonly #parts: Parts;
  #repeats = new Set<string>();
  /** Inputs that the engine has got and not applied yet. */
  #given: readonly TakenInput[] = [];
  /** Inputs that a reducer has refused. Their own runs follow this one, and fail with the error. */
  readonly #refused = new Set<string>();
  /** One of several inputs was refused: they are given one by one. */
  #isCareful = false;
  /** The next report of a root checkpoint has the state with the inputs. */
  #reportsState = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    if (parts.command.has_inputs) this.request();
  }

  /** Inputs wait. Without checkpoints while the run executes, they stay in their own runs. */
  request(): void {
    const { temporary, kwargs } = this.#parts.command;
    if (!temporary && kwargs.durability !== 'exit') this.#parts.control.requestPause();
  }

  /** True for a chunk that the run has streamed before it paused. */
  isRepeated(namespace: readonly string[], mode: string): boolean {
    if (this.#repeats.size === 0 || namespace.length > 0) return false;
    if (this.#repeats.delete(mode)) return true;
    this.#repeats.clear();
    return false;
  }

  /** Streams the graph, and goes on after each pause. */
  async untilEnd(
    graph: Graph,
    kwargs: RunKwargs,
    checkpointer: SvcCheckpointer | EphemeralCheckpointer,
    stream: (kwargs: RunKwargs) => Promise<void>,
  ): Promise<void> {
    for (let next = kwargs; ;) {
      try {
        return await stream(next);
      } catch (error) {
        const { control, isOver, session } = this.#parts;
        const goesOn = this.#wasRefused() || (isDrained(error) && control.isPausing);
        const held = session();
        if (
          !goesOn ||
          !held ||
          isOver() ||
          isAttemptLost(error) ||
          !(checkpointer instanceof SvcCheckpointer)
        )
          throw error;
        next = await this.#next(graph, next, held, checkpointer);
      }
    }
  }

  /** A chunk shows that the engine has applied what it got. The events are in the flush of the writes. */
  applied(): void {
    if (this.#given.length === 0) return;
    const { command, emit, session } = this.#parts;
    const logged = command.kwargs.stream_mode.includes('updates') ? this.#given : [];
    this.#given = [];
    this.#reportsState = true;
    session()?.inputs.confirm();
    for (const { update, run_id, author, created_at } of logged)
      emit('updates', { __input__: update, __metadata__: { run_id, author, created_at } });
  }

  /** True when the engine has failed because of the inputs that it got. The run goes on without them. */
  #wasRefused(): boolean {
    const given = this.#parts.session()?.inputs.drop() ?? [];
    this.#given = [];
    this.#isCareful ||= given.length > 1;
    if (given.length === 1) this.#refused.add(given[0] as string);
    return given.length > 0;
  }

  /** True once after inputs were taken: readers see them in the state while the superstep executes. */
  takeReport(): boolean {
    const reports = this.#reportsState;
    this.#reportsState = false;
    return reports;
  }

  /** What the engine gets to go on after a pause. */
  async #next(
    graph: Graph,
    kwargs: RunKwargs,
    session: ThreadSession,
    checkpointer: SvcCheckpointer,
  ): Promise<RunKwargs> {
    const { command, control, storage, values, codec, limitSteps } = this.#parts;
    // A request that arrives from now on is for the next pause.
    control.endPause();
    const rest = withoutInput(kwargs);
    await session.flush();
    const progress = await storage.checkpoints.findProgress(command.thread_id, command.run_id);
    if (progress) limitSteps(stepsOf(progress, command.config, graph));
    checkpointer.continueSuperstep(undefined);
    if (progress && session.isBeforeSuperstep && !hasOpenToolCalls(values(), codec)) {
      const listed = await storage.inputs.listWaiting(command.thread_id, command.run_id);
      const waiting = listed.filter(({ run_id }) => !this.#refused.has(run_id));
      const possible = joinable(waiting, graph.streamChannelsAsIs as string | string[]);
      const taken = this.#isCareful ? possible.slice(0, 1) : possible;
      if (taken.length > 0 && taken.length < waiting.length) control.requestPause();
      if (taken.length > 0) return this.#give(taken, rest, session);
    } else control.requestPause();
    this.#repeats = new Set(repeated);
    return rest;
  }

  #give(taken: readonly TakenInput[], rest: RunKwargs, session: ThreadSession): RunKwargs {
    this.#given = taken;
    session.inputs.give(taken.map(({ run_id }) => run_id));
    return { ...rest, command: { update: joined(taken.map(({ update }) => update)) } };
  }
}

type Update = Record<string, unknown>;
type TakenInput = WaitingInput & { update: Update };

/**
 * The first inputs that one superstep can take: one, or several that only add messages. Other channels may not take two values. An input for
 * something else than the channels of the graph, which a run would convert, is for a run of its own.
 */
const joinable = (waiting: readonly WaitingInput[], channels: string | string[]): TakenInput[] => {
  const inputs = waiting.map((one) => ({ ...one, update: withMessageIds(one) }));
  const isUpdate = Object.keys(inputs[0]?.update ?? {}).every(
    (key) => Array.isArray(channels) && channels.includes(key),
  );
  if (!isUpdate) return [];
  const end = inputs.findIndex(({ update }) => !hasOnlyMessages(update));
  return end === -1 ? inputs : inputs.slice(0, Math.max(end, 1));
};

const hasOnlyMessages = (update: Update): boolean =>
  Object.keys(update).length === 1 && Array.isArray(update['messages']);

const joined = (updates: readonly Update[]): Update =>
  updates.length === 1
    ? (updates[0] as Update)
    : { messages: updates.flatMap(({ messages }) => messages as unknown[]) };

/** A message without an id would get another one each time the engine applies it. */
const withMessageIds = ({ run_id, input }: WaitingInput): Update => {
  const update = JSON.parse(input) as Update;
  const { messages } = update;
  if (!Array.isArray(messages)) return update;
  const identified = messages.map((message: unknown, at) =>
    isRecord(message) && message['id'] === undefined ? { ...message, id: `${run_id}-${at}` } : message,
  );
  return { ...update, messages: identified };
};

/** True when the newest messages are an answer of a model with calls of tools, and not all of their results. Providers refuse a message in between. */
const hasOpenToolCalls = (values: unknown, codec: ValueCodec): boolean => {
  const messages: unknown = isRecord(values) ? values['messages'] : undefined;
  if (!Array.isArray(messages)) return false;
  const answered = new Set<unknown>();
  for (const message of messages.toReversed()) {
    const { tool_call_id, tool_calls } = (JSON.parse(codec.toJson(message)) ?? {}) as {
      tool_call_id?: unknown;
      tool_calls?: { id?: unknown }[];
    };
    if (tool_call_id === undefined) return (tool_calls ?? []).some(({ id }) => !answered.has(id));
    answered.add(tool_call_id);
  }
  return false;
};
