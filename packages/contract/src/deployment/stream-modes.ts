import * as z from 'zod';

export const streamModes = [
  'values',
  'messages',
  'messages-tuple',
  'tasks',
  'checkpoints',
  'updates',
  'events',
  'debug',
  'custom',
  'tools',
  'lifecycle',
] as const;
export const StreamMode = z.enum(streamModes).meta({ id: 'StreamMode' });
export type StreamMode = z.output<typeof StreamMode>;

export const StreamModes = z
  .union(
    [StreamMode, z.array(StreamMode).min(1).max(20)],
    `must be a stream mode or a list of them: ${streamModes.join(', ')}`,
  )
  .nullish()
  .transform((modes) => [...new Set([modes ?? ('values' as const)].flat())]);

/** Streams of a thread have the events of its runs, the starts and ends of its runs, or the state after each run. */
export const ThreadStreamMode = z.enum(['run_modes', 'lifecycle', 'state_update']);
