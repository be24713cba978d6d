// From the stream modes a client asks for to those of the engine, and from the engine's chunks to events.

type EngineMode = 'values' | 'updates' | 'messages' | 'custom' | 'checkpoints' | 'tasks' | 'debug';

/** `checkpoints` and `values` are always needed: for the summaries of checkpoints and for the result of the run. */
export const engineModes = (asked: readonly string[]): EngineMode[] => {
  const modes = new Set<EngineMode>(['values', 'checkpoints']);
  for (const mode of asked) {
    if (mode === 'messages-tuple' || mode === 'messages') modes.add('messages');
    else if (mode !== 'events') modes.add(mode as EngineMode);
  }
  return [...modes];
};

/** The name of an event: the mode, and for a subgraph its namespace behind it. */
export const eventName = (mode: string, namespace: readonly string[]): string =>
  namespace.length === 0 ? mode : [mode, ...namespace].join('|');
