// Maps the stream modes of a client to those of the engine, and the engine's chunks to event names.

import { checkpointRefs } from '../dispatch/protocol.ts';

type EngineMode = 'values' | 'updates' | 'messages' | 'custom' | 'checkpoints' | 'tasks' | 'debug' | 'tools';

/** Modes that are not requested from the engine: the executor makes their events from callbacks, or from events of other modes. */
const noEngineModes: ReadonlySet<string> = new Set(['events', 'messages', checkpointRefs]);

/** `checkpoints` and `values` are always needed: for the summaries of checkpoints and for the result of the run. */
export const engineModes = (requested: readonly string[]): EngineMode[] => {
  const modes = new Set<EngineMode>(['values', 'checkpoints']);
  for (const mode of requested) {
    if (mode === 'messages-tuple') modes.add('messages');
    else if (!noEngineModes.has(mode)) modes.add(mode as EngineMode);
  }
  return [...modes];
};

/** The name of an event: the mode, followed by the namespace if it is from a subgraph. */
export const eventName = (mode: string, namespace: readonly string[]): string =>
  namespace.length === 0 ? mode : [mode, ...namespace].join('|');
