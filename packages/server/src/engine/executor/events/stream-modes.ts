// Maps the stream modes of a client to those of the engine, and the engine's chunks to event names.

import { checkpointRefs } from '../../dispatch/protocol.ts';
import type { StreamHandling } from './lean-callbacks.ts';

type EngineMode = 'values' | 'updates' | 'messages' | 'custom' | 'checkpoints' | 'tasks' | 'debug' | 'tools';

/** Modes that are not requested from the engine: the executor makes their events from callbacks, or from events of other modes. */
const noEngineModes: ReadonlySet<string> = new Set(['events', 'messages', checkpointRefs]);

/** `checkpoints` and `values` are always needed: for the summaries of checkpoints and for the result of the run. */
export const engineModes = (requested: readonly string[]): EngineMode[] => {
  const modes = new Set<EngineMode>(['values', 'checkpoints']);
  for (const mode of requested) {
    if (mode === 'messages-tuple') modes.add('messages');
    else if (mode === 'lifecycle') modes.add('tasks');
    else if (!noEngineModes.has(mode)) modes.add(mode as EngineMode);
  }
  return [...modes];
};

/** How the engine's handlers of stream modes are changed for a run; undefined when they are not. */
export const streamHandling = ({
  stream_mode,
  stream_subgraphs,
}: {
  stream_mode: readonly string[];
  stream_subgraphs: boolean;
}): StreamHandling | undefined => {
  const skipsSubgraphs = !stream_subgraphs && stream_mode.includes('messages-tuple');
  const namesToolTasks = stream_mode.includes(checkpointRefs);
  return skipsSubgraphs || namesToolTasks ? { skipsSubgraphs, namesToolTasks } : undefined;
};

/** The name of an event: the mode, followed by the namespace if it is from a subgraph. */
export const eventName = (mode: string, namespace: readonly string[]): string =>
  namespace.length === 0 ? mode : [mode, ...namespace].join('|');
