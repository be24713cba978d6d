// The parts of svc.json for expiry: checkpointer.ttl for threads, store.ttl for items.
import * as z from 'zod';
import { nearest } from './nearest.ts';

const minutesMax = 52_560_000; // a hundred years
/** Timers are limited to 24 days. */
const intervalMaxMinutes = 30_000;

const positive = (max: number) => {
  const error = `must be a number of minutes, greater than 0 and at most ${max}; leave it out for none`;
  return z.number({ error }).positive({ error }).max(max, { error });
};

const minutes = positive(minutesMax);
const interval = positive(intervalMaxMinutes);

/** Unknown keys are refused: with a misspelt key nothing would expire. */
const strict = <T extends z.core.$ZodLooseShape>(shape: T) =>
  z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return 'must be an object such as {"default_ttl": 43200}';
      const known = Object.keys(shape);
      const [key = ''] = issue.keys;
      const near = nearest(key, known);
      const meant = near === undefined ? `known keys are ${known.join(', ')}` : `did you mean "${near}"?`;
      return `has the unknown key "${key}"; ${meant}`;
    },
  });

export const CheckpointerSection = z
  .looseObject({
    ttl: strict({
      strategy: z
        .enum(['delete', 'keep_latest'], { error: 'must be "delete" or "keep_latest"' })
        .optional()
        .describe('What is deleted: the thread, or all of it but its current state; "delete" by default'),
      default_ttl: minutes
        .optional()
        .describe(
          'Minutes that a new thread is kept after the last change of its state; without it, threads do not expire',
        ),
      sweep_interval_minutes: interval.optional().describe('Minutes between two checks; 5 by default'),
      sweep_limit: z
        .int({ error: 'must be a whole number from 1 to 10000' })
        .min(1, { error: 'must be a whole number from 1 to 10000' })
        .max(10_000, { error: 'must be a whole number from 1 to 10000' })
        .optional()
        .describe('Threads of one batch; 1000 by default'),
    })
      .optional()
      .describe('Expiry of threads without a ttl of their own'),
  })
  .optional()
  .describe('Expiry of threads');

export const StoreSection = z
  .looseObject({
    ttl: strict({
      refresh_on_read: z
        .boolean({ error: 'must be true or false' })
        .optional()
        .describe('Whether reading an item restarts its countdown; true by default'),
      default_ttl: minutes
        .optional()
        .describe('Minutes that a new item is kept; without it, items do not expire'),
      sweep_interval_minutes: interval
        .optional()
        .describe('Minutes between two deletions of expired items; 5 by default'),
    })
      .optional()
      .describe('Expiry of items without a ttl of their own'),
  })
  .optional()
  .describe('Index and expiry of the store');
