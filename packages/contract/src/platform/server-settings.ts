import * as z from 'zod';
import { route } from '../route.ts';

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
  listServerSettings: route({
    method: 'get',
    path: '/api/v1/server/settings',
    summary: 'The settings of the server that answers, without secrets',
    description:
      'Needs an admin key of the workspace `default`, which the first start of the server creates.',
    tag: 'Server settings',
    access: { permission: 'admin' },
    response: z.array(ServerSetting),
  }),
};
