// The engine's reports of checkpoints, with the ids under which these are stored, so that clients can read them and fork there.
import type { StoredIds } from '../checkpoints/stored-ids.ts';
import type { CheckpointChunk, DebugChunk, EngineConfig } from './chunk-events.ts';

const idIn = (config: EngineConfig | undefined): string | undefined =>
  config?.configurable?.['checkpoint_id'] as string | undefined;

const withId = (config: EngineConfig, checkpoint_id: string): EngineConfig => ({
  ...config,
  configurable: { ...config.configurable, checkpoint_id },
});

const storedCheckpoint = (ids: StoredIds, chunk: CheckpointChunk): CheckpointChunk => {
  const { config, parentConfig } = chunk;
  const [id, parentId] = [idIn(config), idIn(parentConfig)];
  if (id === undefined) return chunk;
  const parent = parentId && ids.of(parentId);
  const ns = (config.configurable?.['checkpoint_ns'] ?? '') as string;
  const stored = ids.assign(ns, id, parent);
  if (stored === id && parent === parentId) return chunk;
  return {
    ...chunk,
    config: withId(config, stored),
    ...(parentConfig && parent ? { parentConfig: withId(parentConfig, parent) } : {}),
  };
};

/** A chunk with the ids under which checkpoints are stored. The checkpoint may not have been put yet. */
export const withStoredIds = (ids: StoredIds | undefined, mode: string, payload: unknown): unknown => {
  if (ids === undefined) return payload;
  if (mode === 'checkpoints') return storedCheckpoint(ids, payload as CheckpointChunk);
  const debug = payload as DebugChunk;
  if (mode !== 'debug' || debug.type !== 'checkpoint') return payload;
  return { ...debug, payload: storedCheckpoint(ids, debug.payload as CheckpointChunk) };
};
