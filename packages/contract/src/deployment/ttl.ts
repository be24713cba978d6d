// Times to live, in minutes; a fraction is fine.
import { z } from 'zod';
import { Id, Time } from '../json.ts';

/** A hundred years. */
const minutesMax = 52_560_000;

export const Minutes = z.number().positive().max(minutesMax);

export const PruneStrategy = z.enum(['delete', 'keep_latest']).meta({
  id: 'PruneStrategy',
  description: 'delete: the thread goes; keep_latest: all but its current state goes',
});

/** A strategy that is not given: that of the thread, or `delete` for a thread that has none. */
export const Ttl = z
  .union([Minutes, z.strictObject({ ttl: Minutes, strategy: PruneStrategy.nullish() })])
  .transform((ttl) =>
    typeof ttl === 'number'
      ? { minutes: ttl, strategy: undefined }
      : { minutes: ttl.ttl, strategy: ttl.strategy ?? undefined },
  )
  .nullish()
  .describe(
    'How long the thread stays after its state last changed: minutes, or {strategy, ttl}; null for ever. Without a strategy a thread keeps the one it has; a new thread gets delete',
  );

export const ThreadTtl = z
  .object({
    strategy: PruneStrategy,
    ttl_minutes: z.number(),
    expires_at: Time.nullable().describe(
      'Null when nothing is left to remove before the state changes again',
    ),
  })
  .meta({ id: 'ThreadTtl', description: 'When a thread expires, and what goes then' });

export const PruneRequest = z.object({
  thread_ids: z.array(Id).max(1_000),
  strategy: PruneStrategy.nullish().transform((value) => value ?? 'delete'),
});
