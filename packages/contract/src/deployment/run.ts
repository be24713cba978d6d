import * as z from 'zod';
import { Id, JsonObject, Metadata, Time } from '../json.ts';

export const RunStatus = z
  .enum(['pending', 'running', 'error', 'success', 'timeout', 'interrupted'])
  .meta({ id: 'RunStatus' });
export type RunStatus = z.output<typeof RunStatus>;

export const Run = z
  .object({
    run_id: Id,
    thread_id: Id,
    assistant_id: Id,
    created_at: Time,
    updated_at: Time,
    started_at: Time.optional().describe('Start of the newest attempt; absent before the first one'),
    ended_at: Time.optional().describe('Absent while the run is pending or running'),
    status: RunStatus,
    metadata: Metadata,
    kwargs: JsonObject,
    multitask_strategy: z.string(),
    attempt: z
      .int()
      .describe(
        'The current attempt and the charged ones before it. `lost_attempts` has those that were not charged too',
      ),
    error: z
      .object({
        error: z.string().describe('The class of the exception'),
        message: z.string(),
        stack: z
          .string()
          .optional()
          .describe(
            'The stacks of the exception and of its causes, at most about 8,000 characters; only when a single run is read, and absent for errors of the server',
          ),
      })
      .optional(),
    lost_attempts: z
      .array(
        z.object({
          attempt: z.int(),
          started_at: Time,
          at: Time.describe('When the server noticed the loss'),
          message: z.string(),
          reason: z
            .string()
            .optional()
            .describe('The reason that its worker reported, if another worker had noticed the loss first'),
          charged: z
            .boolean()
            .describe(
              'False when the attempt does not count: it had stored the work of a node, or it was not the reason for the loss',
            ),
          lease_token: z.int().describe('The lease of the run that was lost'),
          worker: z
            .enum(['alive', 'silent', 'gone'])
            .describe(
              '`alive`: its worker has reported itself since the lease ended, or has released the run. `silent`: it has not. `gone`: its process has ended, or the worker is unknown',
            ),
        }),
      )
      .optional()
      .describe('The last 20 attempts that were lost, with the reason'),
    cancel_reason: z.string().nullish().describe('Why the run was cancelled; absent for every other run'),
    waiting_for: z
      .object({
        reason: z.enum(['time', 'thread', 'answer', 'worker', 'slot']),
        message: z.string(),
        until: Time.optional(),
        run_id: Id.optional(),
        graph_id: z.string().optional(),
      })
      .optional()
      .describe('Why a pending run has not started; only when a single run is read'),
  })
  .meta({ id: 'Run', description: 'One execution of an assistant on a thread' });
export type Run = z.output<typeof Run>;
