// What the engine gets for a run: its input, and the request to end early.
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

/** Tells the engine to end a run before its next superstep. */
export class DrainControl extends RunControl {
  /** For a graph in another process. */
  onRequest: (() => void) | undefined;

  override requestDrain(reason?: string): void {
    super.requestDrain(reason);
    this.onRequest?.();
  }
}
