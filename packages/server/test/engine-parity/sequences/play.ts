// Plays a sequence of operations on the server and on the bare engine, and compares what both answer.
import { randomUUID } from 'node:crypto';
import type { Client } from '@svc/sdk';
import { type CommandValue, EngineThread } from './bare-engine.ts';
import type { GraphCase } from './cases.ts';
import { compare, Difference, isAlike } from './difference.ts';
import {
  aligned,
  byNamespace,
  commonStarts,
  Names,
  type Outcome,
  type SeenEvent,
  type SeenState,
  type Sides,
  splitAborted,
  withAncestors,
  withoutWrites,
} from './observation.ts';
import type { Operation, Place } from './operations.ts';
import { ServerThread } from './server-thread.ts';

/** Both sides may have different states, for a reason that is written where this is thrown, and would go on from these. */
class Diverged extends Error {}

/** The thread on both sides. */
class Play {
  readonly #engine: EngineThread;
  readonly #server: ServerThread;
  readonly #engineNames = new Names();
  readonly #serverNames = new Names();
  /** The engine's ids of the checkpoints of the graph itself that the server has deleted, with their parents; undefined before a deletion. */
  #deleted: ReadonlyMap<string, string | null> | undefined;
  /** The engine's ids of the checkpoints from before a deletion. A deletion undoes what the run has written on checkpoints of others. */
  #mayBeUndone: ReadonlySet<string | null> = new Set();
  /** The last run has aborted subgraphs. */
  #hasAborted = false;
  /** A run at a checkpoint of a subgraph was killed: see `withAncestors`. */
  #hasOtherParents = false;
  #isEmpty = true;
  /** The engine can read the state no more, or both sides would go on from different states. */
  isOver = false;

  constructor(engine: EngineThread, server: ServerThread) {
    this.#engine = engine;
    this.#server = server;
  }

  async perform(operation: Operation): Promise<void> {
    try {
      if (await this.#act(operation)) await this.#compareStates();
    } catch (error) {
      if (!(error instanceof Diverged)) throw error;
      this.isOver = true;
      await this.#compareHistories();
    }
  }

  /** False when the operation was not possible. */
  async #act(operation: Operation): Promise<boolean> {
    switch (operation.do) {
      case 'run':
        return this.#run(operation, operation.input, undefined);
      case 'answer':
        return this.#answer(operation);
      case 'command':
        return this.#run(operation, undefined, {
          ...(operation.update === undefined ? {} : { update: operation.update }),
          ...(operation.goto === undefined ? {} : { goto: operation.goto }),
        });
      case 'update':
        return this.#update(operation);
      case 'copy':
        if (!this.#isEmpty) await this.#server.copy();
        return true;
      case 'prune':
        await this.#beforeDeletion();
        await this.#server.prune();
        await this.#afterDeletion();
        return true;
      case 'deleteRun':
        await this.#beforeDeletion();
        await this.#server.deleteRun(operation.nth);
        await this.#afterDeletion();
        return true;
    }
  }

  /** Everything gets its name, so that both sides name what is left alike. */
  async #beforeDeletion(): Promise<void> {
    if (this.#isEmpty) return;
    await this.#compareHistories();
    this.#mayBeUndone = new Set((await this.#engine.history()).map(({ checkpoint }) => checkpoint));
  }

  async #afterDeletion(): Promise<void> {
    const { engine, isLeft } = await this.#histories();
    const deleted = engine.filter((_, index) => !isLeft[index]);
    this.#deleted = new Map(deleted.map(({ checkpoint, parent }) => [checkpoint ?? '', parent]));
  }

  async #run(
    operation: Extract<Operation, { do: 'run' | 'answer' | 'command' }>,
    input: unknown,
    command: CommandValue | undefined,
    serverCommand = command,
  ): Promise<boolean> {
    const at = await this.#placed(operation.at);
    const expected = await this.#engine.run(input, command, operation, at?.engine);
    const { isKilled, ...actual } = await this.#server.run(input, serverCommand, operation, at?.server);
    if (isKilled && operation.at?.subgraph === true) this.#hasOtherParents = true;
    // After a kill the events of the lost step are there twice; its updates are compared with the history.
    this.#compareOutcomes(actual, expected, isKilled ? updatesOf : (events) => events);
    return true;
  }

  async #answer(operation: Extract<Operation, { do: 'answer' }>): Promise<boolean> {
    const { by, value, update } = operation;
    const updating = update === undefined ? {} : { update };
    if (by === 'plain') return this.#run(operation, undefined, { resume: value, ...updating });
    const open = idsOf(await this.#engine.openInterrupts(), await this.#engine.state());
    const { interrupts } = await this.#server.summary();
    const openOnServer = idsOf(interrupts as Record<string, unknown>, await this.#server.state());
    if (open.length === 0) return false;
    const count = by === 'one' ? 1 : open.length;
    const answers = (ids: string[]) => Object.fromEntries(ids.slice(-count).map((id) => [id, value]));
    return this.#run(
      operation,
      undefined,
      { resume: answers(open), ...updating },
      { resume: answers(openOnServer), ...updating },
    );
  }

  async #update({ values, asNode, at: wanted }: Extract<Operation, { do: 'update' }>): Promise<boolean> {
    // Such an update stores a checkpoint without values. The engine adds the defaults of the graph when it reads it; the server reads
    // states without their graph.
    if (this.#isEmpty && values === null && asNode === undefined) return false;
    const at = await this.#placed(wanted);
    const expected = await this.#engine.update(values, asNode, at?.engine);
    const actual = await this.#server.update(values, asNode, at?.server);
    // The server's error has its status, and says what to do.
    if ((actual.error === null) !== (expected.error === null))
      compare('error of the update', actual.error, expected.error);
    return true;
  }

  /** The checkpoint of a place on both sides. */
  async #placed(place: Place | undefined): Promise<{ engine: SeenState; server: SeenState } | undefined> {
    if (!place || this.#isEmpty) return undefined;
    const history = await this.#compareHistories();
    const id = history[place.nth % history.length]?.checkpoint ?? null;
    const name = this.#serverNames.find(id) ?? '';
    const engine = await this.#engine.stateAt(this.#engineNames.idOf(name) ?? '');
    const server = await this.#server.stateAt(id ?? '');
    this.#compareState('state at an earlier checkpoint', server, engine);
    if (!place.subgraph || engine.isUnreadable) return { engine, server };
    return { engine: innerOf(engine), server: innerOf(server) };
  }

  async #compareStates(): Promise<void> {
    const engine = await this.#engine.state().catch((error: Error) => error);
    if (engine instanceof Error) return this.#compareUnreadable();
    const server = await this.#server.state();
    // A thread without a checkpoint has no values, also where its graph has defaults.
    this.#isEmpty = engine.checkpoint === null;
    if (this.#isEmpty) return compare('checkpoint', server.checkpoint, null);
    // Each side may have other checkpoints of the aborted subgraphs, which the histories of the graph itself do not have.
    if (this.#hasAborted) throw new Diverged();
    this.#compareState('state', server, engine);
    const { values, interrupts } = await this.#server.summary();
    this.#compare('values of the thread', values, engine.values);
    this.#compare('interrupts of the thread', interrupts, await this.#engine.openInterrupts());
  }

  /** Compares a state with those of its subgraphs. */
  #compareState(what: string, server: SeenState, engine: SeenState): void {
    try {
      this.#compare(what, server, engine);
    } catch (error) {
      // A deleted run has written on this checkpoint, or has made checkpoints of its subgraphs.
      const mayDiffer = error instanceof Difference && this.#mayBeUndone.has(engine.checkpoint);
      throw mayDiffer ? new Diverged() : error;
    }
  }

  /** After two commands that write to a channel for one value, the engine can read the state no more, and no run can start. */
  async #compareUnreadable(): Promise<void> {
    this.isOver = true;
    const { error: expected } = await this.#engine.run(null, undefined, { durability: 'async' });
    const { error: actual } = await this.#server.run(null, undefined, { durability: 'async' });
    compare('error of a run on a broken state', actual, expected);
  }

  /** `isLeft`: which states of the engine the server has too. */
  async #histories(): Promise<{ engine: SeenState[]; server: SeenState[]; isLeft: boolean[] }> {
    const engine = await this.#engine.history();
    const server = await this.#server.history();
    const names = this.#engineNames.name(engine.map(({ checkpoint }) => checkpoint));
    const left = new Set(this.#serverNames.name(server.map(({ checkpoint }) => checkpoint)));
    return { engine, server, isLeft: names.map((name) => left.has(name)) };
  }

  /** Compares and returns the states that the server still has. */
  async #compareHistories(): Promise<SeenState[]> {
    const { engine, server, isLeft } = await this.#histories();
    const expected = this.#deleted ? engine.filter((_, index) => isLeft[index]) : engine;
    const comparable = (states: SeenState[]): SeenState[] =>
      states.map((state, index) =>
        this.#mayBeUndone.has(expected[index]?.checkpoint ?? null) ? withoutWrites(state) : state,
      );
    const left: SeenState[] = [];
    for (const [index, state] of expected.entries()) left.push(await this.#leftOf(state, server[index]));
    this.#compare('history', comparable(server), comparable(left));
    return server;
  }

  /** The state of the engine, or that without what the commands of deleted runs have written to it, if the server has undone this. */
  async #leftOf(engine: SeenState, server: SeenState | undefined): Promise<SeenState> {
    const { checkpoint, isUnreadable } = engine;
    if (!server || isUnreadable || checkpoint === null || !this.#mayBeUndone.has(checkpoint)) return engine;
    const shown = ({ values, next }: SeenState): unknown => ({ values, next });
    const both = aligned(shown(server), shown(engine), this.#parents);
    return isAlike(both.server, both.engine)
      ? engine
      : this.#engine.stateWithoutCommands(checkpoint, this.#server.deletedRuns);
  }

  /**
   * In place of a deleted parent the server has the nearest ancestor that it has left, or null after a prune. Which checkpoints of subgraphs it has
   * deleted is not known here.
   */
  readonly #parents = ({ server, engine }: Sides<SeenState>): Sides<string | null> => {
    const deleted = this.#deleted;
    if (!deleted) return { server: server.parent, engine: engine.parent };
    if (engine.namespace !== '') return { server: null, engine: null };
    let { parent } = engine;
    while (parent !== null && deleted.has(parent)) parent = deleted.get(parent) ?? null;
    const isPruned = server.parent === null && parent !== engine.parent;
    return { server: server.parent, engine: isPruned ? null : parent };
  };

  #compareOutcomes(actual: Outcome, expected: Outcome, compared: (events: SeenEvent[]) => SeenEvent[]): void {
    compare('error', actual.error, expected.error);
    const [server, engine] = [splitAborted(actual.events), splitAborted(expected.events)];
    this.#compareEvents(compared(server.others), compared(engine.others));
    // A task that fails aborts the subgraphs beside it. How far these have come by then depends on the saver.
    this.#hasAborted = server.aborted.length + engine.aborted.length > 0;
    const starts = commonStarts(
      { events: compared(server.aborted), names: this.#serverNames },
      { events: compared(engine.aborted), names: this.#engineNames },
    );
    this.#compareEvents(starts.server, starts.engine);
  }

  #compareEvents(server: SeenEvent[], engine: SeenEvent[]): void {
    const ofServer = byNamespace(server, this.#serverNames);
    this.#compare('events', ofServer, byNamespace(engine, this.#engineNames));
  }

  #compare(what: string, server: unknown, engine: unknown): void {
    const both = aligned(server, engine, this.#parents);
    const compared = (side: unknown): unknown => (this.#hasOtherParents ? withAncestors(side) : side);
    compare(
      what,
      this.#serverNames.name(compared(both.server)),
      this.#engineNames.name(compared(both.engine)),
    );
  }

  async end(): Promise<void> {
    if (!this.#isEmpty) await this.#compareHistories();
  }
}

const updatesOf = (events: SeenEvent[]): SeenEvent[] => events.filter(({ mode }) => mode === 'updates');

/** Ids of interrupts by the names of their tasks, so that both sides choose the same ones. */
const idsOf = (interrupts: Record<string, unknown>, { tasks }: SeenState): string[] =>
  tasks.flatMap((task) => ((interrupts[task.id] ?? []) as { id: string }[]).map(({ id }) => id));

/** The state of the innermost subgraph; that of the graph itself when it has none. */
const innerOf = (state: SeenState): SeenState => {
  for (const { subgraph } of state.tasks)
    if (typeof subgraph === 'object' && subgraph) return innerOf(subgraph);
  return state;
};

export const play = async (
  client: Client,
  [name, one]: [string, GraphCase],
  operations: readonly Operation[],
): Promise<void> => {
  const both = new Play(new EngineThread(one, randomUUID()), await ServerThread.create(client, name));
  for (const operation of operations) if (!both.isOver) await both.perform(operation);
  if (!both.isOver) await both.end();
};
