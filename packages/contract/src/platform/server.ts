import * as z from 'zod';
import { routesOf } from '../route.ts';
import { Id, Time } from '../json.ts';

const route = routesOf('Server settings');

export const ServerSetting = z
  .object({
    key: z.string().describe('Its name in `settings` of the config file'),
    variable: z.string(),
    value: z.string().describe('The value in force, as text; a secret is `[redacted]`'),
    origin: z
      .string()
      .describe('Where the value comes from: a flag, a variable, the config file, or `default`'),
    meaning: z.string(),
  })
  .meta({ id: 'ServerSetting' });
export type ServerSetting = z.output<typeof ServerSetting>;

export const serverSettingRoutes = {
  listServerSettings: route('get', '/api/v1/server/settings', {
    summary: 'The settings of the server that answers, without secrets',
    description:
      'Needs an admin key of the workspace `default`, which the first start of the server creates.',
    access: { permission: 'admin' },
    response: z.array(ServerSetting),
  }),
};

export const ServerWorker = z
  .object({
    worker_id: Id,
    name: z.string().describe('Host and process id'),
    state: z
      .enum(['live', 'draining', 'left', 'silent'])
      .describe(
        '`draining`: it claims no more runs. `left`: it has stopped. `silent`: it has not reported itself for two lease durations, or its process has ended without a report',
      ),
    slots: z.int().describe('Runs that it may execute at a time'),
    running: z.int(),
    blocked_executors: z
      .int()
      .describe(
        'Executors with an event loop that a graph has blocked for more than 20 seconds. They execute no other run, and `slots` does not count them',
      ),
    graphs: z.array(z.string()),
    connections: z.int().describe('The most connections to PostgreSQL that its processes open'),
    started_at: Time,
    seen_at: Time.describe('Its last report'),
  })
  .meta({ id: 'ServerWorker', description: 'A server process. It has no slots when it executes no runs' });
export type ServerWorker = z.output<typeof ServerWorker>;

export const serverWorkerRoutes = {
  listServerWorkers: route('get', '/api/v1/server/workers', {
    summary:
      'The server processes of the last day, with their slots and graphs: the last report first, at most 1,000',
    description:
      'Needs an admin key of the workspace `default`, which the first start of the server creates.',
    access: { permission: 'admin' },
    response: z.array(ServerWorker),
  }),
};
