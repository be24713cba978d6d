import * as z from 'zod';
import { Id, Time } from '../json.ts';
import { routesOf } from '../route.ts';
import { RunStatus } from './run.ts';

const route = routesOf('Runs');

const until = Time.optional().describe('Absent while it continues');

export const RunTimeline = z
  .object({
    run_id: Id,
    thread_id: Id,
    status: RunStatus,
    read_at: Time.describe('Time of the server, until which what has no end has lasted'),
    created_at: Time,
    ended_at: Time.optional(),
    waits: z
      .array(
        z.object({
          reason: z
            .enum(['time', 'thread', 'slot'])
            .describe('For its delay; for another run of its thread; or for a worker with a free slot'),
          from: Time,
          to: until,
          run_id: Id.optional().describe(
            'The last run of the thread that it waited for, unless that was deleted',
          ),
        }),
      )
      .describe('Oldest first'),
    attempts: z
      .array(
        z.object({
          attempt: z.int(),
          from: Time,
          to: until,
          outcome: z.enum(['executing', 'ended', 'lost']),
          message: z.string().optional().describe('Why it was lost'),
          charged: z.boolean().optional().describe('Whether a lost attempt counts'),
        }),
      )
      .describe('Oldest first: the last 20 lost attempts, and the current or last one'),
    attempts_omitted: z
      .int()
      .describe('Earlier attempts that are not listed, and those that a stopping server has given back'),
    steps: z
      .array(
        z.object({
          checkpoint_id: Id,
          step: z.int().nullable(),
          source: z.string().nullable().describe('`input`, `loop`, `update` or `fork`'),
          nodes: z.array(z.string()),
          from: Time,
          to: Time.describe('When the checkpoint was created'),
        }),
      )
      .describe('Supersteps of the graph itself, not of subgraphs, oldest first'),
    has_earlier_steps: z
      .boolean()
      .describe(
        'True when the list begins later: it has at most the newest 1,000 steps, and fewer when many nodes wrote in each',
      ),
    executing: z
      .array(z.string())
      .describe(
        'The nodes of the step that has not ended, while the run is running; of a run that failed or was cancelled, the nodes in which it has stopped',
      ),
  })
  .meta({ id: 'RunTimeline', description: 'When a run waited, and for what, and when it executed' });
export type RunTimeline = z.output<typeof RunTimeline>;

export const runTimelineRoutes = {
  getRunTimeline: route('get', '/threads/:thread_id/runs/:run_id/timeline', {
    summary: 'When a run waited, and for what, its attempts and steps',
    access: { resource: 'threads', action: 'read' },
    params: z.object({ thread_id: Id, run_id: Id }),
    response: RunTimeline,
    errors: ['not_found'],
  }),
};
