import * as z from 'zod';
import { nullish, Time, When } from '../json.ts';
import { routesOf } from '../route.ts';
import { runFilter } from './run-search.ts';

const route = routesOf('Runs');

/** Points of one answer. */
export const figurePointsMax = 500;
const {
  created_after: _createdAfter,
  created_before: _createdBefore,
  ended_after: _endedAfter,
  ended_before: _endedBefore,
  ...filter
} = runFilter;

const Percentiles = z
  .object({ p50: z.number(), p95: z.number() })
  .nullable()
  .describe('In milliseconds; null when there is nothing to measure');

export const RunFigures = z
  .object({
    from: Time,
    to: Time,
    interval_seconds: z.int(),
    complete: z
      .boolean()
      .describe('False when there are more runs than one answer counts: those before `since` are missing'),
    since: Time.describe('Runs are counted from here on; equal to `from` when the figures are complete'),
    points: z
      .array(
        z.object({
          at: Time.describe('Start of the interval'),
          created: z.int(),
          success: z.int(),
          error: z.int(),
          timeout: z.int(),
          interrupted: z.int(),
          wait_ms: Percentiles.describe('From the creation, or the end of its delay, to the first attempt'),
          execution_ms: Percentiles.describe('From the first attempt to the end'),
        }),
      )
      .describe(
        'One for each interval, also for those without runs. A run counts as ended in the interval of its end',
      ),
  })
  .meta({ id: 'RunFigures', description: 'How many runs ended and how, and how long they took, over time' });
export type RunFigures = z.output<typeof RunFigures>;

export const runFigureRoutes = {
  getRunFigures: route('post', '/runs/figures', {
    summary: 'Runs over time: how many ended and how, how long they waited and executed',
    description: 'Stateless runs are deleted when they end, and are not counted.',
    access: { resource: 'threads', action: 'read' },
    bodyOptional: true,
    body: z.object({
      ...filter,
      from: nullish(When).describe('An hour before `to` by default'),
      to: nullish(When).describe('Later than `from`; now by default'),
      interval_seconds: nullish(z.int().min(1).max(604_800)).describe(
        `About 60 intervals by default, ${figurePointsMax} at most. They begin at multiples of their length since 1970`,
      ),
    }),
    response: RunFigures,
  }),
};
