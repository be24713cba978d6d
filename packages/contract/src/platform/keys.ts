import * as z from 'zod';
import { Id, nullish, Time, When } from '../json.ts';
import { routesOf } from '../route.ts';

const route = routesOf('API keys');

export const KeyRole = z
  .enum(['admin', 'editor', 'viewer', 'ingest'])
  .meta({ id: 'KeyRole', description: '`ingest` may send traces and read nothing' });
export type KeyRole = z.output<typeof KeyRole>;

export const ApiKey = z
  .object({
    id: z.uuid(),
    short_key: z.string().describe('Identifies the key; reveals nothing of its secret'),
    description: z.string(),
    role: KeyRole,
    workspaces: z.array(z.uuid()),
    created_at: Time,
    expires_at: Time.nullable(),
    last_used_at: Time.nullable().describe('Accurate to a minute'),
  })
  .meta({ id: 'ApiKey' });
export type ApiKey = z.output<typeof ApiKey>;

export const NewApiKey = ApiKey.extend({ key: z.string().describe('Returned only by this response') }).meta({
  id: 'NewApiKey',
});
export type NewApiKey = z.output<typeof NewApiKey>;

export const keyRoutes = {
  listKeys: route('get', '/api/v1/api-key', {
    summary:
      'The keys of the workspace, without revoked ones and those with access to a workspace to which yours has none',
    access: { permission: 'admin' },
    response: z.array(ApiKey),
  }),
  createKey: route('post', '/api/v1/api-key', {
    audited: 'key.create',
    summary: 'Create a key',
    access: { permission: 'admin' },
    body: z.object({
      description: z.string().max(1024).default(''),
      role: KeyRole.default('editor'),
      personal: z.boolean().default(false).describe('Begins with `svc_pt_` instead of `svc_sk_`'),
      workspaces: nullish(z.array(Id).min(1).max(100)).describe(
        'The workspaces to which the key has access; that of the request when absent',
      ),
      expires_at: nullish(When),
    }),
    response: NewApiKey,
    errors: ['forbidden'],
  }),
  revokeKey: route('delete', '/api/v1/api-key/:key_id', {
    audited: 'key.revoke',
    summary: 'Revoke a key, on every node',
    access: { permission: 'admin' },
    params: z.object({ key_id: Id }),
    response: ApiKey,
    errors: ['not_found'],
  }),
};
