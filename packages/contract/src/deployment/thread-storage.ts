// How many bytes a thread occupies.
import * as z from 'zod';
import { Id } from '../json.ts';

const usage = { count: z.int(), bytes: z.int() };

export const ThreadStorageReport = z
  .object({
    thread_id: Id,
    total_bytes: z.int(),
    checkpoints: z.object(usage),
    channel_values: z
      .object({
        ...usage,
        by_channel: z
          .record(z.string(), z.object({ versions: z.int(), bytes: z.int() }))
          .describe(
            'The channels with the most bytes, at most 1,000. What channels share counts for each of them',
          ),
      })
      .describe('`count`: the different values that channels have had'),
    pending_writes: z.object(usage).describe('What nodes have written, and what only these writes contain'),
  })
  .meta({
    id: 'ThreadStorageReport',
    description:
      'Bytes of the stored content, without indexes and row headers. What a thread shares with its copies counts for each of them',
  });
export type ThreadStorageReport = z.output<typeof ThreadStorageReport>;
