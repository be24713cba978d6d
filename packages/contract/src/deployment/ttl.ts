// Times to live, in minutes. Fractions are allowed.
import * as z from 'zod';
import { Id, Time } from '../json.ts';

/** A hundred years. */
const minutesMax = 52_560_000;

export const Minutes = z.number().positive().max(minutesMax);

export const PruneStrategy = z.enum(['delete', 'keep_latest']).meta({
  id: 'PruneStrategy',
  description: '`delete` deletes the thread; `keep_latest` deletes everything except its current state',
});

/** Without a strategy, the thread keeps the one it has; a thread without one gets `delete`. */
export const Ttl = z
  .union([Minutes, z.strictObject({ ttl: Minutes, strategy: PruneStrategy.nullish() })])
  .transform((ttl) =>
    typeof ttl === 'number'
      ? { minutes: ttl, strategy: undefined }
      : { minutes: ttl.ttl, strategy: ttl.strategy ?? undefined },
  )
  .nullish()
  .describe(
    'Minutes from the last change of the state until the thread expires, or {strategy, ttl}; null means never. Without a strategy a thread keeps the one it has; a new thread gets `delete`',
  );

export const ThreadTtl = z
  .object({
    strategy: PruneStrategy,
    ttl_minutes: z.number(),
    expires_at: Time.nullable().describe(
      'Null when nothing is left to delete before the state changes again',
    ),
  })
  .meta({ id: 'ThreadTtl', description: 'When a thread expires, and what is deleted then' });

export const PruneRequest = z.object({
  thread_ids: z.array(Id).max(1_000),
  strategy: PruneStrategy.nullish().transform((value) => value ?? 'delete'),
});
