// A thread, as responses have it.
import * as z from 'zod';
import { Id, Json, JsonObject, Metadata, Time } from '../json.ts';
import { ThreadTtl } from './ttl.ts';

export const ThreadStatus = z.enum(['idle', 'busy', 'interrupted', 'error']).meta({ id: 'ThreadStatus' });

export const Interrupt = z
  .looseObject({ id: z.string().optional(), value: Json })
  .meta({ id: 'Interrupt', description: 'The value that a graph passed to interrupt()' });
export type Interrupt = z.output<typeof Interrupt>;

export const Thread = z
  .object({
    thread_id: Id,
    created_at: Time,
    updated_at: Time,
    state_updated_at: Time,
    metadata: Metadata,
    config: JsonObject.optional().describe('Absent in the response that creates a thread'),
    status: ThreadStatus,
    values: Json.optional().describe('Values of the newest checkpoint'),
    interrupts: z
      .record(z.string(), z.array(Interrupt))
      .optional()
      .describe('By task id, the interrupts of the task'),
    error: Json.optional().describe('Why the last run failed'),
    ttl: ThreadTtl.optional().describe('Absent when the thread never expires'),
    extracted: z
      .record(z.string(), Json)
      .optional()
      .describe('By alias, what `extract` of the search has asked for; null where there is nothing'),
  })
  .meta({ id: 'Thread', description: 'A conversation with checkpointed state' });
export type Thread = z.output<typeof Thread>;
