// The parts of svc.json that say what goes by itself: checkpointer.ttl for threads, store.ttl for items.
import * as z from 'zod';
import { nearest } from './nearest.ts';

const minutesMax = 52_560_000; // a hundred years
/** Timers hold no more than 24 days. */
const intervalMaxMinutes = 30_000;

const positive = (max: number) => {
  const error = `must be a number of minutes, greater than 0 and at most ${max}; leave it out for none`;
  return z.number({ error }).positive({ error }).max(max, { error });
};

const minutes = positive(minutesMax);
const interval = positive(intervalMaxMinutes);

/** A misspelt key would keep for ever what was meant to go. */
const strict = <T extends z.core.$ZodLooseShape>(shape: T) =>
  z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return 'must be an object such as {"default_ttl": 43200}';
      const known = Object.keys(shape);
      const [key = ''] = issue.keys;
      const near = nearest(key, known);
      const meant = near === undefined ? `there are ${known.join(', ')}` : `did you mean "${near}"?`;
      return `has the key "${key}", which means nothing here; ${meant}`;
    },
  });

export const CheckpointerSection = z
  .looseObject({
    ttl: strict({
      strategy: z
        .enum(['delete', 'keep_latest'], { error: 'must be "delete" or "keep_latest"' })
        .optional()
        .describe('What goes: the thread, or all of it but its current state; "delete" by default'),
      default_ttl: minutes
        .optional()
        .describe('Minutes that a new thread stays after its state last changed; without it, for ever'),
      sweep_interval_minutes: interval.optional().describe('How often to look; 5 by default'),
      sweep_limit: z
        .int({ error: 'must be a whole number from 1 to 10000' })
        .min(1, { error: 'must be a whole number from 1 to 10000' })
        .max(10_000, { error: 'must be a whole number from 1 to 10000' })
        .optional()
        .describe('Threads that are looked at together; 1000 by default'),
    })
      .optional()
      .describe('When threads expire that say nothing of it themselves'),
  })
  .optional()
  .describe('Expiry of threads');

export const StoreSection = z
  .looseObject({
    ttl: strict({
      refresh_on_read: z
        .boolean({ error: 'must be true or false' })
        .optional()
        .describe('Whether reading an item gives it its whole time again; true by default'),
      default_ttl: minutes.optional().describe('Minutes that a new item stays; without it, for ever'),
      sweep_interval_minutes: interval.optional().describe('How often to remove what is over; 5 by default'),
    })
      .optional()
      .describe('When items expire that were put without a ttl'),
  })
  .optional()
  .describe('Index and expiry of the store');
