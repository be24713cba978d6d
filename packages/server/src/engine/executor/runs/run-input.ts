// What the engine gets for a run: its input, and the request to end early.
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons';
import { Command, RunControl, Send } from '@langchain/langgraph';
import type { RunKwargs } from '../../dispatch/protocol.ts';

/** The engine's input: the client's command, its input, or null to continue from the state of the thread. */
export const toInput = ({ input, command }: RunKwargs): unknown => {
  if (!command) return input ?? null;
  const { update, resume, goto } = command;
  return new Command({
    ...(update === undefined || update === null ? {} : { update: update as never }),
    ...(resume === undefined ? {} : { resume }),
    ...(goto === undefined || goto === null
      ? {}
      : { goto: (Array.isArray(goto) ? goto.map(toGoto) : toGoto(goto)) as never }),
  });
};

const toGoto = (target: unknown): unknown =>
  typeof target === 'object' && target !== null && 'node' in target
    ? new Send((target as { node: string }).node, (target as { input?: unknown }).input)
    : target;

/** Tells the engine to end a run before its next superstep: for good, or to take inputs that were sent into the run. */
export class DrainControl extends RunControl {
  /** For a graph in another process. */
  onRequest: ((kind: 'drain' | 'pause') => void) | undefined;
  #isPausing = false;
  /** The superstep that follows begins without a pause. */
  #passes = false;

  override requestDrain(reason?: string): void {
    super.requestDrain(reason);
    this.onRequest?.('drain');
  }

  requestPause(): void {
    this.#isPausing = true;
    this.onRequest?.('pause');
  }

  /** The run goes on after a pause. */
  endPause(): void {
    this.#isPausing = false;
    this.#passes = true;
  }

  get isDraining(): boolean {
    return super.drainRequested;
  }

  get isPausing(): boolean {
    return this.#isPausing;
  }

  get passes(): boolean {
    return this.#passes;
  }

  /** The engine reads it before each superstep. It ends a subgraph too, but then its node would be executed again: a pause waits for the graph itself. */
  override get drainRequested(): boolean {
    if (this.isDraining) return true;
    if (isInNode()) return false;
    const passes = this.#passes;
    this.#passes = false;
    return this.#isPausing && !passes;
  }
}

/** True in the context of a node, which the engine's key for reads identifies. */
const isInNode = (): boolean =>
  AsyncLocalStorageProviderSingleton.getRunnableConfig()?.configurable?.['__pregel_read'] !== undefined;
