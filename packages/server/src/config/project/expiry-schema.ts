// The parts of svc.json for the checkpointer and the store: checkpointer.ttl for threads, store.ttl and store.index for items.
import * as z from 'zod';
import { nearest } from './mistake.ts';

const dimsMax = 8_192;
const minutesMax = 52_560_000; // a hundred years
/** Timers are limited to 24 days. */
const intervalMaxMinutes = 30_000;

const positive = (max: number) => {
  const error = `must be a number of minutes, greater than 0 and at most ${max}; leave it out for none`;
  return z.number({ error }).positive({ error }).max(max, { error });
};

const minutes = positive(minutesMax);
const interval = positive(intervalMaxMinutes);

/** Unknown keys are refused: with a misspelt key nothing would expire, or be indexed. */
const strict = <T extends z.core.$ZodLooseShape>(shape: T, example = '{"default_ttl": 43200}') =>
  z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return `must be an object such as ${example}`;
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

const dims = { error: `must be a whole number from 1 to ${dimsMax}: the numbers in one vector of the model` };

const IndexSection = strict(
  {
    dims: z
      .int(dims)
      .min(1, dims)
      .max(dimsMax, dims)
      .describe('Numbers in one vector of the embedding model'),
    embed: z
      .string({ error: 'must be a text' })
      .min(1)
      .describe(
        '"<file>:<export>" of a function (texts) => vectors or an Embeddings object, in JavaScript or Python, or "<provider>:<model>": "openai:text-embedding-3-small"',
      ),
    fields: z
      .array(z.string().max(256))
      .min(1, { error: 'must name at least one path; leave it out for the whole value' })
      .max(100)
      .optional()
      .describe('Paths of the texts in a value that are embedded; ["$"], the whole value, by default'),
  },
  '{"dims": 1536, "embed": "./embed.ts:embed"}',
);

export type IndexSection = z.infer<typeof IndexSection>;

export const StoreSection = z
  .looseObject({
    index: IndexSection.optional().describe('Searches of items by meaning'),
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
