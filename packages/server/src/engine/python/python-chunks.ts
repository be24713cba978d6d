// Converts what a Python graph streams to the chunks of the executor.
import type { CheckpointChunk, Chunk, DebugChunk, EngineConfig } from '../executor/events/chunk-events.ts';
import { readShape, type Shape, type ShapeReader } from './shapes.ts';

export type SentChunk = [namespace: string[], mode: string, shape: Shape];

export const readChunk = ([namespace, mode, shape]: SentChunk, reader: ShapeReader): Chunk => {
  const payload = readShape(shape, reader);
  if (mode === 'checkpoints') return [namespace, mode, toCheckpoint(payload as PythonCheckpoint)];
  if (mode !== 'debug') return [namespace, mode, payload];
  const debug = payload as DebugChunk;
  return debug.type === 'checkpoint'
    ? [namespace, mode, { ...debug, payload: toCheckpoint(debug.payload as PythonCheckpoint) }]
    : [namespace, mode, debug];
};

/** The engine's report of a checkpoint in Python. */
type PythonCheckpoint = Omit<CheckpointChunk, 'parentConfig'> & { parent_config?: EngineConfig | null };

const toCheckpoint = ({ parent_config, ...report }: PythonCheckpoint): CheckpointChunk => ({
  ...report,
  ...(parent_config ? { parentConfig: parent_config } : {}),
});
