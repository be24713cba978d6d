import { z } from 'zod';
import { Id, nullish, Time } from '../json.ts';
import { route } from '../route.ts';

const tag = 'API keys';

export const KeyRole = z
  .enum(['admin', 'editor', 'viewer', 'ingest'])
  .meta({ id: 'KeyRole', description: 'ingest sends traces and reads nothing' });
export type KeyRole = z.output<typeof KeyRole>;

export const ApiKey = z
  .object({
    id: z.uuid(),
    short_key: z.string().describe('Identifies the key; says nothing about its secret'),
    description: z.string(),
    role: KeyRole,
    workspaces: z.array(z.uuid()),
    created_at: Time,
    expires_at: Time.nullable(),
    last_used_at: Time.nullable().describe('Within a minute'),
  })
  .meta({ id: 'ApiKey' });
export type ApiKey = z.output<typeof ApiKey>;

export const NewApiKey = ApiKey.extend({ key: z.string().describe('Shown this once') }).meta({
  id: 'NewApiKey',
});
export type NewApiKey = z.output<typeof NewApiKey>;

export const keyRoutes = {
  listKeys: route({
    method: 'get',
    path: '/api/v1/api-key',
    summary:
      'The keys of the workspace that are not revoked and reach no workspace that yours does not reach',
    tag,
    access: { permission: 'admin' },
    response: z.array(ApiKey),
  }),
  createKey: route({
    method: 'post',
    path: '/api/v1/api-key',
    summary: 'Make a key',
    tag,
    access: { permission: 'admin' },
    body: z.object({
      description: z.string().max(1024).default(''),
      role: KeyRole.default('editor'),
      personal: z.boolean().default(false).describe('`svc_pt_` in place of `svc_sk_`'),
      workspaces: nullish(z.array(Id).min(1).max(100)).describe(
        'Those that the key reaches; the present one when absent',
      ),
      expires_at: nullish(z.iso.datetime({ offset: true })),
    }),
    response: NewApiKey,
    errors: ['forbidden'],
  }),
  revokeKey: route({
    method: 'delete',
    path: '/api/v1/api-key/:key_id',
    summary: 'Revoke a key, on every node',
    tag,
    access: { permission: 'admin' },
    params: z.object({ key_id: Id }),
    response: ApiKey,
    errors: ['not_found'],
  }),
};
