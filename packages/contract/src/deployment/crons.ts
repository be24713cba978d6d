import * as z from 'zod';
import { AssistantRef, Empty, Id, JsonObject, Metadata, nullish, Time, When } from '../json.ts';
import { limit, offset, paginationHeaders, sortBy, SortOrder } from '../page.ts';
import { routesOf } from '../route.ts';
import { RunCreate } from './run-create.ts';
import { StreamMode } from './stream-modes.ts';

const fields = [
  'cron_id',
  'assistant_id',
  'thread_id',
  'on_run_completed',
  'schedule',
  'timezone',
  'end_time',
  'enabled',
  'payload',
  'metadata',
  'next_run_date',
  'last_error',
  'user_id',
  'created_at',
  'updated_at',
  'now',
] as const;

export const Cron = z
  .object({
    cron_id: Id,
    assistant_id: Id,
    thread_id: Id.nullable(),
    on_run_completed: z.enum(['delete', 'keep']),
    schedule: z.string(),
    timezone: z.string().nullable(),
    end_time: Time.nullable(),
    enabled: z.boolean(),
    payload: JsonObject.describe('The options of its runs'),
    metadata: Metadata,
    next_run_date: Time.nullable().describe('Null when the cron will not fire again'),
    last_error: z
      .string()
      .nullable()
      .describe(
        'Why the cron was disabled, why its last tick created no run, or why the run of that tick failed if the run was deleted',
      ),
    user_id: z.string().nullable(),
    created_at: Time,
    updated_at: Time,
    now: Time.optional().describe('The time of the search, when it is selected'),
  })
  .meta({ id: 'Cron', description: 'A schedule that creates runs' });
export type Cron = z.output<typeof Cron>;

const Schedule = z
  .string()
  .min(9)
  .max(256)
  .describe('Five fields: minute, hour, day of month, month, day of week');
const TimeZone = z.string().min(1).max(64).describe('An IANA name; UTC when absent');

/** The options of a cron's runs: those of a run, except those that need a client or a checkpoint. */
const runOptions = RunCreate.omit({
  assistant_id: true,
  metadata: true,
  if_not_exists: true,
  on_disconnect: true,
  after_seconds: true,
  checkpoint: true,
  checkpoint_id: true,
}).shape;

const common = {
  ...runOptions,
  metadata: nullish(Metadata),
  timezone: nullish(TimeZone),
  end_time: nullish(When),
  enabled: nullish(z.boolean()),
  on_run_completed: nullish(z.enum(['delete', 'keep'])).describe(
    'For a cron without a thread: whether the thread of each run is kept',
  ),
};

export const CronCreate = z
  .object({ assistant_id: AssistantRef, schedule: Schedule, ...common })
  .meta({ id: 'CronCreate' });
export type CronCreate = z.output<typeof CronCreate>;

export const CronPatch = z
  .object({
    ...common,
    // Without the default of a new cron: an absent field keeps its value.
    stream_mode: nullish(z.union([StreamMode, z.array(StreamMode).min(1).max(20)])),
    schedule: nullish(Schedule),
    timezone: TimeZone.nullish(),
    end_time: When.nullish().describe('Null: no end'),
  })
  .meta({ id: 'CronPatch' });
export type CronPatch = z.output<typeof CronPatch>;

const ignored = { body: { if_not_exists: 'A cron on a thread needs the thread to exist.' } };
const filters = {
  assistant_id: nullish(AssistantRef),
  thread_id: nullish(Id),
  enabled: nullish(z.boolean()),
  metadata: nullish(Metadata),
};
const params = z.object({ cron_id: Id });
const route = routesOf('Crons');
const access = (action: string) => ({ resource: 'crons', action }) as const;
const createErrors = ['not_found', 'conflict', 'not_supported'] as const;
const anyText = ['input', 'command', 'context'] as const;

export const cronRoutes = {
  createCron: route('post', '/runs/crons', {
    summary: 'Create stateless runs on a schedule',
    access: access('create'),
    body: CronCreate,
    anyText,
    ignored,
    response: Cron,
    errors: createErrors,
  }),
  createThreadCron: route('post', '/threads/:thread_id/runs/crons', {
    summary: 'Make runs on a thread by a schedule',
    access: access('create'),
    params: z.object({ thread_id: Id }),
    body: CronCreate,
    anyText,
    ignored,
    response: Cron,
    errors: createErrors,
  }),
  searchCrons: route('post', '/runs/crons/search', {
    summary: 'Search crons',
    access: access('search'),
    bodyOptional: true,
    body: z.object({
      ...filters,
      limit: limit(10),
      offset,
      sort_by: sortBy(
        ['cron_id', 'assistant_id', 'thread_id', 'next_run_date', 'end_time', 'created_at', 'updated_at'],
        'created_at',
      ),
      sort_order: SortOrder,
      select: nullish(z.array(z.enum(fields)).max(fields.length)),
    }),
    response: z.array(Cron),
    headers: paginationHeaders,
  }),
  countCrons: route('post', '/runs/crons/count', {
    summary: 'Count crons',
    access: access('search'),
    bodyOptional: true,
    body: z.object(filters),
    response: z.int(),
  }),
  getCron: route('get', '/runs/crons/:cron_id', {
    summary: 'Get a cron',
    access: access('read'),
    params,
    response: Cron,
    errors: ['not_found'],
  }),
  updateCron: route('patch', '/runs/crons/:cron_id', {
    summary: 'Update a cron: metadata is merged, other given fields are replaced',
    access: access('update'),
    params,
    body: CronPatch,
    anyText,
    response: Cron,
    errors: ['not_found', 'not_supported'],
  }),
  deleteCron: route('delete', '/runs/crons/:cron_id', {
    audited: 'cron.delete',
    summary: 'Delete a cron; the runs that it created stay',
    access: access('delete'),
    params,
    status: 204,
    response: Empty,
    errors: ['not_found'],
  }),
};
